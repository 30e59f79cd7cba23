"""What was last heard of each machine, as `llmc status` shows it. Light on imports: status lines ask this.

A machine tells its times by its own clock. They are moved to ours when they come in, so that an age is as old as the
machine says, and two machines' clocks are never compared.
"""

from __future__ import annotations

import os

from llmc.store.snapshot import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from llmc.root import Root

OK, UNREACHABLE, LOST, STARTING, ENDED = "ok", "unreachable", "lost", "starting", "ended"


def read_known(root: Root) -> list[dict[str, Any]]:
    """By name; nothing where the root is no hub."""
    try:
        names = sorted(name for name in os.listdir(root.known_machines) if name.endswith(".json") and name[0] != ".")
    except OSError:
        return []
    found = (read_object(os.path.join(root.known_machines, name)) for name in names)
    return [each for each in found if each]


def machines_told(known: list[dict[str, Any]], now: float, *, heeded: bool) -> list[dict[str, Any]]:
    """The machines of `llmc machine list --json`. `heeded`: somebody keeps listening to them."""
    return [
        {
            **{key: each.get(key) for key in ("name", "reach", "labels", "slots", "state", "load")},
            "why": each.get("why") or _idle_daemon(each),
            "age_secs": _age(each, now, heeded=heeded),
            "workers": [worker["name"] for worker in (each.get("document") or {}).get("workers", ())],
        }
        for each in known
    ]


def _idle_daemon(each: dict[str, Any]) -> str | None:
    daemon = (each.get("document") or {}).get("daemon")
    is_down = each.get("state") == OK and daemon and not daemon["running"]
    return f"its daemon does not run: `llmc machine check {each['name']}` starts it" if is_down else None


def _age(each: dict[str, Any], now: float, *, heeded: bool) -> float | None:
    """How old what is known is. Who is listened to has told everything up to now."""
    heard = each.get("heard_unix")
    if each.get("state") == OK and heeded:
        return 0.0
    return round(max(0.0, now - heard), 1) if isinstance(heard, int | float) else None


def workers_told(known: list[dict[str, Any]], taken: set[str], now: float, *, heeded: bool) -> list[dict[str, Any]]:
    """The workers of all machines as their machines have told them. `taken`: the names that workers here have."""
    names, told = set(taken), []
    for each in known:
        age = _age(each, now, heeded=heeded) or 0.0
        for worker in (each.get("document") or {}).get("workers", ()):
            shown = _aged(worker, age)
            shown["machine"] = each["name"]
            shown["task"] = task_of(worker)
            if worker["name"] in names:
                shown["name"] = f"{worker['name']}@{each['name']}"
            if each.get("state") != OK:
                shown["status"], shown["unheard_secs"] = each.get("state") or UNREACHABLE, age
            names.add(shown["name"])
            told.append(shown)
    return told


def task_of(worker: dict[str, Any]) -> str | None:
    """The task of the hub that it is at: the hub has named its request after it. Its machine's own name for it says
    nothing here."""
    request = worker.get("request") or ""
    return str(request).partition(".")[0] or None


def machine_of(root: Root, worker: str) -> tuple[str, str] | None:
    """The machine that has a worker of that name, and what the worker is called there."""
    bare, at, wanted = worker.partition("@")
    for each in read_known(root):
        names = [known["name"] for known in (each.get("document") or {}).get("workers", ())]
        if bare in names and (not at or wanted == each["name"]):
            return str(each["name"]), bare
    return None


def moved(value: Any, by: float) -> Any:  # noqa: ANN401 - that is what JSON is
    """With every time in it moved by so many seconds."""
    if isinstance(value, dict):
        return {
            key: inner + by if key.endswith("_unix") and isinstance(inner, int | float) and inner else moved(inner, by)
            for key, inner in value.items()
        }
    return [moved(inner, by) for inner in value] if isinstance(value, list) else value


def _aged(worker: dict[str, Any], age: float) -> dict[str, Any]:
    shown, attention = dict(worker), worker.get("attention") or {}
    if attention.get("age_secs") is not None:
        shown["attention"] = {**attention, "age_secs": round(attention["age_secs"] + age, 1)}
    return shown
