"""What was lost, by looking at what is there: nothing, if all is well."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from llmc.host.locks import is_held
from llmc.host.processes import is_running
from testing.chaos.belongings import USER
from testing.chaos.whereabouts import Whereabouts, look
from testing.chaos.world import Sent, World

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
    yield from losses_of_things(world)
    yield from _workers_wrong(world)


def losses_of_things(world: World) -> Iterator[str]:
    """Commits, files, branches, prompts."""
    found = look(world)
    yield from (f"the object {sha} of something that has a name is missing" for sha in sorted(found.missing))
    yield from _lost_commits(world, found)
    yield from _lost_files(world, found)
    yield from _lost_by_the_user(world)
    yield from _branches_wrong(world)
    yield from _lands_wrong(world)
    yield from _texts_wrong(world)
    yield from world.untrue
    yield from _heard_of_agents(world)


def losses_at_the_end(world: World) -> Iterator[str]:
    """After `llmc down --force`: nothing of it may be left running or locked."""
    yield from (f"process {pid} still runs: {words}" for pid, words in _processes_of(world))
    locks = (*Path(world.root.run).glob("**/*.lock"), *Path(world.root.path).glob("*.lock"))
    yield from (f"{lock.name} is held by {holder}" for lock in locks if (holder := is_held(str(lock))))
    git_locks = Path(world.root.git_dir).rglob("*.lock")
    yield from (f"git's lock {lock} is left" for lock in git_locks)


def commits_made(world: World) -> list[str]:
    """By agents, in order; without what they have replaced themselves."""
    made = world.commits.read_text().split() if world.commits.exists() else []
    return [sha for sha in dict.fromkeys(made) if sha not in world.let_go]


def _lost_commits(world: World, found: Whereabouts) -> Iterator[str]:
    gone = (sha for sha in commits_made(world) if found.of_object(sha) is None)
    yield from (f"the commit {sha} can no longer be reached" for sha in gone)


def _lost_files(world: World, found: Whereabouts) -> Iterator[str]:
    for each in world.belongings.all():
        if each.let_go:
            continue
        # What the user wrote stays where the user wrote it: a copy somewhere is no substitute.
        if (not each.is_there) if each.owner == USER else (found.of_belonging(each) is None):
            yield f"{each} is lost: it was written to {each.file}"


def _lost_by_the_user(world: World) -> Iterator[str]:
    there = set(world.git("rev-list", "main").split())
    yield from (f"the user's commit {sha} is no longer on main" for sha in world.by_hand if sha not in there)
    own = {str(each.file.relative_to(world.source)) for each in world.belongings.of(USER)}
    status = world.git("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all").split("\0")
    changed = [line for line in (each.strip() for each in status) if line and line.partition(" ")[2].strip() not in own]
    yield from (f"the user's checkout has a change that the user did not make: {line}" for line in changed)
    locks = [lock for lock in (world.source / ".git").rglob("*.lock") if "objects" not in lock.parts]
    yield from (f"git's lock {lock} is left in the user's repository" for lock in locks)


def _branches_wrong(world: World) -> Iterator[str]:
    """The user's branches move by accepts and by the user, and by nobody else."""
    if (head := world.git("rev-parse", "--symbolic-full-name", "HEAD")) != "refs/heads/main":
        yield f"the user's checkout is on {head}"
    listed = world.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads").splitlines()
    branches = dict(line.split(" ") for line in listed)
    branches.pop("main", None)
    for name in sorted(branches.keys() | world.branches.keys()):
        was, now = world.branches.get(name), branches.get(name)
        if was != now:
            yield f"the user's branch {name} was moved: from {was} to {now}"
    known = {f"Land {token}" for token in world.tried} | {"first", "files that somebody works on"}
    subjects = world.git("log", "--format=%s", "main").split("\n")
    strange = [each for each in subjects if each not in known and not each.startswith("By hand ")]
    yield from (f"main has a commit that nobody put there: {subject!r}" for subject in strange)


def _lands_wrong(world: World) -> Iterator[str]:
    if merges := world.git("rev-list", "--merges", "main"):
        yield f"main has merge commits: {merges}"
    subjects = Counter(world.git("log", "--format=%s", "main").split("\n"))
    yield from (f"main has {subject!r} {times} times" for subject, times in subjects.items() if times > 1)
    yield from (f"accepted and not on main: {token}" for token in world.landed if subjects[f"Land {token}"] != 1)


def whole(world: World) -> Iterator[str]:
    """Every commit, file and prompt, and where it is now."""
    found = look(world)
    yield from (f"commit {sha}: {found.of_object(sha) or 'LOST'}" for sha in commits_made(world))
    yield from (f"commit {sha}: replaced by its agent" for sha in sorted(world.let_go))
    for each in world.belongings.all():
        yield f"file {each}: {(each.let_go and f'let go, {each.let_go}') or found.of_belonging(each) or 'LOST'}"
    counts = Counter(_heard(world))
    for (worker, token), sent in _by_text(world).items():
        outcomes = ", ".join(each.outcome for each in sent)
        yield f"prompt {token!r} to {worker}: {outcomes}; arrived {counts[worker, token]} times"


def _texts_wrong(world: World) -> Iterator[str]:
    """Each text runs as often as its receipts say; the same words sent twice are two texts."""
    counts = Counter(_heard(world))
    for (worker, token), sent in _by_text(world).items():
        least = sum(HOW_OFTEN[each.outcome][0] for each in sent)
        most = sum(HOW_OFTEN[each.outcome][1] for each in sent)
        times = counts[worker, token]
        if not least <= times <= most:
            told = ", ".join(f"{each.words}: {each.outcome}" for each in sent)
            why = " ".join(each.said.strip() for each in sent if each.said)
            what = "lost" if times < least else "run more often than it was sent"
            yield f"the prompt {token!r} to {worker} is {what}: it arrived {times} times ({told}) {why}"


def _by_text(world: World) -> dict[tuple[str, str], list[Sent]]:
    texts: dict[tuple[str, str], list[Sent]] = {}
    for each in world.sent:
        texts.setdefault((each.worker, each.token), []).append(each)
    return texts


def _heard_of_agents(world: World) -> Iterator[str]:
    heard = Counter(world.heard.read_text().splitlines() if world.heard.exists() else ())
    yield from (f"git outside of agents heard their {trap}, {times} times" for trap, times in heard.items())


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
