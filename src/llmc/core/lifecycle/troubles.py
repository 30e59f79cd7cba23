"""What is wrong with a worker now, and what to type. The same for everybody; who may act does it in time."""

from __future__ import annotations

from llmc.core.display import age
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import RESTART
from llmc.model import Blocked, Session, Turn, Work, Worker
from llmc.values import Value


class Trouble(Value):
    kind: str
    what: str
    do: str
    """What to type, or who does what when."""


def troubles(worker: Worker, screen: str | None, policy: Policy, now: float) -> tuple[Trouble, ...]:
    """`screen` is what the last look at the agent's screen says, such as READY; None without one."""
    found = (
        _worktree(worker),
        _blocked(worker, policy, now),
        _session(worker, policy, now),
        _stuck(worker, screen, policy, now),
    )
    return tuple(each for each in found if each is not None)


def _worktree(worker: Worker) -> Trouble | None:
    if not worker.worktree_lost or worker.pending:
        return None
    return Trouble("worktree", "its worktree is gone", f"`llmc restart {worker.name}` makes it again from its branch")


def _blocked(worker: Worker, policy: Policy, now: float) -> Trouble | None:
    if worker.blocked is None:
        return None
    what = BLOCKED_WORDS.get(worker.blocked.kind, worker.blocked.kind) + _until(worker.blocked, now)
    due = min((at for at in worker.timers.values() if at > now), default=None)
    if policy.recovers and due is not None:
        return Trouble("blocked", what, f"it goes on by itself in {age(due - now)}")
    go_on = f"`llmc message {worker.name} ...`" if worker.session is Session.UP else f"`llmc restart {worker.name}`"
    if worker.blocked.kind == "auth":
        return Trouble("blocked", what, f"`llmc attach {worker.name}` and log in, then {go_on}")
    return Trouble("blocked", what, f"{go_on} when it is over")


BLOCKED_WORDS = {
    "rate_limit": "its rate limit is used up",
    "auth": "it is not logged in",
    "api": "its provider fails",
    "network": "it has no connection to its provider",
}


def _until(blocked: Blocked, now: float) -> str:
    if blocked.until_unix is None:
        return f" (since {age(now - blocked.since_unix)})"
    return f" (for {age(blocked.until_unix - now)} more)" if blocked.until_unix > now else " (until just now)"


def _session(worker: Worker, policy: Policy, now: float) -> Trouble | None:
    if worker.session is Session.UP or worker.pending or worker.stopped_by_user or worker.blocked is not None:
        return None
    if RESTART in worker.timers and policy.recovers:
        return Trouble("crashed", _ended(worker), f"it is restarted in {age(worker.timers[RESTART] - now)}")
    again = f"`llmc restart {worker.name}` starts it again"
    if worker.work is Work.ERROR:
        return Trouble("error", f"it has stopped with an error: {worker.evidence.detail}", again)
    if worker.session is Session.CRASHED:
        return Trouble("crashed", _ended(worker), again)
    return Trouble("offline", "its session has ended", again) if worker.work is not Work.IDLE else None


def _ended(worker: Worker) -> str:
    times = f", {worker.crash_count} times by now" if worker.crash_count > 1 else ""
    return f"its agent has ended unexpectedly{times}"


def _stuck(worker: Worker, screen: str | None, policy: Policy, now: float) -> Trouble | None:
    at_work = worker.work in (Work.WORKING, Work.REJECTED) and worker.session is Session.UP and not worker.pending
    silent = now - worker.last_activity_unix
    if not at_work or silent < min(policy.quiet_after_secs, policy.nudge_after_secs):
        return None
    if screen == "NEEDS_CONFIRMATION":
        answer = f"`llmc peek {worker.name}`, then `llmc answer {worker.name} ...`"
        return Trouble("dialog", "its screen shows a dialog", answer)
    go_on = f"`llmc peek {worker.name}`, then `llmc message {worker.name} ...`"
    if screen == "ERROR":
        return Trouble("failed", "its screen shows an error", go_on)
    if screen == "READY" or (screen is None and worker.turn is Turn.OVER):
        return Trouble("ready", f"it counts as {worker.work.value}, but seems to be ready since {age(silent)}", go_on)
    if silent >= policy.nudge_after_secs:
        return Trouble("silent", f"it gives no sign of life for {age(silent)}", go_on)
    return None
