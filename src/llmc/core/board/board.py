"""The board: who needs a person and why, in the order of urgency. Every face draws this, and none decides anything.

Made of the document of `llmc status --json`. Light on imports: `llmc status` draws it, too.
"""

from __future__ import annotations

from llmc.core.board.actions import task_actions, worker_actions
from llmc.core.display import age, one_line
from llmc.core.lifecycle.signal_words import reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from llmc.core.board.shapes import Board, Card, Column, ColumnName, ConflictToCome, Head

COLUMNS = {
    "needs_you": "Needs you",
    "review": "Review",
    "working": "Working",
    "queued": "Queued",
    "landing": "Landing",
    "idle": "Idle",
}
"""Named after the person's next act, the most urgent first."""
WAITS_FOR_PERSON = ("needs_input", "needs_review", "error")
SCREEN_WORDS = {"NEEDS_CONFIRMATION": "asks", "READY": "ready", "BUSY": "busy", "ERROR": "failed"}
FOR_A_PERSON = ("auth",)
"""What keeps an agent from working and does not go away by itself."""
TITLE_WIDTH = 100


def board_of(document: dict[str, Any]) -> Board:
    in_train = {each["worker"]: n for n, each in enumerate(document["train"]["entries"])}
    workers = document["workers"]
    cards = [worker_card(each, document, in_train=each["name"] in in_train) for each in workers]
    cards += [_task_card(each) for each in document["tasks"]]
    order = _order(cards, in_train)
    return {"head": _head(document, cards), "columns": _columns(order), "cards": {card["key"]: card for card in order}}


def _head(document: dict[str, Any], cards: list[Card]) -> Head:
    return {
        "root": document["root"],
        "branch": document["branch"],
        "daemon": document["daemon"]["running"],
        "waiting": sum(card["column"] in ("needs_you", "review") for card in cards),
        "landings": [_landing_line(each) for each in document["landings"]],
        "task_counts": document["task_counts"],
        "train_paused": document["train"]["paused"],
    }


# --- the cards --------------------------------------------------------------------------------------


def worker_card(worker: dict[str, Any], document: dict[str, Any], *, in_train: bool) -> Card:
    evidence = worker.get("evidence") or {}
    return {
        "key": f"worker/{worker['name']}",
        "kind": "worker",
        "column": _column_of(worker, in_train=in_train),
        "title": one_line((worker["current_prompt"] or "").strip().partition("\n")[0], TITLE_WIDTH),
        "worker": worker["name"],
        "task": worker.get("task"),
        "agent": worker["agent"],
        "machine": worker.get("machine"),
        "status": _status_words(worker),
        "state": worker["status"],
        "screen": SCREEN_WORDS.get(worker["attention"]["state"], ""),
        "does": _in_train(worker["name"], document["train"]) if in_train else _does(worker),
        "since_unix": float(evidence.get("at_unix") or worker.get("last_activity_unix") or 0.0),
        "until_unix": (worker.get("blocked") or {}).get("until_unix"),
        "asked": worker.get("asked"),
        "checks": _checks(worker),
        "conflicts": _to_come(worker, document),
        "troubles": [f"{each['what']}; {each['do']}" for each in worker.get("troubles") or ()],
        "last_words": worker.get("last_words"),
        "usage": worker.get("usage"),
        "actions": worker_actions(worker, in_train=in_train),
    }


def _task_card(task: dict[str, Any]) -> Card:
    state = str(task["state"])
    waits = f"comes after {', '.join(task['after'])}" if task.get("after") else "waits for a worker"
    return {
        "key": f"task/{task['id']}",
        "kind": "task",
        "column": "needs_you" if state == "failed" else "queued",
        "title": one_line(task["title"] or "", TITLE_WIDTH),
        "worker": None,
        "task": task["id"],
        "agent": None,
        "machine": None,
        "status": state,
        "state": state,
        "screen": "",
        "does": task.get("reason") or (waits if state == "queued" else ""),
        "since_unix": 0.0,
        "until_unix": None,
        "asked": None,
        "checks": "",
        "conflicts": [],
        "troubles": [],
        "last_words": None,
        "usage": None,
        "actions": task_actions(state),
    }


def _column_of(worker: dict[str, Any], *, in_train: bool) -> ColumnName:
    if in_train:
        return "landing"
    if _needs_person(worker):
        return "needs_you"
    if worker["work"] == "needs_review":
        return "review"
    if worker["session"] in ("down", "crashed") or worker["work"] == "idle":
        return "idle" if worker["session"] != "starting" else "working"
    return "working"


