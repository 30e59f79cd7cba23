"""What LLMC itself says to agents when something has gone wrong."""

from __future__ import annotations

from llmc.core.display import counted

LOOK_FIRST = "Look at `git status`, `git diff` and `git log` first to see how far you got"


def repeated_prompt(text: str) -> str:
    """The task once more, for an agent that has lost the conversation about it."""
    return (
        f"{text.rstrip()}\n"
        "\n"
        "Note: the session ended while you worked on this, and the conversation is lost. Parts of the work may be\n"
        f"there already. {LOOK_FIRST}, keep what is good, and go on from there.\n"
    )


def resumed_prompt() -> str:
    """For an agent that has its conversation again."""
    return (
        "Note: the session ended while you worked, and was started again with this conversation.\n"
        f"{LOOK_FIRST}, then go on with the task and finish it as asked.\n"
    )


def feedback_again(task: str, feedback: str) -> str:
    return (
        f"{task.rstrip()}\n"
        "\n"
        "You have done this task once, and a reviewer has sent the work back. The feedback:\n"
        "\n"
        f"{feedback.strip() or '(it is lost; look at what the last commit does, and ask)'}\n"
        "\n"
        "Change the work accordingly and commit the result.\n"
    )


def unblocked_prompt(kind: str) -> str:
    what = {
        "rate_limit": "The rate limit that stopped you should be over.",
        "network": "The connection that you lost should be there again.",
    }.get(kind, "The provider that failed should answer again.")
    return f"{what} {LOOK_FIRST}, then go on with the task and finish it as asked.\n"


def budget_prompt() -> str:
    """For an agent whose person lets it spend more."""
    return f"You were stopped because the budget was spent, and may go on now. {LOOK_FIRST}, then finish the task.\n"


def first_nudge(silent_secs: float) -> str:
    return (
        f"Status check: there was no sign of progress for {_minutes(silent_secs)}. "
        "Are you getting on, or does something block you? Please say briefly how it stands, then go on.\n"
    )


def second_nudge(left_secs: float) -> str:
    return (
        f"This task will be flagged for a person if nothing happens within {_minutes(left_secs)}. "
        "If you are blocked, say what blocks you. If you are still at it, commit what you have so far.\n"
    )


def _minutes(secs: float) -> str:
    return counted(max(1, round(secs / 60)), "minute")
