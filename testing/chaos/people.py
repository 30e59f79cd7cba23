"""What the users of the workers do all the while: they hand out tasks, send messages, review, accept, send back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from testing.chaos.hands import tidy_up
from testing.chaos.world import Sent, World
from testing.commands import Said

SHARED_FILES = 4
"""So few that their workers come to conflicts."""


def act(world: World) -> str:
    """One thing that somebody does, fitting what the worker is at."""
    statuses = world.statuses()
    if not statuses:
        # A person reads what `status` says and does it.
        world.run("doctor", "--repair", "--yes")
        return "doctor was asked to repair"
    add_again(world)
    name = world.a_worker()
    deeds = BY_STATUS.get(statuses.get(name, ""), (say_something,))
    deed = world.random.choice(deeds)
    deed(world, name)
    return deed.__name__.replace("_", " ")


def give_task(world: World, name: str) -> None:
    token = world.new_token()
    said = world.run("start", "--worker", name, "--prompt", task_text(world, token), "--json")
    world.note_sent(Sent(token, name, "start", outcome_of(said), said.err))


def say_something(world: World, name: str) -> None:
    token = world.new_token()
    text = f"{token}\ndemo:{world.random.choice(('nothing', 'say all right', 'sleep 0.3'))}"
    said = world.run("message", name, text, "--json")
    world.note_sent(Sent(token, name, "message", outcome_of(said), said.err))


def send_back(world: World, name: str) -> None:
    token = world.new_token()
    feedback = f"{token}\ndemo:append files/{name}.txt by {token}\ndemo:commit Rework {token}"
    said = world.run("reject", name, feedback, "--json")
    world.note_sent(Sent(token, name, "reject", outcome_of(said), said.err))


def say_it_again(world: World, name: str) -> None:
    """The same words, each time a text of its own."""
    same = f"the same words to {name}"
    said = world.run("message", name, f"{same}\ndemo:nothing", "--json")
    world.note_sent(Sent(same, name, "message, the same again", outcome_of(said), said.err))


def accept(world: World, name: str) -> None:
    token = world.new_token()
    world.tried.append(token)
    if world.random.random() < 0.8:
        tidy_up(world, name)
    if world.random.random() < 0.5:
        world.run("review", name, "--interface", "stat")
    work = _files_of(world, Path(world.root.git_dir), f"llmc/{name}")
    said = world.run("accept", name, "--message", f"Land {token}")
    if said.code == 0:
        world.landed.append(token)
        _compare(world, name, token, work)


def _compare(world: World, name: str, token: str, work: set[str]) -> None:
    """What was at the tip of the work is in what landed, down to what only a merge commit had."""
    landed = world.git("log", "-1", "--format=%H", f"--grep=Land {token}", "main")
    if not landed:
        return  # the account will tell
    its = {each.blob: each for each in world.belongings.of(name) if each.file.parent.name in ("loose", "sides")}
    for blob in (its.keys() & work) - _files_of(world, world.source, landed):
        world.untrue.append(f"accepted as {token}, without {its[blob]}")


def _files_of(world: World, where: Path, commit: str) -> set[str]:
    with suppress(subprocess.CalledProcessError):
        return {line.split()[2] for line in world.git("ls-tree", "-r", commit, cwd=where).splitlines()}
    return set()


def nuke(world: World, name: str) -> None:
    """Without a word, with a question that nobody is there for, or answered at a terminal; then it is made anew."""
    how = world.random.choice(("--yes", "nobody", "y", "n"))
    if how == "--yes":
        said = world.run("nuke", name, "--yes")
    elif how == "nobody":
        said = world.run("nuke", name)
    else:
        said = world.run_at_terminal("nuke", name, typed=how)
    if said.code == 0:
        world.removed.add(name)
        add_again(world)


def add_again(world: World) -> None:
    for name in tuple(world.removed):
        if world.run("add", name, "--agent", "chaos").code == 0 or name in world.statuses():
            world.removed.discard(name)
            world.run("restart", name, "--yes")


def bring_back(world: World, name: str) -> None:
    world.run("undo", name, "--yes")


def answer(world: World, name: str) -> None:
    world.run("answer", name, world.random.choice(("yes", "no", "1")))


def rebase(world: World, name: str) -> None:
    world.run("rebase", name)


def start_over(world: World, name: str) -> None:
    world.run("reset", name, "--yes")


def restart(world: World, name: str) -> None:
    world.run("restart", name, "--yes")


def look(world: World, name: str) -> None:
    world.run("explain", name)
    world.run("review", name, "--interface", "stat")


def task_text(world: World, token: str) -> str:
    file = f"shared/{world.random.randrange(SHARED_FILES)}.txt"
    steps = {
        "work": (f"demo:append files/{token}.txt by {token}", f"demo:commit Work {token}"),
        "conflict": (f"demo:write {file} by {token}", f"demo:commit Shared {token}"),
        "two commits": (
            f"demo:append files/{token}.txt one",
            f"demo:commit One {token}",
            f"demo:append files/{token}.txt two",
            f"demo:commit Two {token}",
        ),
        "slow": ("demo:sleep 2", f"demo:append files/{token}.txt by {token}", f"demo:commit Slow {token}"),
        "unfinished": (f"demo:append files/{token}.txt by {token}", "demo:say I stop here"),
        "question": (f"demo:ask Which way for {token}?", f"demo:append files/{token}.txt one", "demo:commit Asked"),
        "crash": (f"demo:append files/{token}.txt by {token}", f"demo:commit Crashing {token}", "demo:crash 3"),
    }
    return "\n".join((token, *world.random.choice(tuple(steps.values()))))


def outcome_of(said: Said) -> str:
    try:
        return str(json.loads(said.out)["outcome"])
    except (ValueError, KeyError, TypeError):
        return "killed" if said.code < 0 else "refused"


BY_STATUS: dict[str, tuple[Callable[[World, str], None], ...]] = {
    "idle": (give_task, give_task, give_task, give_task, say_something, say_it_again, nuke, bring_back),
    "working": (say_something, say_it_again, look, look, look),
    "needs_input": (answer, answer, say_something, start_over, nuke),
    "needs_review": (accept, accept, accept, accept, accept, send_back, rebase, look, nuke),
    "rejected": (say_something, look),
    "rebasing": (look, rebase, start_over),
    "error": (restart, restart, start_over, look, nuke),
    "offline": (restart, restart, look),
}
