"""Scenarios as a table: what is arranged, and what must come of `llmc accept adam`.

Each also asks `--dry-run` first: it must change nothing, and what it foresees must be what then happens.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from llmc.git.backup import list_backups
from llmc.model import Work
from testing.world import Files, Link, World, files_of

AUTHOR = "Tess Ter <tess@example.com>"
Arrange = Callable[[World], object]


@dataclass(frozen=True, slots=True)
class Lands:
    """One commit more on the branch, with exactly these changes."""

    files: Files
    message: str = "The work"
    author: str = AUTHOR
    words: tuple[str, ...] = ()
    """Of the command line, after `accept adam`."""
    status_after: str | None = None
    """The status of the user's checkout afterwards; None when it stays what it was."""
    meanwhile: bool = False
    """Whether the user moves the branch while the accept runs."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An error with these words and a hint with those; everything is as it was."""

    what: str
    hint: str = ""
    foreseen: bool = True
    words: tuple[str, ...] = ()
    record_moves: bool = False
    """The look before the accept learns something about the worker."""


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    arrange: Arrange
    expected: Lands | Refused

    def play(self, world: World) -> None:
        self.arrange(world)
        if isinstance(self.expected, Lands):
            _lands(world, self.expected)
        else:
            _is_refused(world, self.expected)


@dataclass(slots=True)
class Table:
    rows: list[Scenario] = field(default_factory=list)

    def add(self, expected: Lands | Refused, *, reviewed: bool = True) -> Callable[[Arrange], Arrange]:
        """The decorated function arranges the scenario; it is its name, too."""

        def added(arrange: Arrange) -> Arrange:
            def arrange_all(world: World) -> None:
                arrange(world)
                if reviewed and world.story.worker("adam").work is Work.IDLE:
                    world.to_review()

            self.rows.append(Scenario(arrange.__name__, arrange_all, expected))
            return arrange

        return added


def _lands(world: World, expected: Lands) -> None:
    tip, head = world.in_source("rev-parse", "main"), world.in_clone("rev-parse", "llmc/adam")
    before = world.picture()
    plan = _plan(world, expected.words, 0)
    assert world.picture() == before, "a dry run changes nothing"

    said = world.story.json("accept", "adam", *expected.words)

    made = world.in_source("rev-parse", "main")
    assert said["commit"] == made
    parents = world.in_source("log", "-1", "--format=%P", made).split()
    assert parents == [tip] or (expected.meanwhile and len(parents) == 1)
    _assert_commit(world, made, expected)
    _assert_foreseen(plan, world, made)
    _assert_source(world, before, made, expected)
    _assert_idle(world, made)
    kept = [backup.head_sha for backup in list_backups(world.story.site.git, world.story.root.path, "adam")]
    assert head in (*kept, made)


def _assert_commit(world: World, made: str, expected: Lands) -> None:
    shown = world.in_source(
        "show", "--no-patch", "--no-show-signature", "--encoding=UTF-8", "--format=%an <%ae>%n%B", made
    )
    assert shown.strip() == f"{expected.author}\n{expected.message}"
    changed = world.in_source("diff-tree", "-r", "--name-only", "--no-renames", "-z", f"{made}~1", made).split("\0")[
        :-1
    ]
    assert sorted(changed) == sorted(expected.files)
    for path, content in expected.files.items():
        assert _content(world, made, path) == _expected_content(content), path


def _content(world: World, made: str, path: str) -> bytes | None:
    git = world.story.site.git
    done = git.run(str(world.source), "cat-file", "blob", f"{made}:{path}", check=False)
    return done.out if done.ok else None


def _expected_content(content: str | bytes | Link | None) -> bytes | None:
    if isinstance(content, Link):
        return content.target.encode()
    return content.encode() if isinstance(content, str) else content


def _assert_foreseen(plan: dict[str, object], world: World, made: str) -> None:
    assert plan["refusal"] is None
    steps = plan["steps"]
    assert isinstance(steps, list)
    assert [step["step"] for step in steps] == [
        *("review", "clean", "rebase", "squash", "validate", "land", "reset", "others"),
    ]
    squash = steps[3]
    assert (
        squash["message"].strip()
        == world.in_source("show", "--no-patch", "--no-show-signature", "--format=%B", made).strip()
    )
    if world.in_source("rev-parse", f"{made}~1") == squash["onto"]:
        assert squash["tree"] == world.in_source("rev-parse", f"{made}^{{tree}}")


def _assert_source(world: World, before: dict[str, object], made: str, expected: Lands) -> None:
    """Only the branch has moved, and the checkout is what it was apart from that."""
    was, now = before["source"], world.picture()["source"]
    assert isinstance(was, dict)
    assert isinstance(now, dict)
    assert now["HEAD"] == was["HEAD"]
    assert _without_main(now["refs"]) == _without_main(was["refs"])
    if "status" not in was:
        return
    assert now["status"] == (was["status"] if expected.status_after is None else expected.status_after)
    untouched = {name: entry for name, entry in was["files"].items() if name not in expected.files}
    assert untouched.items() <= now["files"].items()


def _without_main(refs: str) -> list[str]:
    return [line for line in refs.splitlines() if not line.startswith("refs/heads/main ")]


def _assert_idle(world: World, made: str) -> None:
    worker = world.story.worker("adam")
    assert (worker.work, worker.pending, worker.commit_sha, worker.base_sha) == (Work.IDLE, (), None, made)
    assert world.in_worktree("rev-parse", "HEAD") == made
    assert world.in_worktree("symbolic-ref", "HEAD") == "refs/heads/llmc/adam"
    assert world.in_worktree("status", "--porcelain") == ""
    assert world.in_worktree("write-tree") == world.in_source("rev-parse", f"{made}^{{tree}}")
    assert files_of(world.worktree)
    assert world.in_clone("for-each-ref", "refs/llmc/accept/adam/work") == ""
    assert world.locks() == []


def _is_refused(world: World, expected: Refused) -> None:
    before = world.picture()
    if expected.foreseen:
        refusal = _plan(world, expected.words, 1)["refusal"]
        assert isinstance(refusal, dict)
        assert expected.what in refusal["what"]
    said = world.story.llmc("accept", "adam", *expected.words, code=1)
    error, _, hint = said.err.rpartition("hint: ")
    assert expected.what in error, said.err
    assert expected.hint in hint, said.err
    assert hint.strip()
    after = world.picture()
    if expected.record_moves:
        after["record"] = before["record"]
    assert after == before


def _plan(world: World, words: tuple[str, ...], code: int) -> dict[str, object]:
    said = world.story.llmc("accept", "adam", "--dry-run", "--json", *words, code=code)
    plan: dict[str, object] = json.loads(said.out)
    return plan
