"""Giving a worker a task: what keeps it from having one, and the text that its agent gets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llmc.care.catch_up import catch_up
from llmc.core.lifecycle import events as ev
from llmc.core.prompts.task import task_prompt
from llmc.core.tasks.changes import with_more
from llmc.core.tasks.task import Task, title_of
from llmc.errors import LlmcError
from llmc.git.repository import status
from llmc.model import Work, Worker
from llmc.site import Site
from llmc.store.snapshot import read_statuses


class NotGivenError(LlmcError):
    """The worker takes no task as it is."""


class DaySpentError(LlmcError):
    """Nobody begins anything new today: the budget of the day is spent."""


class SomebodyActsError(LlmcError):
    """Somebody else acts for the worker right now."""


def task_event(
    site: Site, worker: Worker, prompt: str, task: str = "", *, by_name: bool = False, request: str = ""
) -> ev.TaskGiven:
    """The event that gives the worker this task. The caller acts for the worker, and has caught up."""
    refuse_unfit(site, worker)
    return ev.TaskGiven(site.now(), prompt, _as_sent(site, worker, prompt), task, by_name, request)


def prompt_of(task: Task) -> str:
    """With its title, where that is not how the text begins, and with what was added to the text since."""
    text = task.text if task.title == title_of(task.text) else f"{task.title}\n\n{task.text}"
    return with_more(text, task.more) if task.more else text


def _as_sent(site: Site, worker: Worker, prompt: str) -> str:
    if not site.agent_of(worker).takes_prose:
        return prompt
    return task_prompt(prompt, worker.worktree_path, worker.branch, site.config.repo.validate)


def refuse_unfit(site: Site, worker: Worker) -> None:
    if worker.worktree_lost:
        raise NotGivenError(f"{worker.name}'s worktree is gone", f"`llmc restart {worker.name}` makes it again")
    left = [entry.path for entry in status(site.git, worker.worktree_path)]
    if left and worker.work is Work.IDLE:
        raise NotGivenError(
            f"{worker.name}'s worktree has uncommitted changes that belong to no task: {', '.join(left[:5])}",
            f"`llmc reset {worker.name}` sets them aside in a backup",
        )


@contextmanager
def acting_if_free(site: Site, name: str) -> Iterator[Worker]:
    """As `acting_for`, but never waits: raises SomebodyActsError."""
    lock = site.lock_of(name)
    if not lock.try_acquire():
        raise SomebodyActsError(f"another command acts for {name}", "try again in a moment")
    try:
        with site.git.operation:
            yield catch_up(site, name)
    finally:
        lock.release()


def give_if_free(site: Site, task_id: str, name: str) -> None:
    """Writes the task into the worker's record; the rest is for whoever looks after the worker."""
    with acting_if_free(site, name) as worker:
        asked = read_statuses(site.root.terminals).get(name, {}).get("asked")
        if isinstance(asked, dict):
            raise NotGivenError(f"{name} has an open dialog", f"`llmc answer {name} ...` answers it")
        task = site.ledger.tasks.task(task_id)
        site.ledger.apply(name, task_event(site, worker, prompt_of(task), task_id))
