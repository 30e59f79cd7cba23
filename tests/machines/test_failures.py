"""What goes wrong between a hub and its machines: nothing is lost, and nothing is done twice.

`testing/machines/cases.py` lists the cases; those of sshd and of Slurm are held by `test_ssh.py` and `test_slurm.py`.
Not held: munge refuses clocks that differ by more than five minutes, and namespaces cannot have clocks of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from testing.machines.at_hub import AtHub, Errands, hub_with, job, root_on
from testing.machines.three import NAMES, Machine, Machines
from testing.waiting import wait_until

DIRECTIONS = {"m1": {}, "m2": {"outgoing": False}, "m3": {"incoming": False}}
"""Both, only what comes to the machine, only what it says."""


@pytest.fixture(scope="module")
def _fleet(_all_machines: Machines) -> Iterator[AtHub]:
    with hub_with(_all_machines) as hub:
        yield hub
    _all_machines.tidy()


@pytest.fixture
def hub(_fleet: AtHub) -> Iterator[AtHub]:
    """With three machines, whatever the test before has done to them."""
    yield _fleet
    for machine in _fleet.bed.machines.values():
        if not machine.is_on:
            machine.boot()
        machine.heal()
    for name in NAMES:
        _fleet.check_machine(name)


@pytest.fixture
def machines(hub: AtHub) -> Machines:
    return hub.bed


def break_connections(machine: Machine) -> None:
    """Those that sshd serves there now; what runs in them goes on."""
    machine.run("sh", "-c", "pkill -KILL -f 'sshd[:] root' || true")


def seat_everywhere(hub: AtHub, prefix: str) -> dict[str, str]:
    """A worker on each machine; the machine of each."""
    names = {f"{prefix}{name}": name for name in NAMES}
    for worker, name in names.items():
        hub.seat(worker, name)
    return names


def give_to(hub: AtHub, workers: Iterable[str]) -> Errands:
    return Errands(hub, [("start", "--worker", each, "--prompt", job(each), "--json") for each in workers])


def back_again(hub: AtHub, started: Errands) -> None:
    for machine in hub.bed.machines.values():
        machine.heal()
    for said in started.ended():
        assert said.code in (0, 1, 4), said
    for name in NAMES:
        hub.wait_for_machine(name, "ok")


def requests_of(machine: Machine) -> Iterator[Path]:
    return (root_on(machine) / "requests").glob("*.json")


def settle(hub: AtHub, workers: Iterable[str]) -> None:
    """Each task is at its worker, or was refused and is at nobody; who has it has heard it once, and it lands once."""
    tasks = {each["title"]: each for each in hub.tasks()}
    for worker in workers:
        (known,) = [each for each in tasks.values() if worker in each["text"]]
        if known["state"] == "cancelled":
            assert hub.heard(worker) == 0
            continue
        hub.wait_for(worker, status="needs_review", task=known["id"])
        assert hub.heard(worker) == 1
        hub.run("accept", worker)
        assert hub.subjects().count(f"Add {worker}") == 1


@pytest.mark.failure_case("a cut in one direction")
@pytest.mark.failure_case("a cut before a delivery")
def test_a_cut_before_a_delivery(hub: AtHub, machines: Machines) -> None:
    names = seat_everywhere(hub, "early")
    for name, how in DIRECTIONS.items():
        machines[name].cut(**how)
    started = give_to(hub, names)
    hub.until(lambda: all(each["state"] == "unreachable" for each in hub.status()["machines"]))
    assert all(each["age_secs"] is not None for each in hub.status()["machines"])
    back_again(hub, started)
    settle(hub, names)


@pytest.mark.failure_case("a cut during a delivery")
def test_a_cut_during_a_delivery(hub: AtHub, machines: Machines) -> None:
    """As soon as the machine has begun what it was asked, whatever comes of that."""
    names = seat_everywhere(hub, "amid")
    known = {name: set(requests_of(machines[name])) for name in NAMES}
    started = give_to(hub, names)
    left = set(NAMES)
    while left and not started.are_over:
        for name in [name for name in left if set(requests_of(machines[name])) - known[name]]:
            machines[name].cut(**DIRECTIONS[name])
            left.remove(name)
    back_again(hub, started)
    settle(hub, names)


@pytest.mark.failure_case("a cut after a delivery")
@pytest.mark.failure_case("a cut before an accept")
def test_a_cut_after_a_delivery_and_before_the_accept(hub: AtHub, machines: Machines) -> None:
    """The agent finishes alone, others' work lands meanwhile; an accept while it is cut off lands nothing."""
    hub.seat("alone", "m1")
    hub.seat("other", "m2")
    hub.run("start", "--worker", "alone", "--prompt", job("alone", "sleep 2"))
    machines["m1"].cut()
    hub.work("other", "other")
    hub.run("accept", "other")
    wait_until(lambda: "needs_review" in machines["m1"].llmc_of_root("status", "--json").out, 60.0)
    hub.wait_for_machine("m1", "unreachable")
    assert hub.worker("alone")["work"] == "working"
    before = hub.subjects()
    said = hub.run("accept", "alone", check=False)
    assert (said.code != 0, hub.subjects()) == (True, before), said
    machines["m1"].heal()
    hub.wait_for("alone", status="needs_review")
    hub.run("accept", "alone")
    assert hub.subjects() == [*before, "Add alone"]
    assert hub.heard("alone") == 1


