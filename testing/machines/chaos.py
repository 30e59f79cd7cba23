"""`make machines-chaos`: what can go wrong between a hub and three machines, by a seed, and an account of it.

`python -m testing.machines.chaos --seed 7 --seconds 600 --workers 6`
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from testing.commands import CommandFailedError
from testing.machines.at_hub import LOOKS_EVERY_SECS, AtHub, job, root_on
from testing.machines.errands import begin
from testing.machines.three import NAMES, Machine, Machines, three_machines

CALM_SECS, LONGEST_CUT_SECS, OFF_SECS = 3.0, 14.0, 2.0
REST_SECS = 600.0
TASKS_AT_ONCE = 6
SKEWS = (-10_800.0, -600.0, 0.0, 600.0, 7200.0)
ARRIVED, MAY_HAVE, NOT = (1, 1), (0, 1), (0, 0)
HOW_OFTEN = {
    "delivered": ARRIVED,
    "queued": MAY_HAVE,
    "undelivered": NOT,
    "refused": NOT,
    "unknown": MAY_HAVE,
    "killed": MAY_HAVE,
}
HOOK = """\
#!/bin/sh
[ -n "$LLMC_CHAOS_MEMORY" ] && git log -1 --format=%s >>"$LLMC_CHAOS_MEMORY.commits"
exit 0
"""
"""What an agent commits is written down outside of all machines."""


@dataclass(slots=True)
class Trouble:
    hub: AtHub
    random: random.Random
    happened: Counter[str] = field(default_factory=Counter)
    sent: dict[str, str] = field(default_factory=dict)
    """The token of each message, and what LLMC said of it."""
    landed: list[str] = field(default_factory=list)
    """The workers' titles that `accept` said are merged."""
    serial: int = 0

    @property
    def bed(self) -> Machines:
        return self.hub.bed

    def token(self, kind: str) -> str:
        self.serial += 1
        return f"{kind}-{self.serial:04d}-of-chaos"

    def a_machine(self) -> Machine:
        return self.bed[self.random.choice(NAMES)]


# --- what people do -----------------------------------------------------------------------------------


def add_a_task(trouble: Trouble) -> str:
    if sum(each["state"] == "queued" for each in trouble.hub.tasks()) >= TASKS_AT_ONCE:
        return "enough tasks wait"
    said = trouble.hub.run("task", "add", job(trouble.token("task")), check=False)
    return "a task was added" if said.code == 0 else "a task was refused"


def send_a_message(trouble: Trouble) -> str:
    workers = [each["name"] for each in trouble.hub.status()["workers"] if each["status"] == "needs_review"]
    if not workers:
        return "nobody to talk to"
    token, name = trouble.token("message"), trouble.random.choice(workers)
    words = ("message", name, f"{token}\ndemo:nothing", "--json")
    if trouble.random.random() < 0.25:
        trouble.sent[token] = "killed"
        return _cut_short(trouble, words)
    said = trouble.hub.run(*words, check=False)
    try:
        trouble.sent[token] = json.loads(said.out)["outcome"]
    except (ValueError, KeyError):
        trouble.sent[token] = "unknown" if said.code == 4 else "refused"
    return f"a message: {trouble.sent[token]}"


def accept_something(trouble: Trouble) -> str:
    there = [each for each in trouble.hub.status()["workers"] if each["status"] == "needs_review" and each["task"]]
    if not there:
        return "nothing to accept"
    name = trouble.random.choice(there)["name"]
    if trouble.random.random() < 0.2:
        return _cut_short(trouble, ("accept", name))
    said = trouble.hub.run("accept", name, "--json", check=False)
    if said.code == 0:
        trouble.landed.append(json.loads(said.out)["message"].splitlines()[0])
    return f"accept ended with {said.code}"


def _cut_short(trouble: Trouble, words: tuple[str, ...]) -> str:
    """`kill -9` at a random moment."""
    hub = trouble.hub
    order = {"llmc": list(words), "env": hub.environment(), "cwd": str(hub.home)}
    errand = begin(hub.bed.socket, order, hub.bed.nowhere, REST_SECS)
    time.sleep(trouble.random.uniform(0.0, 1.5))
    hub.bed.kill(errand.pid)
    errand.ended(REST_SECS)
    return f"a command was killed: {words[0]}"


# --- what befalls them --------------------------------------------------------------------------------


def cut_off(trouble: Trouble) -> str:
    machine = trouble.a_machine()
    way = trouble.random.choice(("both directions", "incoming", "outgoing"))
    machine.cut(incoming=way != "outgoing", outgoing=way != "incoming")
    time.sleep(trouble.random.uniform(0.5, LONGEST_CUT_SECS))
    machine.heal()
    return f"a machine was cut off: {way}"


