"""What was lost, by looking at what is there: nothing, if all is well."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from llmc.host.processes import is_running
from llmc.store.lock import is_held
from testing.chaos.world import USERS_DRAFT, World

ARRIVED, MAY_HAVE, NOT = (1, 1), (0, 1), (0, 0)
HOW_OFTEN = {
    "delivered": ARRIVED,
    "queued": MAY_HAVE,  # an agent that dies before it comes to it takes its own queue along
    "undelivered": NOT,
    "refused": NOT,
    "unknown": MAY_HAVE,
    "killed": MAY_HAVE,
}


def losses_at_rest(world: World) -> Iterator[str]:
    """While everything is up, after the repair."""
    yield from _lost_commits(world)
    yield from _lost_by_the_user(world)
    yield from _lands_wrong(world)
    yield from _texts_wrong(world)
    yield from _workers_wrong(world)


def losses_at_the_end(world: World) -> Iterator[str]:
    """After `llmc down --force`: nothing of it may be left running or locked."""
    yield from (f"process {pid} still runs: {words}" for pid, words in _processes_of(world))
    locks = (*Path(world.root.run).glob("**/*.lock"), *Path(world.root.path).glob("*.lock"))
    yield from (f"{lock.name} is held by {holder}" for lock in locks if (holder := is_held(str(lock))))
    git_locks = Path(world.root.git_dir).rglob("*.lock")
    yield from (f"git's lock {lock} is left" for lock in git_locks)


def _lost_commits(world: World) -> Iterator[str]:
    kept = set(world.git("rev-list", "--all", cwd=Path(world.root.git_dir)).split())
    kept |= set(world.git("rev-list", "main").split())
    made = set(world.commits.read_text().split()) if world.commits.exists() else set()
    yield from (f"the commit {sha} can no longer be reached" for sha in sorted(made - kept))


def _lost_by_the_user(world: World) -> Iterator[str]:
    there = set(world.git("rev-list", "main").split())
    yield from (f"the user's commit {sha} is no longer on main" for sha in world.by_hand if sha not in there)
    if (world.source / "draft").read_text() != USERS_DRAFT:
        yield "the user's uncommitted line is gone"
    changed = world.git("status", "--porcelain", "--untracked-files=no").split("\n")
    if changed != ["M draft"]:
        yield f"the user's checkout has other changes than the user made: {changed}"


def _lands_wrong(world: World) -> Iterator[str]:
    if merges := world.git("rev-list", "--merges", "main"):
        yield f"main has merge commits: {merges}"
    subjects = Counter(world.git("log", "--format=%s", "main").split("\n"))
    yield from (f"main has {subject!r} {times} times" for subject, times in subjects.items() if times > 1)
    yield from (f"accepted and not on main: {token}" for token in world.landed if subjects[f"Land {token}"] != 1)


def _texts_wrong(world: World) -> Iterator[str]:
    counts = Counter(_heard(world))
    for sent in world.sent:
        least, most = HOW_OFTEN[sent.outcome]
        times = counts[sent.worker, sent.token]
        if not least <= times <= most:
            told = f"{sent.words} to {sent.worker} was {sent.outcome}"
            yield f"{told}, and the agent got {sent.token} {times} times: {sent.said}"


def _heard(world: World) -> Iterator[tuple[str, str]]:
    """Every line of every prompt: what LLMC quotes in a text of its own does not stand on a line alone."""
    if not world.memory.exists():
        return
    for line in world.memory.read_text().splitlines():
        prompt = json.loads(line)
        yield from ((prompt["worker"], part) for part in prompt["text"].splitlines())


def _workers_wrong(world: World) -> Iterator[str]:
    statuses = world.statuses()
    yield from (f"the worker {name} is gone" for name in world.workers if name not in statuses)
    sessions = set(world.tmux("list-sessions", "-F", "#{session_name}").split())
    yield from (f"the session {name} belongs to nobody" for name in sessions - {f"llmc-{n}" for n in statuses})
    said = world.run("doctor", "--json")
    try:
        findings = json.loads(said.out)["findings"]
    except (ValueError, KeyError):
        yield f"doctor does not answer: {said.words[-500:]}"
        return
    serious = [each for each in findings if each["severity"] not in ("note",)]
    yield from (f"doctor still finds {each['code']} ({each['worker']}): {each['what']}" for each in serious)


def _processes_of(world: World) -> Iterator[tuple[int, str]]:
    mark = os.fsencode(f"LLMC_ROOT={world.root.path}")
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        try:
            if pid != os.getpid() and mark in (entry / "environ").read_bytes().split(b"\0") and is_running(pid):
                yield pid, (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
