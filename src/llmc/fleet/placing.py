"""Tasks of the hub at workers of machines. The hub's task is set apart first, the machine asked then, under one name
for each attempt: whatever is cut in between, the same attempt is asked for again, and it is made once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from llmc.care.giving import NotGivenError, prompt_of
from llmc.core.tasks.changes import TaskChange, new_task
from llmc.core.tasks.ending import TaskEnd
from llmc.core.tasks.task import Failure, Standing, Task
from llmc.errors import IllegalEventError
from llmc.fleet.branches import send_branch
from llmc.fleet.calls import Calls, UnknownOutcomeError
from llmc.fleet.known import machine_of
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import Machine, machine_named
from llmc.fleet.wire import MachineAnswer
from llmc.fleet.words import complaint_in
from llmc.site import Site

_TASKS = {"tasks": [dict.fromkeys(("request", "state", "reason"), "")]}
_OVER = {"failed": Standing.FAILED, "cancelled": Standing.FAILED}


def place(site: Site, calls: Calls, task_id: str, worker: str, machine: Machine) -> MachineAnswer:
    """Gives the task to the worker there. Raises NotGivenError when the machine has refused it, and it waits again.

    Raises UnreachableError or UnknownOutcomeError when nobody knows: then it stays set apart for that worker.
    """
    task = site.ledger.tasks.task(task_id)
    request = _request(task.id, task.attempts + 1)
    placed = site.ledger.tasks.place(task.id, worker, machine.name, request, site.now())
    task = site.ledger.tasks.task(task.id)
    if not placed and (task.given_to, task.given_on) != (worker, machine.name):
        raise IllegalEventError(f"{task.id} does not wait for a worker any more", f"`llmc task show {task.id}`")
    return go_on_placing(site, calls, task, machine)  # whoever was quicker has asked under the same name


def place_new(site: Site, calls: Calls, text: str, worker: str, machine: Machine) -> tuple[Task, MachineAnswer]:
    """A task that only this worker is for. It is set apart from its first moment: the queue would give it out, too.

    Raises NotGivenError when the machine has refused it: then it is cancelled.
    """

    def made(number: int) -> list[Task]:
        request = _request(f"t{number}", 1)
        return [
            new_task(text, site.now(), worker=worker, given_to=worker, given_on=machine.name, request=request),
        ]

    (task,) = site.ledger.add_tasks(made, site.now())
    return task, go_on_placing(site, calls, task, machine, again=False)


def place_by_name(site: Site, task_id: str, name: str) -> None:
    """For the queue, which tries again what could not be done. What nobody knows of is followed up by its machine."""
    found = machine_of(site.root, name)
    if found is None:
        raise NotGivenError(f"nobody knows where {name} is", "`llmc status` shows it")
    machine, worker = machine_named(site.root, site.config, found[0]), found[1]
    try:
        with Calls(site) as calls:
            place(site, calls, task_id, worker, machine)
    except UnreachableError as silent:
        raise NotGivenError(silent.what, silent.hint) from silent
    except UnknownOutcomeError:
        return


def _request(task_id: str, attempt: int) -> str:
    return f"{task_id}.{attempt}.{uuid4().hex[:12]}"


def go_on_placing(site: Site, calls: Calls, task: Task, machine: Machine, *, again: bool = True) -> MachineAnswer:
    """What the machine says of the attempt, whether it hears of it for the first time or not.

    `again`: what it refuses waits for another attempt.
    """
    send_branch(site, machine)
    words = ("start", "--worker", task.given_to, "--request", task.request, "--json", "-")
    answer = calls.do(machine.name, *words, stdin=prompt_of(task), request=task.request, repeatable=True)
    if answer.data is None and answer.code != 0:
        what, hint = complaint_in(answer.err)
        if again:
            site.ledger.tasks.unplace(task.id, task.request, what, site.now())
        else:
            site.ledger.tasks.ended(task.id, task.given_to, TaskEnd(Standing.CANCELLED, what), site.now())
        raise NotGivenError(what, hint)
    site.ledger.tasks.began_there(task, _attempt(task), site.now())
    return answer


def is_begun(task: Task) -> bool:
    """Whether the machine was heard to have it."""
    return task.attempts >= _attempt(task)


def _attempt(task: Task) -> int:
    return int(task.request.split(".")[1])


def count_attempt(site: Site, task: Task) -> None:
    """Its text may have arrived there, though the machine was not heard to have it."""
    if task.request:
        site.ledger.tasks.began_there(task, _attempt(task), site.now())


def follow_tasks(site: Site, calls: Calls, machine: Machine, document: dict[str, Any]) -> None:
    """What became of the hub's tasks there, by what the machine tells now."""
    placed = site.ledger.tasks.placed_on(machine.name)
    named = {worker.get("request") for worker in document.get("workers", ())}
    gone = [task for task in placed if task.request not in named]
    for task in [task for task in gone if not is_begun(task)]:
        try:
            go_on_placing(site, calls, task, machine)
        except (NotGivenError, UnreachableError, UnknownOutcomeError):
            continue
    for task in [task for task in placed if task.request in named and not is_begun(task)]:
        site.ledger.tasks.began_there(task, _attempt(task), site.now())
    gone = [task for task in gone if is_begun(task)]
    if gone:
        _ask_what_became(site, calls, machine, gone)


def _ask_what_became(site: Site, calls: Calls, machine: Machine, gone: list[Task]) -> None:
    """Its worker there names it no longer: it was reset or removed there, or has failed."""
    answer = calls.look(machine.name, "task", "list", "--all", "--json")
    if answer.data is None:
        return
    told = {each["request"]: each for each in answer.shaped(_TASKS)["tasks"]}
    landing = {each.task for each in landings_of(site, machine.name)}
    for task in gone:
        there = told.get(task.request)
        state = there["state"] if there is not None else "failed"
        if state in _OVER and task.id not in landing:
            reason = (there or {}).get("reason") or f"{machine.name} knows nothing of it any more"
            end = TaskEnd(Standing.FAILED, f"{task.given_to} on {machine.name}: {reason}", Failure.RESET)
            site.ledger.tasks.ended(task.id, task.given_to, end, site.now())


def landings_of(site: Site, machine: str) -> list[Any]:
    from llmc.store.landings_there import LandingsThere

    return list(LandingsThere(site.ledger.tasks.database).all(machine))


def free_tasks(site: Site, machine: str) -> list[str]:
    """The machine is given up: what its workers had waits again, for anybody who may. The next attempt has another
    name."""
    freed = [task.id for task in site.ledger.tasks.placed_on(machine)]
    why = f"{machine} was given up as lost"
    if freed:
        site.ledger.change_tasks(freed, lambda view: TaskChange("freed", why, {"worker": ""}), site.now())
    for task in site.ledger.tasks.named(freed).values():
        count_attempt(site, task)
        site.ledger.tasks.unplace(task.id, task.request, why, site.now())
    return freed