def kill_a_machine(trouble: Trouble) -> str:
    machine = trouble.a_machine()
    machine.kill()
    time.sleep(trouble.random.uniform(0.0, OFF_SECS))
    machine.boot()
    return "a machine was killed and booted"


def kill_the_hub(trouble: Trouble) -> str:
    pid = trouble.hub.status()["daemon"]["pid"]
    if pid is not None:
        trouble.bed.kill(pid)
    return "the hub's daemon was killed"


def kill_connections(trouble: Trouble) -> str:
    trouble.bed.run("pkill", "-KILL", "-x", "ssh", check=False)
    return "every ssh of the hub was killed"


def kill_helpers(trouble: Trouble) -> str:
    trouble.a_machine().run("sh", "-c", "pkill -KILL -f 'remote[-]serve'", check=False)
    trouble.a_machine().run("sh", "-c", "pkill -KILL -f 'llmc [r]emote'", check=False)
    return "a machine's helper was killed"


def kill_sshd(trouble: Trouble) -> str:
    trouble.a_machine().run("sh", "-c", "pkill -KILL -f 'sshd[:] root'", check=False)
    return "sshd's sessions were killed"


def kill_a_daemon(trouble: Trouble) -> str:
    machine = trouble.a_machine()
    said = machine.llmc_of_root("status", "--json", check=False)
    with suppress(ValueError):
        pid = json.loads(said.out)["daemon"]["pid"]
        if pid is not None:
            machine.run("kill", "-KILL", str(pid), check=False)
    return "a machine's daemon was killed"


def move_a_clock(trouble: Trouble) -> str:
    trouble.a_machine().move_clock(trouble.random.choice(SKEWS))
    return "a machine's clock was moved"


def give_up(trouble: Trouble) -> str:
    """A person loses patience, and the machine comes back all the same."""
    machine = trouble.a_machine()
    machine.cut()
    said = trouble.hub.run("machine", "lost", machine.name, "--yes", check=False)
    time.sleep(trouble.random.uniform(0.5, LONGEST_CUT_SECS))
    machine.heal()
    return f"a machine was given up and came back: {said.code}"


DISASTERS = (
    *(cut_off, cut_off, cut_off, kill_a_machine, kill_the_hub, kill_connections),
    *(kill_helpers, kill_sshd, kill_a_daemon, move_a_clock, give_up),
)


def befall(trouble: Trouble) -> str:
    return trouble.random.choice(DISASTERS)(trouble)


def look_after(trouble: Trouble) -> str:
    """As a service manager and a person would."""
    if trouble.hub.run("up", "--detach", check=False).code == 0:
        return "the hub's daemon was brought up"
    for each in trouble.hub.status()["machines"]:
        if each["state"] == "ok":
            trouble.hub.run("machine", "check", each["name"], check=False)
    return "the machines were checked"


# --- the account --------------------------------------------------------------------------------------


def come_to_rest(trouble: Trouble) -> list[str]:
    hub = trouble.hub
    for machine in hub.bed.machines.values():
        machine.move_clock(None)
        machine.heal()
    hub.run("up", "--detach", check=False)
    for name in NAMES:
        hub.check_machine(name)
    told: set[str] = set()
    until = time.monotonic() + REST_SECS
    while time.monotonic() < until:
        for each in hub.status()["workers"]:
            _help(trouble, each, told)
        tasks = hub.tasks()
        if all(each["state"] == "landed" for each in tasks):
            return []
        for each in tasks:
            if each["state"] == "failed":
                hub.run("task", "retry", each["id"], check=False)
        time.sleep(LOOKS_EVERY_SECS)
    return [f"does not come to rest:\n{hub.account()}"]


def _help(trouble: Trouble, worker: dict[str, object], told: set[str]) -> None:
    """What a person does who goes from one to the next: accepts, and starts again whoever has stopped."""
    hub, name = trouble.hub, str(worker["name"])
    attention = worker["attention"]
    ready = isinstance(attention, dict) and attention["state"] == "READY" and (attention["age_secs"] or 0.0) > CALM_SECS
    if worker["status"] == "needs_review" and worker["task"]:
        hub.run("accept", name, check=False)
    elif worker["status"] in ("error", "offline") or (worker["status"] in ("working", "needs_input") and ready):
        key = f"{name} {worker['task']}"
        hub.run("reset" if key not in told else "restart", name, "--yes", check=False)
        told.add(key)


def account(trouble: Trouble) -> dict[str, list[str]]:
    """Each kind of loss, with what was lost."""
    return {
        "lost": list(_lost(trouble)),
        "delivered twice": list(_delivered_twice(trouble)),
        "run twice": list(_run_twice(trouble)),
    }