def _needs_person(worker: dict[str, Any]) -> bool:
    """By its work, or by what its terminal shows: a dialog, or a failure that nobody reported."""
    if worker["status"] in ("needs_input", "error") or worker["session"] == "crashed":
        return True
    if (worker.get("blocked") or {}).get("kind") in FOR_A_PERSON:
        return True
    is_live = worker["session"] in ("up", "starting") and worker["work"] != "needs_review"
    return is_live and worker["attention"]["state"] in ("NEEDS_CONFIRMATION", "ERROR") and not worker.get("blocked")


def _status_words(worker: dict[str, Any]) -> str:
    """With what it hides: the work of one that is offline, why one stands still."""
    status, work, blocked = str(worker["status"]), worker["work"], worker.get("blocked")
    if worker.get("unheard_secs") is not None:
        return f"{status} {age(worker['unheard_secs'])} ({work})"
    if worker["session"] == "starting" and status != "needs_input":
        status = "starting"
    hidden = f" ({work})" if worker["status"] == "offline" and work != "idle" else ""
    if blocked:
        hidden = f" ({str(blocked.get('kind')).replace('_', ' ')})"
    if worker["session"] == "up" and worker.get("turn") == "unknown" and not worker.get("reports_events"):
        hidden += " (no reports)"  # it was given a text and reported nothing
    return status + hidden


def _does(worker: dict[str, Any]) -> str:
    """What is asked says more than any signal."""
    asked = worker.get("asked")
    if asked and worker["attention"]["state"] in ("NEEDS_CONFIRMATION", "UNKNOWN"):
        options = "; ".join(f"{n} {words}" for n, words in enumerate(asked["options"], 1))
        question = " ".join(str(asked["text"]).split("\n")[-1:])
        return f"asks: {question}" + (f" ({options})" if options else "")
    evidence = worker.get("evidence") or {}
    return reason(str(evidence.get("signal") or ""), str(evidence.get("detail") or ""))


def _in_train(name: str, train: dict[str, Any]) -> str:
    """Accepted already: what became of its work before does not matter any more."""
    entry = next(each for each in train["entries"] if each["worker"] == name)
    words = f"in the merge train, {entry.get('detail') or entry['state']}"
    return f"{words}: the train is paused" if train["paused"] and entry["state"] == "waiting" else words


def _checks(worker: dict[str, Any]) -> str:
    state = str((worker.get("checks") or {}).get("state") or "")
    return state if state in ("passed", "failed", "running") else ""


def _to_come(worker: dict[str, Any], document: dict[str, Any]) -> list[ConflictToCome]:
    """Conflicts that nobody has met yet; only a daemon keeps looking for them."""
    conflicts = worker.get("conflicts")
    if not conflicts or worker["work"] == "rebasing" or not document["daemon"]["running"]:
        return []
    branch = document["branch"] or "the branch"
    with_branch: ConflictToCome = {"with": branch, "worker": None, "files": list(conflicts["with_branch"])}
    with_workers: list[ConflictToCome] = [
        {"with": name, "worker": name, "files": list(files)} for name, files in conflicts["with_workers"].items()
    ]
    return [each for each in (with_branch, *with_workers) if each["files"]]


def _landing_line(landing: dict[str, Any]) -> str:
    where = landing["checkout"] or landing["source"]
    return (
        f"landing the work of {', '.join(landing['workers'] or ['?'])} onto {landing['branch']} was cut short:"
        f" {where} may show changes that you did not make; `llmc doctor --repair` takes them back"
    )


# --- their order ------------------------------------------------------------------------------------


def _order(cards: list[Card], in_train: dict[str, int]) -> list[Card]:
    """Who waits longest comes first; tasks stay as the queue has them, the train in its order, who is idle by name."""
    columns = list(COLUMNS)

    def rank(card: Card) -> tuple[int, int, float, str]:
        column = card["column"]
        within = 0.0 if column in ("queued", "idle") else card["since_unix"]
        if column == "landing":
            within = float(in_train.get(card["worker"] or "", 0))
        return columns.index(column), _pressing(card), within, "" if column == "queued" else card["key"]

    return sorted(cards, key=rank)


def _pressing(card: Card) -> int:
    """Of those who need a person: an agent that asks stands still, one that failed may have more to lose."""
    return 0 if card["asked"] else 2 if card["kind"] == "task" else 1


def _columns(order: Iterable[Card]) -> list[Column]:
    keys: dict[str, list[str]] = {name: [] for name in COLUMNS}
    for card in order:
        keys[card["column"]].append(card["key"])
    return [{"name": name, "label": COLUMNS[name], "keys": keys[name]} for name in keys]  # type: ignore[typeddict-item]