@pytest.mark.failure_case("a cut during an accept")
@pytest.mark.failure_case("a cut after an accept")
def test_a_cut_during_and_after_an_accept(hub: AtHub, machines: Machines) -> None:
    """The hub has fetched the work when its machine is cut off: it lands, and the machine is told when it is back."""
    hub.seat("amidst", "m1")
    hub.seat("afterwards", "m2")
    hub.work("amidst", "amidst")
    hub.work("afterwards", "afterwards")
    mark, gate = hub.home / "checking", hub.home / "gate"
    hub.run("config", "set", "repo.validate", f'["touch {mark}; while [ ! -e {gate} ]; do sleep 0.05; done"]')
    accepting = hub.in_background("accept", "amidst")
    wait_until(mark.exists, 60.0)
    machines["m1"].cut()
    gate.touch()
    (said,) = accepting.ended()
    hub.run("config", "set", "repo.validate", "[]")
    assert said.code == 0, said
    assert "does not know yet" in said.out
    assert hub.subjects()[-1] == "Add amidst"
    hub.run("accept", "afterwards")
    machines["m2"].cut()
    hub.wait_for_machine("m2", "unreachable")
    for name in ("m1", "m2"):
        machines[name].heal()
    hub.wait_for("amidst", status="idle", task=None)
    hub.wait_for("afterwards", status="idle", task=None)
    assert hub.subjects()[-2:] == ["Add amidst", "Add afterwards"]


@pytest.mark.failure_case("the answer is lost")
def test_a_lost_answer_is_asked_for_again(hub: AtHub, machines: Machines) -> None:
    """The command arrives and is carried out; its answer does not come, and the connection dies."""
    m1 = machines["m1"]
    hub.seat("answered", "m1")
    m1.cut(incoming=False)
    started = hub.in_background("start", "--worker", "answered", "--prompt", job("answered"), "--json")
    wait_until(lambda: hub.heard("answered"), 60.0)
    break_connections(m1)
    m1.heal()
    (said,) = started.ended()
    assert said.code in (0, 4), said
    settle(hub, ["answered"])


@pytest.mark.failure_case("the hub is killed between the machine's answer and its own fetch")
@pytest.mark.failure_case("the hub is killed before the machine hears what has landed")
@pytest.mark.parametrize("moment", ["accept.decided", "accept.journaled", "accept.landed"])
def test_the_hub_is_killed_in_an_accept(hub: AtHub, moment: str) -> None:
    """Accepted again it lands, or has landed: once."""
    worker = moment.replace(".", "-")
    hub.seat(worker, "m3")
    hub.work(worker, worker)
    said = hub.run("accept", worker, check=False, env={"LLMC_FAULT": moment})
    assert said.code not in (0, 1), said
    hub.kill_daemon()
    hub.up()
    hub.until(lambda: hub.machine("m3")["state"] == "ok")
    if hub.worker(worker)["status"] == "needs_review":
        hub.run("accept", worker, check=False)
    hub.wait_for(worker, status="idle", task=None)
    assert hub.subjects().count(f"Add {worker}") == 1


@pytest.mark.failure_case("two machines accept at once")
def test_two_machines_accept_at_once(hub: AtHub) -> None:
    for number, name in enumerate(NAMES, 1):
        hub.seat(f"atonce{number}", name)
        hub.work(f"atonce{number}", f"atonce{number}")
    said = Errands(hub, [("accept", f"atonce{number}") for number in (1, 2, 3)]).ended()
    assert [each.code for each in said] == [0, 0, 0], said
    assert sorted(hub.subjects()[-3:]) == ["Add atonce1", "Add atonce2", "Add atonce3"]
    assert hub.git("rev-list", "--merges", "main") == ""


@pytest.mark.failure_case("a machine returns with an old epoch")
def test_a_machine_that_was_given_up_returns(hub: AtHub, machines: Machines) -> None:
    """Its task goes to another; what its agent has made meanwhile is kept at the hub, and its session ended."""
    m1 = machines["m1"]
    hub.seat("oldone", "m1")
    hub.seat("newone", "m2")
    hub.run("start", "--worker", "oldone", "--prompt", job("given", "write kept.txt kept", "sleep 3"))
    (id,) = [each["id"] for each in hub.tasks() if "kept.txt" in each["text"]]  # noqa: A001 - as people say it
    m1.cut()
    hub.wait_for_machine("m1", "unreachable")
    assert hub.task(id)["state"] == "assigned"
    hub.run("machine", "lost", "m1", "--yes")
    hub.wait_for_task(id, "review")
    other = hub.task(id)["worker"]
    assert hub.worker(other)["machine"] != "m1"
    hub.run("accept", other)
    wait_until(lambda: "needs_review" in m1.llmc_of_root("status", "--json").out, 60.0)
    m1.heal()
    hub.wait_for_machine("m1", "ok")
    hub.wait_for("oldone", status="idle", task=None)
    assert hub.task(id)["state"] == "landed"
    assert hub.subjects().count("Add given") == 1
    backups = hub.git_of_root("for-each-ref", "--format=%(refname)", "refs/llmc/backup").split()
    kept = [each for each in backups if "oldone" in each]
    assert any("kept.txt" in hub.git_of_root("ls-tree", "-r", "--name-only", each) for each in kept)
    assert "oldone" in hub.run("undo", "--list").out
