"""What befalls them. Each answers whether there was anything to befall."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from testing.chaos.hands import FAILURES, at_work
from testing.chaos.people import outcome_of, task_text
from testing.chaos.world import Sent, World
from testing.commands import Said
from testing.killed_git import ANY, Moment

FLOOD = 400
A_DAY = 86_400.0
CLOCK_MOVES = (-9 * A_DAY, -A_DAY, -3_600.0, -5.0, 0.0, 0.0, 600.0, 3_600.0, A_DAY, 9 * A_DAY)
VERBS = ("merge", "fetch", "checkout", "clean", "commit-tree", "update-ref", "rebase", "worktree", "branch", "add")


def kill_an_agent(world: World) -> bool:
    pids = world.tmux("list-panes", "-a", "-F", "#{pane_pid} #{pane_dead}").split("\n")
    alive = [int(line.split()[0]) for line in pids if line.endswith(" 0")]
    return bool(alive) and _kill(world.random.choice(alive))


def kill_the_daemon(world: World) -> bool:
    pid = world.daemon()
    return pid is not None and _kill(pid)


def kill_tmux(world: World) -> bool:
    pid = world.tmux("display-message", "-p", "#{pid}").strip()
    return pid.isdecimal() and _kill(int(pid))


def cut_power_on_a_command(world: World) -> bool:
    """`kill -9` at a random moment."""
    name, token = world.a_worker(), world.new_token()
    words = world.random.choice(
        (
            ("start", "--worker", name, "--prompt", task_text(world, token)),
            ("message", name, f"{token}\ndemo:nothing"),
            ("accept", name, "--message", f"Land {token}"),
            ("rebase", name),
            ("reset", name, "--yes"),
            ("restart", name, "--yes"),
            ("undo", name, "--yes"),
            ("nuke", name, "--yes"),
        )
    )
    if words[0] == "accept":
        world.tried.append(token)
    if words[0] == "nuke":
        world.removed.add(name)
    process = world.spawn(*words)
    time.sleep(world.random.uniform(0.05, 1.2))
    process.kill()
    process.wait()
    if words[0] in ("start", "message"):
        world.note_sent(Sent(token, name, f"{words[0]}, killed", "killed"))
    return True


def fill_the_disk(world: World) -> bool:
    filler = world.place / "filler"
    with suppress(OSError), filler.open("wb") as full:
        while True:
            full.write(bytes(1 << 20))
            full.flush()
    time.sleep(world.random.uniform(0.5, 2.0))
    filler.unlink(missing_ok=True)
    return True


def hold_a_lock(world: World) -> bool:
    locks = sorted(Path(world.root.run).glob("**/*.lock")) + sorted(Path(world.root.path).glob("*.lock"))
    chosen = [lock for lock in locks if lock != Path(world.root.daemon_lock)]
    if not chosen:
        return False
    with world.random.choice(chosen).open("r+b") as lock, suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(world.random.uniform(0.5, 3.0))
    return True


def spoil_the_state(world: World) -> bool:
    file = Path(world.root.path, "state.json")
    if not file.exists():
        return False
    whole = file.read_bytes()
    damage = world.random.choice((b"", b"{", whole[: len(whole) // 2], whole.replace(b'"work"', b'"wrok"'), b"\0" * 64))
    file.write_bytes(damage)
    return True


def delete_the_state(world: World) -> bool:
    Path(world.root.path, "state.json").unlink(missing_ok=True)
    if world.random.random() < 0.3:
        Path(world.root.path, "state.json.bak").unlink(missing_ok=True)
    return True


def move_the_clock(world: World) -> bool:
    world.clock.write_text(str(world.random.choice(CLOCK_MOVES)))
    return True


def delete_a_worktree(world: World) -> bool:
    name = world.a_worker()
    with suppress(*FAILURES), at_work(world, name) as worktree:
        leaving = world.belongings.before(name)
        shutil.rmtree(worktree, ignore_errors=True)
        leaving.let_go("its worktree was deleted")
        world.led_away.pop(name, None)
        return True
    return False


def kill_git(world: World) -> bool:
    """One that LLMC starts, sometimes together with LLMC; the next that does this."""
    which = world.random.choice((ANY, world.random.choice(VERBS)))
    world.killed_git.kill(which, world.random.choice(tuple(Moment)), world.random.randint(1, 12))
    time.sleep(world.random.uniform(0.5, 4.0))
    return world.killed_git.called_off()


def flood_with_events(world: World) -> bool:
    spool = Path(world.root.spool(world.a_worker()))
    if not spool.is_dir():
        return False
    with suppress(OSError):
        for number in range(FLOOD):
            name = f"{time.time_ns():020d}-flood-{number:06d}.json"
            unfinished = spool / f".{name}.tmp"
            unfinished.write_text('{"event": "activity", "tool": "flood"}')
            unfinished.rename(spool / name)
    return True


def forge_reports(world: World) -> bool:
    """Somebody writes into an agent's spool what the agent never said, at times that never were."""
    name = world.a_worker()
    spool = Path(world.root.spool(name))
    if not spool.is_dir():
        return False
    token = world.new_token()
    for number, content in enumerate(_lies(world, token)):
        name_of_file = f"{time.time_ns():020d}-forged-{number:06d}.json"
        unfinished = spool / f".{name_of_file}.tmp"
        with suppress(OSError):
            unfinished.write_text(content)
            moved = time.time() + world.random.choice(CLOCK_MOVES)
            os.utime(unfinished, (moved, moved))
            unfinished.rename(spool / name_of_file)
    return True


