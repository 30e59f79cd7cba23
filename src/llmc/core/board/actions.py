"""What a person can do about a card as it is now. Light on imports."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from llmc.core.board.shapes import Action

LABELS = {
    "answer": "Answer",
    "review": "Review",
    "accept": "Accept",
    "reject": "Send back",
    "comment": "Comment",
    "start": "Give a task",
    "message": "Send a message",
    "interrupt": "Interrupt",
    "attach": "Open its terminal",
    "restart": "Restart",
    "drop": "Take out of the train",
    "release": "Release",
    "hold": "Hold",
    "edit": "Edit",
    "cancel": "Cancel",
    "retry": "Try again",
    "explain": "Explain",
}


def worker_actions(worker: dict[str, Any], *, in_train: bool) -> list[Action]:
    """In the order in which a person would want them."""
    session, work, asked = worker["session"], worker["work"], worker.get("asked")
    if worker.get("unheard_secs") is not None:
        return _named({"explain": True})  # whatever it does, nobody can tell it anything
    is_up = session == "up"
    in_review = work == "needs_review"
    offered = {
        "answer": bool(asked) and session in ("up", "starting"),
        "release": work == "needs_input" and bool(worker.get("task")) and _signal(worker) == "budget",
        "review": in_review,
        "accept": in_review and not in_train,
        "reject": in_review and is_up,
        "comment": in_review,
        "start": worker["status"] == "idle" and is_up and not asked,
        "message": is_up and not asked,
        "interrupt": is_up and work in ("working", "rejected", "rebasing"),
        "drop": in_train,
        "restart": work == "error" or session in ("down", "crashed"),
        "attach": session in ("up", "starting"),
        "explain": True,
    }
    return _named(offered)


def _signal(worker: dict[str, Any]) -> str | None:
    return (worker.get("evidence") or {}).get("signal")


def task_actions(state: str) -> list[Action]:
    offered = {
        "release": state == "held",
        "retry": state in ("failed", "cancelled"),
        "edit": state in ("queued", "held"),
        "hold": state == "queued",
        "cancel": state in ("queued", "held", "failed"),
    }
    return _named(offered)


def _named(offered: dict[str, bool]) -> list[Action]:
    return [{"name": name, "label": LABELS[name]} for name, is_offered in offered.items() if is_offered]
