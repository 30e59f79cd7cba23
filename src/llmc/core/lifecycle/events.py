"""Everything that can happen to a worker. Time arrives inside the event.

Three families: what a user asks (may be refused), what was observed (never refused: facts are
facts), and what came of an effect (`step` names the effect that is finished by it).
"""

from __future__ import annotations

from llmc.model import Outcome, Proof
from llmc.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.core.tasks.rounds import Round


class Event(Value):
    at: float


# --- what a user asks --------------------------------------------------------------------------


class UserCommand(Event):
    """May be illegal in the state that the worker is in."""


class TaskGiven(UserCommand):
    prompt: str
    text: str
    """The prompt as the agent gets it, preamble included."""
    task: str = ""
    """Its id in the queue; empty for one that is made with this."""
    by_name: bool = False
    """A person wanted this very worker for one that is made with this."""
    request: str = ""
    """What the hub of this machine calls it, where that asks for it."""


class MessageGiven(UserCommand):
    text: str
    why: str = ""
    """What LLMC itself sends it for; empty when a person does."""


class AnswerGiven(UserCommand):
    """A person answered the agent's open dialog."""

    choice: str


class ReviewOpened(UserCommand):
    """A person sees the work as it is in this commit."""

    commit: str
    tree: str
    base: str


class WorkRejected(UserCommand):
    text: str
    """The feedback as the agent gets it, diff included."""
    feedback: str = ""
    """What the reviewer said, alone."""
    round: Round | None = None
    """Kept before it is sent; None for work that nobody but LLMC itself sends back."""


class AcceptAsked(UserCommand):
    message: str | None = None
    changed: bool = False
    """Also what has changed since its review."""
    tree: str | None = None
    """Only this very tree, by the first digits of its name."""
    unattended: bool = False
    """Nobody asks: it may land by itself, if its checks pass."""


class LandedAtHub(UserCommand):
    """The hub of this machine has landed the work, as this commit."""

    sha: str
    reviewed: bool
    unattended: bool = False


class RebaseAsked(UserCommand):
    onto: str


class ResetAsked(UserCommand):
    gives_up: bool = False
    """LLMC itself takes the task away, which somebody else may get then."""


class StartAsked(UserCommand):
    """The session is to be brought up."""

    named: bool = False
    """A person asked for this worker, and not for everybody: what it failed at may be tried again."""


class StopAsked(UserCommand):
    """The session is to be ended, deliberately."""

    force: bool = False


class RemovalAsked(UserCommand):
    pass


# --- what was observed -------------------------------------------------------------------------


class Fact(Event):
    """Never illegal."""


class PromptHeard(Fact):
    """The agent reports that it accepted a prompt."""

    sha256: str
    conversation: str = ""
    """The agent's own name of the conversation that it belongs to."""
    outlived: bool = False
    """It is of a session that has ended: it proves that the text had arrived there, and nothing else."""


class ActivityHeard(Fact):
    """The agent reports that it uses a tool: it is at work."""

    tool: str = ""


class PermissionWanted(Fact):
    what: str


class QuestionAsked(Fact):
    what: str


class TurnEnded(Fact):
    """The agent stopped talking. What git shows at that moment decides what it means."""

    commit: str | None
    """The branch's tip when it holds work that the base does not have."""
    dirty: bool = False
    background: bool = False
    """Shells or sub-agents of this turn still run: busy, not done."""
    elsewhere: str = ""
    """Where commits of the worktree are that its branch does not have; empty when there are none."""
    rebase_over: bool = False
    """The worker is in a rebase that git knows nothing of any more: what came of it is told by git itself."""
    said: str = ""
    """What the agent said last, as far as it tells or its screen shows."""
    foreign: str = ""
    """Why git in the worktree is not LLMC's any more; empty when it is."""


class TurnFailed(Fact):
    """The agent gave the turn up: rate limit, login, network, the provider."""

    kind: str
    message: str = ""
    until: float | None = None
    """When it is over, where the agent says so."""


class TurnInterrupted(Fact):
    """Somebody ended the turn on purpose: a key in the terminal, or `llmc interrupt`. It is their turn now."""

    told_by: str
    """What shows it: `report`, `screen`, or `you` for the command."""
    commit: str | None = None
    """As in `TurnEnded`."""


class BudgetSpent(Fact):
    """Its turn was ended because there is no money, or there are no tokens, left for it."""

    why: str
    how: str
    """What lets it go on."""
    commit: str | None = None
    """As in `TurnEnded`."""


class CommitSeen(Fact):
    """The worker's branch holds work that its base does not have."""

    sha: str


class CommitElsewhere(Fact):
    """There is work in the worktree, but not on the worker's branch."""

    sha: str
    where: str
    """`a detached HEAD`, or which branch."""


class WorktreeLost(Fact):
    """Its directory is no more. An agent that runs in it goes on nowhere."""


class WorktreeFound(Fact):
    """It is there again."""


class WorkRestored(Fact):
    """What a backup kept is in the worktree again."""

    task: str
    """What it was made for."""
    commit: str | None
    """As in `TurnEnded`."""
    task_id: str = ""
    """Its id in the queue, if the worker is to have it again."""


