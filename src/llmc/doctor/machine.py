"""The programs on this machine that LLMC runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from llmc.config.settings import Config
from llmc.doctor.answers import Absent, Answer, Broken, Found, known, probe, there
from llmc.doctor.clone import CloneSeen
from llmc.doctor.findings import ERROR, Finding, Topic
from llmc.doctor.health import Health, Looking, ProgramVersion
from llmc.errors import LlmcError
from llmc.git.runner import MINIMUM as GIT_MINIMUM
from llmc.host.base import Host, ProgramHungError, ProgramMissingError
from llmc.perform.fence import fence_problem
from llmc.tmux.server import MINIMUM as TMUX_MINIMUM
from llmc.values import Value

TOPIC = Topic("programs")
MINIMUM: Mapping[str, ProgramVersion] = {"git": GIT_MINIMUM, "tmux": TMUX_MINIMUM}
"""The oldest that will do."""
NEEDED_FOR = {"git": "worktrees, branches and merges are git's", "tmux": "every agent runs in a terminal of tmux's"}

INSTALL = {name: f"install {name} {{minimum}} or later" for name in MINIMUM}
MISSING = {name: TOPIC.error(f"{name}-missing", f"{name} is not installed", INSTALL[name]) for name in MINIMUM}
OLD = {name: TOPIC.error(f"{name}-old", f"{name} lacks what LLMC needs", INSTALL[name]) for name in MINIMUM}
BROKEN = TOPIC.error("program-broken", "git or tmux is installed and does not run", "install {program} again")
LFS_MISSING = TOPIC.note(
    "lfs-missing", "git-lfs is not installed; an error when the repository uses it", "install git-lfs"
)
DIFFT_MISSING = TOPIC.note("difft-missing", "difftastic is not installed", "install difftastic")
DELTA_MISSING = TOPIC.note("delta-missing", "delta is not installed", "install git-delta")
FENCE_IMPOSSIBLE = TOPIC.error(
    "fence-impossible",
    "the settings ask for a fence around agents, and bubblewrap is missing or may not make one here",
    "{hint}",
)
LFS_USED = "the repository uses it: worktrees have pointers in place of the large files"
OPTIONAL = {
    "difft": (DIFFT_MISSING, "`llmc review` shows plain diffs"),
    "delta": (DELTA_MISSING, "`llmc review --interface delta` shows plain diffs"),
}


# --- look -----------------------------------------------------------------------------------------


class ProgramsSeen(Value):
    git: Answer[ProgramVersion] = field(metadata=TOPIC.asks("git", required=True))
    tmux: Answer[ProgramVersion] = field(metadata=TOPIC.asks("tmux", required=True))
    installed: frozenset[str]
    """Those of the optional programs that there are."""
    fence: Answer[tuple[str, str]] = field(metadata=TOPIC.asks("whether agents can be fenced"))
    """Why not, and what to do; absent where nothing is wrong, or no fence is asked for."""


def look(looking: Looking, seen: Health) -> ProgramsSeen:
    installed = (tool for tool in ("git-lfs", *OPTIONAL) if looking.host.which(tool) is not None)
    config = known(looking.config, None)  # settings that cannot be read have a finding of their own
    fence: Answer[tuple[str, str]] = Absent() if config is None else probe(lambda: _look_at_fence(looking, config))
    return ProgramsSeen(looking.versions["git"], looking.versions["tmux"], frozenset(installed), fence)


def _look_at_fence(looking: Looking, config: Config) -> Answer[tuple[str, str]]:
    names = {*looking.workers, *config.workers}
    wanted = config.sandbox.mode != "off" or any(config.worker(name).sandbox != "off" for name in names)
    return there(fence_problem(looking.host) if wanted else None)


def look_at_version(host: Host, program: str, option: str) -> Answer[ProgramVersion]:
    try:
        said = host.run([program, option])
    except ProgramMissingError:
        return Absent()
    except ProgramHungError:
        raise
    except LlmcError as refused:
        return Broken(refused.what)
    if not said.ok:
        return Broken(f"{program} does not run: {said.complaint or f'exit code {said.code}'}")
    found = re.search(r"(\d+)\.(\d+)", said.text)
    # A development version of tmux calls itself `master`.
    return Found((int(found[1]), int(found[2])) if found else (99, 0))


# --- judgement ------------------------------------------------------------------------------------


def judge(health: Health) -> Iterator[Finding]:
    seen = health.of(ProgramsSeen)
    yield from _program("git", seen.git)
    yield from _program("tmux", seen.tmux)
    problem = known(seen.fence, None)
    if problem is not None:
        yield FENCE_IMPOSSIBLE.finding(
            problem[0], "fenced workers do not start, and nothing runs unfenced", hint=problem[1]
        )
    if "git-lfs" not in seen.installed:
        used = known(health.of(CloneSeen).uses_lfs, False)
        why = LFS_USED if used else "repositories that use it get pointers in place of their large files"
        yield LFS_MISSING.finding("git-lfs is not installed", why, severity=ERROR if used else None)
    for program, (kind, cost) in OPTIONAL.items():
        if program not in seen.installed:
            yield kind.finding(f"{program} is not installed", cost)


def _program(name: str, answer: Answer[ProgramVersion]) -> Iterator[Finding]:
    minimum = _dotted(MINIMUM[name])
    match answer:
        case Absent():
            yield MISSING[name].finding(f"{name} is not installed", NEEDED_FOR[name], minimum=minimum)
        case Broken(what):
            yield BROKEN.finding(what, NEEDED_FOR[name], program=name)
        case Found(version) if version < MINIMUM[name]:
            what = f"{name} {_dotted(version)} is too old"
            yield OLD[name].finding(what, f"LLMC needs {minimum}", minimum=minimum)


def _dotted(version: ProgramVersion) -> str:
    return f"{version[0]}.{version[1]}"


def summary(health: Health) -> str:
    seen = health.of(ProgramsSeen)
    versions = (("git", seen.git), ("tmux", seen.tmux))
    return ", ".join(f"{name} {_dotted(each.value)}" for name, each in versions if isinstance(each, Found))