def _lost(trouble: Trouble) -> Iterator[str]:
    hub = trouble.hub
    made = hub.memory.with_name(f"{hub.memory.name}.commits")
    known = set(hub.subjects()) | set(hub.git_of_root("log", "--all", "--format=%s").splitlines())
    for machine in hub.bed.machines.values():
        git_dir = f"{machine.home}/{root_on(machine).relative_to(machine.seen(''))}/.git"
        known |= set(machine.run("git", "--git-dir", git_dir, "log", "--all", "--format=%s").out.splitlines())
    subjects = made.read_text().splitlines() if made.exists() else []
    yield from (f"the commit {each!r} is nowhere" for each in subjects if each not in known)
    on_branch = set(hub.subjects())
    yield from (f"{each!r} was accepted and is not on the branch" for each in trouble.landed if each not in on_branch)
    for token, outcome in trouble.sent.items():
        if hub.heard(token) < HOW_OFTEN[outcome][0]:
            yield f"the message {token} ({outcome}) never arrived"


def _delivered_twice(trouble: Trouble) -> Iterator[str]:
    heard = trouble.hub.heard_all()
    for token, outcome in trouble.sent.items():
        times = sum(count for text, count in heard.items() if token in text)
        if times > HOW_OFTEN[outcome][1]:
            yield f"the message {token} ({outcome}) arrived {times} times"
    for task in trouble.hub.tasks():
        times = sum(count for text, count in heard.items() if task["text"].strip() in text)
        if times > task["attempts"]:
            yield f"{task['id']} was given out {task['attempts']} times and arrived {times} times"


def _run_twice(trouble: Trouble) -> Iterator[str]:
    subjects = Counter(trouble.hub.subjects())
    yield from (f"{each!r} landed {times} times" for each, times in subjects.items() if times > 1)
    if merges := trouble.hub.git("rev-list", "--merges", "main"):
        yield f"the branch has merges: {merges}"


# --- all of it ----------------------------------------------------------------------------------------


def live(bed: Machines, words: argparse.Namespace) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="llmc-chaos-") as directory:
        place = Path(directory)
        with AtHub(place / "home", place / "root", bed=bed) as hub:
            trouble = Trouble(hub, random.Random(words.seed))
            hub.begin()
            hub.join(NAMES)
            for machine in bed.machines.values():
                hook = root_on(machine) / ".git" / "hooks" / "post-commit"
                hook.parent.mkdir(exist_ok=True)
                hook.write_text(HOOK)
                hook.chmod(0o755)
            hub.up()
            for number in range(words.workers):
                hub.run("add", f"w{number + 1}", "--machine", NAMES[number % len(NAMES)])
            _let_it_happen(trouble, words.seconds)
            _say("and now the repair")
            wrong = come_to_rest(trouble)
            found = account(trouble)
            _tell(trouble, found)
            return [*wrong, *(each for kind in found.values() for each in kind)]


def _let_it_happen(trouble: Trouble, seconds: float) -> None:
    until = time.monotonic() + seconds
    deeds = ((add_a_task, 1.0), (send_a_message, 2.0), (accept_something, 1.0), (befall, CALM_SECS), (look_after, 4.0))
    failures: list[BaseException] = []
    threads = [threading.Thread(target=_repeat, args=(trouble, deed, pause, until, failures)) for deed, pause in deeds]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failures:
        raise failures[0]


def _repeat(
    trouble: Trouble,
    deed: Callable[[Trouble], str],
    pause: float,
    until: float,
    failures: list[BaseException],
) -> None:
    while time.monotonic() < until and not failures:
        try:
            trouble.happened[deed(trouble)] += 1
        except CommandFailedError as failed:
            failures.append(failed)
        except BaseException as failure:
            failures.append(failure)
            raise
        time.sleep(pause)


def _tell(trouble: Trouble, found: dict[str, list[str]]) -> None:
    _say("what happened:")
    for what, times in sorted(trouble.happened.items()):
        _say(f"  {times:5d}  {what}")
    tasks = Counter(each["state"] for each in trouble.hub.tasks())
    _say(f"tasks: {', '.join(f'{count} {state}' for state, count in sorted(tasks.items()))}")
    outcomes = Counter(trouble.sent.values())
    _say(f"messages: {', '.join(f'{count} {outcome}' for outcome, count in sorted(outcomes.items()))}")
    _say(f"commits on the branch: {len(trouble.hub.subjects()) - 1}")
    for kind, losses in found.items():
        _say("\n  ".join([f"{kind}: {len(losses)}", *losses]))


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m testing.machines.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long disasters happen")
    parser.add_argument("--workers", type=int, default=6)
    words = parser.parse_args()
    _say(f"seed {words.seed}, {words.workers} workers on {len(NAMES)} machines, {words.seconds:.0f} seconds")
    with three_machines() as bed:
        wrong = live(bed, words)
    if wrong:
        _say("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