def _lies(world: World, token: str) -> list[str]:
    session = world.random.choice(("", "of-another-time"))
    at = time.time() + world.random.choice(CLOCK_MOVES)
    said: list[dict[str, object]] = [
        {"event": "prompt", "text": f"{token}, which nobody sent"},
        {"event": "turn_end", "last_message": f"{token} is done"},
        {"event": "activity", "tool": token},
        {"event": token},
    ]
    lies = [json.dumps({**each, "session": session, "at": at}) for each in world.random.sample(said, 2)]
    return [*lies, world.random.choice(("", "{", "[]", "null", '{"event": 7}', '{"event": "prompt", "at": "soon"}'))]


def attach_a_typist(world: World) -> bool:
    """A person types half a line, and sometimes thinks better of it."""
    sessions = world.tmux("list-sessions", "-F", "#{session_name}").split()
    if not sessions:
        return False
    argv = ["tmux", "-L", world.root.tmux_socket, "attach-session", "-t", f"={world.random.choice(sessions)}"]
    leader, follower = pty.openpty()
    client = subprocess.Popen(
        argv, stdin=follower, stdout=follower, stderr=follower, env=world.llmc.environment(), start_new_session=True
    )
    os.close(follower)
    with suppress(OSError):
        for key in b"half a thought" + (b"\x15" if world.random.random() < 0.8 else b""):
            os.write(leader, bytes((key,)))
            time.sleep(0.03)
    client.kill()
    client.wait()
    os.close(leader)
    return True


def two_accept_at_once(world: World) -> bool:
    names = world.random.sample(world.workers, 2)
    tokens = [world.new_token() for _ in names]
    world.tried.extend(tokens)
    begun = [
        world.spawn("accept", name, "--message", f"Land {token}") for name, token in zip(names, tokens, strict=True)
    ]
    codes = [process.wait() for process in begun]
    world.landed.extend(token for token, code in zip(tokens, codes, strict=True) if code == 0)
    return True


def two_speak_at_once(world: World) -> bool:
    name = world.a_worker()
    tokens = [world.new_token() for _ in range(2)]
    begun = [
        subprocess.Popen(
            [*world.llmc.command("message", name, f"{token}\ndemo:nothing", "--json")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=world.llmc.environment(),
        )
        for token in tokens
    ]
    for token, process in zip(tokens, begun, strict=True):
        out, err = (stream.decode() for stream in process.communicate())
        world.note_sent(Sent(token, name, "message, two at once", outcome_of(Said(process.returncode, out, err)), err))
    return True


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


DISASTERS: tuple[tuple[Callable[[World], bool], int], ...] = (
    (kill_an_agent, 4),
    (kill_the_daemon, 3),
    (kill_tmux, 1),
    (cut_power_on_a_command, 6),
    (fill_the_disk, 2),
    (hold_a_lock, 3),
    (spoil_the_state, 2),
    (delete_the_state, 1),
    (move_the_clock, 2),
    (delete_a_worktree, 1),
    (kill_git, 8),
    (forge_reports, 3),
    (flood_with_events, 2),
    (attach_a_typist, 3),
    (two_accept_at_once, 3),
    (two_speak_at_once, 3),
)
"""With how often each one comes, against the others."""


def befall(world: World) -> str:
    kinds, weights = zip(*DISASTERS, strict=True)
    disaster = world.random.choices(kinds, weights)[0]
    name = str(disaster.__name__).replace("_", " ")
    return name if disaster(world) else f"{name} (nothing to befall)"
