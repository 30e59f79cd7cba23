"""What each signal means to a person. Light on imports: `llmc status` says it."""

from __future__ import annotations

SIGNAL_WORDS = {
    "created": "new",
    "command.add": "new",
    "command.start": "was given its task",
    "command.message": "was sent a message",
    "command.answer": "its question was answered",
    "command.review": "you looked at its work",
    "command.reject": "its work was sent back",
    "command.accept": "its work is being accepted",
    "command.rebase": "its work is brought up to date",
    "command.reset": "is being reset",
    "command.up": "is being started",
    "command.down": "was stopped by you",
    "command.nuke": "is being removed",
    "hook.prompt": "has read its task",
    "hook.activity": "uses a tool",
    "hook.permission": "asks for a permission",
    "hook.question": "asks a question",
    "hook.turn_end": "has ended its turn",
    "hook.failure": "its turn has failed",
    "interrupted": "its turn was interrupted",
    "budget": "its budget is spent",
    "git.commit": "has committed",
    "git.elsewhere": "has committed on another branch",
    "worktree.gone": "its worktree is gone",
    "worktree.found": "its worktree is back",
    "worktree.replaced": "its worktree is made again",
    "ports": "was given its ports",
    "backup.restored": "a backup was restored",
    "git.commits_gone": "its commits are gone",
    "git.conflicts_changed": "resolves conflicts",
    "checks": "its work was checked",
    "git.resolved": "has resolved its conflicts",
    "git.rebase_aborted": "has given up the rebase",
    "screen": "its screen says so",
    "screen.dialog": "its screen shows a dialog",
    "screen.moved": "its screen moves",
    "policy.auto_confirm": "its dialog was answered by a rule of yours",
    "process.exit": "its agent has ended",
    "session.gone": "its terminal is gone",
    "session.found": "its terminal is there again",
    "timer": "a wait is over",
    "silence": "no sign of life",
    "step.begun": "is being worked on",
    "setup": "sets up its worktree",
    "setup.done": "its worktree is set up",
    "setup.failed": "its worktree was not set up",
    "session.launched": "its agent is starting",
    "session.ready": "its agent is up",
    "session.asks": "its agent asks something before it starts",
    "session.failed": "its agent did not start",
    "session.stopped": "its agent was stopped",
    "delivery": "has its text",
    "git.rebased": "is up to date",
    "git.conflict": "has conflicts",
    "git.resolution": "its conflicts are resolved",
    "git.merged": "its work is merged",
    "hub.landed": "its work has landed at the hub",
    "git.merge_refused": "its work was not merged",
    "git.reset": "begins anew",
    "step.failed": "something failed",
}

NOT_SAID_ALONE = frozenset(
    ("command.answer", "git.conflict", "git.conflicts_changed", "hook.activity", "hook.prompt", "ports", "setup")
)
"""Their detail is a bare name or word."""


def reason(signal: str, detail: str) -> str:
    words = SIGNAL_WORDS.get(signal, signal)
    if not detail or (signal == "delivery" and detail.startswith("proof: ")):
        return words
    return f"{words}: {detail}" if signal in NOT_SAID_ALONE else detail