class CommitsGone(Fact):
    """The work that waited for review is no longer ahead of the branch: merged elsewhere, or taken back."""

    reason: str


class ScreenRead(Fact):
    """A stable reading of the screen."""

    state: str
    detail: str | None = None
    confident: bool = False
    said: str = ""
    """What stands above its input line."""
    rested: bool = False
    """It was seen at work before, or has been like this for long: an agent may be slow to begin."""
    foreign: str = ""
    """As in `TurnEnded`."""
    until: float | None = None
    """When the limit that it shows is over, if it says that."""


class DialogSeen(Fact):
    """A dialog is open on the screen that the agent itself has not told of."""

    asked: str
    """With its options, in a line."""


class DialogConfirmed(Fact):
    """Its dialog was answered unasked, by a rule of the person's."""

    what: str


class ConflictsChanged(Fact):
    """The rebase goes on: these are the files that are in conflict now."""

    files: tuple[str, ...]


class ChecksRan(Fact):
    """The repository's own checks ran on what would land of this commit of the worker's."""

    commit: str
    failed: str = ""
    """What failed, in words; empty when all of them passed."""


class ScreenMoved(Fact):
    """Something goes on in the terminal: a sign of life, whatever it means."""


class ConflictsResolved(Fact):
    """The rebase that had stopped for conflicts is over, by git's own account."""

    sha: str | None
    """None when nothing is left of the work: its commits were skipped."""
    base: str
    dropped: int = 0
    """How many of its commits are no more."""


class RebaseAborted(Fact):
    """The rebase is over and the branch is where it was."""

    sha: str | None
    quit: bool = False
    """Git was told to forget the rebase: the worktree stands somewhere in the middle of it."""


class AgentExited(Fact):
    """The agent's process ended. `code` is None when the exit status could not be learned."""

    code: int | None
    signal: int | None = None
    last_words: str = ""
    until: float | None = None
    """When a limit that ended it is over, where it says so."""


class SessionVanished(Fact):
    """The session is gone from tmux, or tmux itself is."""

    while_away: bool = False
    """Nobody looked after it at that time: a reboot, for one."""


class SessionFound(Fact):
    """The session runs: adopted after a restart of the daemon."""

    reports_events: bool


class SilenceLasted(Fact):
    """The agent is at work as far as we know, and there was no sign of life from it for long."""

    may_be_asked: bool = True
    """Whether it takes prose at all."""


class Woke(Fact):
    """A timer that was asked for is due."""

    timer: str


# --- what came of an effect --------------------------------------------------------------------


class StepResult(Event):
    step: str


class StepBegun(StepResult):
    """From here on the effect may have happened, whatever becomes of the process."""


class SessionLaunched(StepResult):
    """The agent is about to be started: from here on only reports of this session count."""

    launch: str
    takes_up: str = ""
    """The earlier conversation that it is started with."""


class SessionReady(StepResult):
    reports_events: bool
    resumed: bool = False
    """The agent has its conversation from before."""
    go_on: str = ""
    """What lets it go on with its work, as the agent gets it; empty when it had none."""
    hint: str = ""
    """What its empty input line shows, where no pack knows that."""


class StartWaits(StepResult):
    """The agent runs and asks something before it takes a prompt. The step stays: the start goes on with the answer."""

    asked: str
    """In words; empty when the question is gone and the start goes on."""
    options: str = ""
    advice: str = ""


class SessionFailed(StepResult):
    reason: str
    last_words: str = ""
    hopeless: bool = False
    """Trying again would end the same way: it is not installed, or only the person can log in."""


class SessionStopped(StepResult):
    pass


class TextSent(StepResult):
    outcome: Outcome
    proof: Proof
    reason: str = ""
    refused: bool = False
    """Nothing was typed at all: the agent was not in a state to take it."""
    leftover: str = ""
    """What was typed and may still stand in the input line."""


class RebaseClean(StepResult):
    sha: str | None
    base: str
    joined: bool = False
    """Its commits became one, because replayed one by one they would have lost something."""


class RebaseConflicted(StepResult):
    files: tuple[str, ...]
    text: str
    """The request to resolve them, as the agent gets it; empty when the rebase turned out to be over already."""
    for_person: bool = False
    """The agent takes no request: its person resolves them."""
    joined: bool = False
    """As in `RebaseClean`."""
    began_at: str = ""
    """The tip of the branch as the rebase found it, where git knows it: other commits if they were joined for it."""


class ResolutionChecked(StepResult):
    """What is wrong with the resolved conflicts, and the request to fix it; both empty when all is well."""

    problem: str = ""
    text: str = ""


class WorkMerged(StepResult):
    sha: str
    reviewed: bool = False
    """Whether somebody has seen just this work before."""
    message: str = ""
    """The commit's, if it was made just now."""
    unattended: bool = False


class MergeRefused(StepResult):
    """The work could not be merged, and everything is as it was."""

    reason: str


class WorktreeReset(StepResult):
    base: str


class StepFailed(StepResult):
    reason: str
