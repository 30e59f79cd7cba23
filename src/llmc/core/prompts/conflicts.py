"""What LLMC writes to an agent whose rebase has stopped for conflicts.

Without the task agents throw their own work away, and so they do when nothing says that both sides are wanted.
In a rebase stage 2 is the branch that the work moves onto and stage 3 the worker's own commit.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmc.core.display import one_line, plain
from llmc.core.prompts.task import fenced
from llmc.values import Value

REGION_LIMIT = 4_000
REGIONS_LIMIT = 40_000
"""Characters: the files themselves have the rest."""
FILES_LISTED = 40
COMMITS_LISTED = 12
SUBJECT_LIMIT = 100
OUTPUT_LIMIT = 8_000


class ConflictedFile(Value):
    path: str
    kind: str
    """In words, seen from the worker: `deleted upstream, changed by the worker`."""
    regions: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class ConflictStanding(Value):
    """Where the rebase stands and what it met."""

    task: str
    branch: str
    upstream: str
    commit: str = ""
    """The subject of the worker's commit that could not be applied."""
    remaining: int = 0
    meanwhile: tuple[str, ...] = ()
    """What the branch got since the work began, in the files that conflict, newest first: `1234567 Subject`."""


def conflict_prompt(standing: ConflictStanding, files: Sequence[ConflictedFile], validate: Sequence[str]) -> str:
    upstream = standing.upstream
    count = "1 file conflicts" if len(files) == 1 else f"{len(files)} files conflict"
    return plain(
        f"Your branch {standing.branch} is being rebased onto the newest {upstream}, and {count}.\n"
        f"Incorporate your work into what {upstream} has now: keep the intent of both sides, and do not throw away\n"
        "what you have made.\n"
        "\n"
        "The task that your work is for:\n"
        "\n"
        f"{_quoted(standing.task.strip() or '(it was not given through LLMC)')}\n"
        "\n"
        f"{_why(standing)}"
        "What conflicts:\n"
        f"{_listed(files)}"
        "\n"
        f"{_details(files)}"
        f"{_steps(validate)}"
        "\n"
        f"{_stages(upstream)}"
    )


def help_prompt(
    standing: ConflictStanding, files: Sequence[ConflictedFile], marked: Sequence[str], validate: Sequence[str]
) -> str:
    """For an agent that was asked before and does not get on."""
    staged = "" if files else "- Nothing is unmerged any more: `git -c core.editor=true rebase --continue` is next.\n"
    markers = "".join(f"- Conflict markers are still in {path}: all of them have to go.\n" for path in marked)
    return plain(
        f"Your rebase onto {standing.upstream} is not over yet; here is where it stands.\n"
        "\n"
        f"{_listed(files)}"
        f"{markers}"
        f"{staged}"
        "- A file counts as resolved only once it was staged: `git add FILE`.\n"
        "- Files that a tool generates (lock files and the like) are best generated again, when the rest is resolved.\n"
        "\n"
        "The task that your work is for, which must survive this:\n"
        "\n"
        f"{_quoted(standing.task.strip() or '(it was not given through LLMC)')}\n"
        "\n"
        f"{_details(files)}"
        f"{_steps(validate)}"
        "\n"
        f"{_stages(standing.upstream)}"
    )


def fix_prompt(standing: ConflictStanding, problem: str) -> str:
    """The rebase is over, but not well."""
    said = problem if len(problem) <= OUTPUT_LIMIT else "[...]\n" + problem[-OUTPUT_LIMIT:]
    return plain(
        f"Your rebase onto {standing.upstream} is over, but something is wrong with the result:\n"
        "\n"
        f"{fenced(said)}"
        "\n"
        "Fix it and commit that (`git commit --amend --no-edit` is fine). Do not make the work smaller to get there.\n"
        "The task that it is for:\n"
        "\n"
        f"{_quoted(standing.task.strip() or '(it was not given through LLMC)')}\n"
    )


def _why(standing: ConflictStanding) -> str:
    mine = f'Your commit "{one_line(standing.commit, SUBJECT_LIMIT)}" could not be applied' if standing.commit else ""
    come = "comes" if standing.remaining == 1 else "come"
    more = f", and {standing.remaining} more of yours {come} after it" if mine and standing.remaining else ""
    if not standing.meanwhile:
        return f"{mine}{more}.\n\n" if mine else ""
    shown = standing.meanwhile[:COMMITS_LISTED]
    left = len(standing.meanwhile) - len(shown)
    commits = "".join(f"- {one_line(commit, SUBJECT_LIMIT)}\n" for commit in shown)
    rest = f"- and {left} more: `git log ORIG_HEAD..HEAD`\n" if left else ""
    begin = f"{mine}{more}:\n" if mine else ""
    return f"{begin}meanwhile {standing.upstream} got these, which change the same files:\n{commits}{rest}\n"


def _listed(files: Sequence[ConflictedFile]) -> str:
    lines = "".join(f"- {_name(file)}: {file.kind}{_places(file)}\n" for file in files[:FILES_LISTED])
    left = len(files) - FILES_LISTED
    return lines + (f"- and {left} more: `git status` lists them\n" if left > 0 else "")


def _name(file: ConflictedFile) -> str:
    """In one line, whatever the file is called."""
    return file.path if file.path.isprintable() else ascii(file.path)


def _places(file: ConflictedFile) -> str:
    count = len(file.regions)
    return f" ({count} place{'s' if count > 1 else ''})" if count else ""


def _details(files: Sequence[ConflictedFile]) -> str:
    shown: list[str] = []
    room = REGIONS_LIMIT
    for file in files[:FILES_LISTED]:
        detail = _detail(file, room)
        room -= len(detail)
        shown += [detail] if detail else []
    return "\n".join(shown) + "\n" if shown else ""


def _detail(file: ConflictedFile, room: int) -> str:
    options = "".join(f"- {option}\n" for option in file.options)
    regions, left = "", 0
    for region in file.regions:
        block = fenced(_cut(region))
        fits = not left and len(regions) + len(block) <= room
        regions, left = (regions + block, left) if fits else (regions, left + 1)
    rest = f"[{left} more in the file itself]\n" if left else ""
    return f"{_name(file)}:\n{regions}{rest}{options}" if regions or rest or options else ""


def _cut(region: str) -> str:
    """Both ends of a long one: that is where the markers are."""
    if len(region) <= REGION_LIMIT:
        return region
    half = REGION_LIMIT // 2
    return f"{region[:half]}\n[... the middle is left out; the file has it ...]\n{region[-half:]}"


def _steps(validate: Sequence[str]) -> str:
    checks = "".join(f"{n}. Run `{command}` and fix what it finds.\n" for n, command in enumerate(validate, 5))
    return (
        "What to do:\n"
        "1. Open each file and decide for every conflict how both sides live together.\n"
        "2. Remove all conflict markers, then `git add` the file (or `git rm` it when it is to be deleted).\n"
        "3. When `git status` shows no unmerged file, run `git -c core.editor=true rebase --continue`.\n"
        "4. Repeat until the rebase is over. Do not make the work smaller to get there.\n"
        f"{checks}"
    )


def _stages(upstream: str) -> str:
    return (
        f"During this rebase `git show :2:FILE` is the version of {upstream}, `git show :3:FILE` is yours,\n"
        "and `git show :1:FILE` is what both began with.\n"
        "`git rebase --abort` puts everything back; use it only if the two sides cannot be joined, and say why.\n"
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
