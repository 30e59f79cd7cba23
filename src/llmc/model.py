"""The values that every room speaks of: workers, their two axes, evidence, receipts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from llmc.values import Value

SCHEMA = 1

Json = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


class Work(StrEnum):
    """What the worker is doing for its user. Survives every loss of the session."""

    IDLE = "idle"
    WORKING = "working"
    NEEDS_INPUT = "needs_input"
    NEEDS_REVIEW = "needs_review"
    REJECTED = "rejected"
    REBASING = "rebasing"
    ERROR = "error"


class Session(StrEnum):
    """Whether the agent's terminal runs."""

    UP = "up"
    STARTING = "starting"
    DOWN = "down"
    CRASHED = "crashed"


class Turn(StrEnum):
    """Whether the agent is in the middle of a turn, as far as its own reports tell."""

    OPEN = "open"
    OVER = "over"
    UNKNOWN = "unknown"


class Autonomy(StrEnum):
    """How much LLMC may do without being asked."""

    MANUAL = "manual"
    ASSIST = "assist"
    AUTO = "auto"


class Outcome(StrEnum):
    """What became of a text that was sent to an agent."""

    DELIVERED = "delivered"
    QUEUED = "queued"
    UNDELIVERED = "undelivered"
    UNKNOWN = "unknown"


class Proof(StrEnum):
    """What shows that the agent has the text, best first."""

    HOOK = "hook"
    TRANSCRIPT = "transcript"
    COMPOSER = "composer"
    NONE = "none"


class Evidence(Value):
    """Why the worker is in its state: which signal said so, with what content, when."""

    signal: str
    at_unix: float
    detail: str = ""


class Step(Value):
    """An effect that was decided and not yet finished, as it is kept in the state file."""

    id: str
    name: str
    args: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    begun: bool = False


class Receipt(Value):
    """The proof of a delivery."""

    outcome: Outcome
    proof: Proof
    attempts: int
    elapsed_ms: int
    bytes: int
    sha256: str
    reason: str = ""


class Sent(Value):
    """A text for the agent's present session of which the agent has not said that it works on it."""

    words: str
    """How it begins."""
    digests: tuple[str, ...]
    queued: bool = False
    """It waits in the agent's own queue, and would be lost with the session."""
    heard: bool = False
    """The agent has reported it, while another turn was open."""


class Reviewed(Value):
    """What `llmc review` has shown last of the present task."""

    commit: str
    tree: str
    base: str
    """Where the work began."""


class Blocked(Value):
    """Something outside keeps the agent from working: no crash, and no work either."""

    kind: str
    """`rate_limit`, `auth`, `api` or `network`."""
    since_unix: float
    until_unix: float | None = None
    """When it is over, where that is known."""


class Worker(Value):
    """One agent with its worktree, branch and session."""

    name: str
    worktree_path: str
    branch: str
    session_id: str
    agent: str
    created_at_unix: float
    last_activity_unix: float
    work: Work = Work.IDLE
    session: Session = Session.DOWN
    turn: Turn = Turn.UNKNOWN
    current_prompt: str = ""
    task: str = ""
    """The id of the task that it has: this alone says who works on a task."""
    base_sha: str | None = None
    commit_sha: str | None = None
    rejected_sha: str | None = None
    """The commit that a reviewer sent back: seeing it again is not rework."""
    reviewed: Reviewed | None = None
    """None when nobody has looked at work of this task yet."""
    resume_work: Work | None = None
    """What to return to when the error is fixed or the rebase is over."""
    reports_events: bool = False
    """Whether this agent was seen to report its own events."""
    launch: str = ""
    """The id of the agent's present session, given to it when it was started: its reports carry it."""
    launched_at_unix: float | None = None
    took_up: str = ""
    """The earlier conversation that the present session was started with."""
    stopped_by_user: bool = False
    crash_count: int = 0
    last_crash_unix: float | None = None
    rebase_started_at_unix: float | None = None
    conflicted_files: tuple[str, ...] = ()
    worktree_lost: bool = False
    """Somebody has removed its worktree: it is made again with the next start of its agent."""
    set_up: bool = False
    """`[repo] setup` and `submodules` have succeeded in its worktree."""
    ports: tuple[int, ...] = ()
    """Those that are its own for as long as it lives."""
    resolution_attempts: int = 0
    pending: tuple[Step, ...] = ()
    timers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Wake-ups that were asked for, by name, with the time when they are due."""
    step_count: int = 0
    heard_prompts: tuple[str, ...] = ()
    """Digests of the prompts that the agent itself has reported since the last one was sent to it, newest last."""
    sent: tuple[Sent, ...] = ()
    leftover: str = ""
    """What LLMC has typed last and could not see submitted: it may still stand in the agent's input line."""
    conversation: str = ""
    """The agent's own name of the conversation about the task, where it tells one: it can be resumed by that."""
    last_words: str = ""
    """The last sentence that the agent said in its last turn; empty while a turn is open."""
    feedback: str = ""
    """What the reviewer said when the work was sent back."""
    round: int = 0
    """The last round of review that was sent to its agent: this alone says which comments it has."""
    blocked: Blocked | None = None
    retries: int = 0
    """How often the agent was let go on after it was blocked, without a turn that ended well since."""
    nudges: int = 0
    """How often somebody was told that the agent gives no sign of life, since its last one."""
    nudged_at_unix: float | None = None
    """When that was done the last time: what comes next has its time from there on."""
    kept_reports: tuple[str, ...] = ()
    """Marks of the reports that came into this record last: their files may still lie in the spool."""
    start_dialog: str = ""
    """What its agent asks before it takes a prompt; empty when nothing stands in the way of its start."""
    hint: str = ""
    """What an empty input line of its agent shows, where no pack knows that."""
    evidence: Evidence = Evidence("created", 0.0)

    @property
    def status(self) -> str:
        return status_of(self.work, self.session, self.start_dialog)


def status_of(work: str, session: str, start_dialog: str = "") -> str:
    """The word that users see. A session that is down hides the work, it does not erase it.

    An error stays visible: it is usually the reason why there is no session. So does a question at the start.
    """
    if session == "starting" and start_dialog:
        return "needs_input"
    return "offline" if session in ("down", "crashed") and work != "error" else str(work)


class Clock(Value):
    """What time it was, by two clocks: only the first can be moved."""

    unix: float
    up_secs: float = 0.0
    """Since the machine was started."""
    boot: str = ""
    """Which start of the machine that was; empty where nobody can tell."""
    ahead_secs: float = 0.0
    """By how much the first was put forward in all: time that may not have gone by."""


class State(Value):
    """Everything that `state.json` holds."""

    workers: Mapping[str, Worker] = field(default_factory=lambda: MappingProxyType({}))
    last_reviewed_worker: str | None = None
    patrol_last_run_unix: float | None = None
    clock: Clock | None = field(default=None, compare=False)
    """When it was written; the times in it are to be understood by that."""
