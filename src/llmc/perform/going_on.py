"""What an agent that comes back in the middle of its work is told."""

from __future__ import annotations

from llmc.core.prompts.recovery import feedback_again, repeated_prompt, resumed_prompt
from llmc.core.prompts.task import task_prompt
from llmc.model import Work, Worker
from llmc.site import Site


def going_on_text(site: Site, worker: Worker, *, resumed: bool) -> str:
    """Empty for a worker that was in the middle of nothing, and for an agent that would run its command twice."""
    work = worker.resume_work if worker.work is Work.ERROR else worker.work
    if work not in (Work.WORKING, Work.REJECTED) or not site.agent_of(worker).takes_prose:
        return ""
    return resumed_prompt() if resumed else task_again(site, worker)


def task_again(site: Site, worker: Worker) -> str:
    """The task, with what the reviewer said of it, for an agent that has had it before or not."""
    work = worker.resume_work if worker.work is Work.ERROR and worker.resume_work else worker.work
    return repeated_prompt(_asked(site, worker, work))


def _asked(site: Site, worker: Worker, work: Work) -> str:
    task = task_prompt(worker.current_prompt, worker.worktree_path, worker.branch, site.config.repo.validate)
    return feedback_again(task, worker.feedback) if work is Work.REJECTED else task
