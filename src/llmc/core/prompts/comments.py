"""The comments of a round as an agent gets them: all at once, each with the lines that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llmc.core.prompts.task import fenced
from llmc.core.tasks.rounds import Became, Comment, Fate, place_now


def round_feedback(message: str, comments: Sequence[Comment], fates: Mapping[int, Fate]) -> str:
    said = [message.strip()] if message.strip() else []
    return "\n\n".join([*said, *(_comment(each, fates[each.number]) for each in comments)])


def _comment(comment: Comment, fate: Fate) -> str:
    quoted = fenced("\n".join(comment.quoted))
    return f"Comment {comment.number}, on {_place(comment, fate)}:\n{quoted}{comment.text.strip()}"


def _place(comment: Comment, fate: Fate) -> str:
    """Where the agent finds the lines: they may have moved since they were read."""
    if fate.became is Became.UNTOUCHED:
        return place_now(fate)
    return f"{comment.place} as it was in commit {comment.commit_sha[:12]}"
