"""Workers on other machines, for the commands that do more than hand their words on."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.elsewhere import NOBODY_ELSEWHERE, WorkersElsewhere
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import forget_drafts, task_text
from llmc.fleet.known import machine_of
from llmc.fleet.registry import has_machines
from llmc.fleet.shapes import OneOf
from llmc.site import Site
from llmc.values import Value

RECEIPT = {
    "outcome": OneOf("unknown", "delivered", "queued", "undelivered"),
    **dict.fromkeys(("proof", "sha256", "reason", "worker"), ""),
    **dict.fromkeys(("attempts", "elapsed_ms", "bytes"), 0),
}


class PlaceElsewhere(Value):
    machine: str
    worker: str
    """What it is called there."""


def place_elsewhere(site: Site, worker: str | None) -> PlaceElsewhere | None:
    """Where the worker is; without a name the longest idle one, where nobody is free here. None: it is one of ours."""
    if not has_machines(site.root):
        return None
    if worker is None:
        return _free_elsewhere(site)
    if worker in site.ledger.load().workers:
        return None
    found = machine_of(site.root, worker)
    return PlaceElsewhere(*found) if found is not None else None


def _free_elsewhere(site: Site) -> PlaceElsewhere | None:
    from llmc.commands.start import NobodyIsFreeError, choose
    from llmc.fleet.hands import hands_elsewhere

    free = [hand for hand in hands_elsewhere(site.root) if hand.free and not hand.by_name_only]
    try:
        here = choose(site)
    except NobodyIsFreeError:
        here = None
    if not free or here is not None:
        return None
    return place_elsewhere(site, min(free, key=lambda hand: (hand.idle_since_unix, hand.name)).name)


def elsewhere_of(site: Site) -> WorkersElsewhere:
    """For the merge train."""
    if not has_machines(site.root):
        return NOBODY_ELSEWHERE
    from llmc.fleet.train import TrainElsewhere

    return TrainElsewhere(site)


def start_elsewhere(app: App, site: Site, args: Namespace, there: PlaceElsewhere) -> Result:
    """A task of this root, at once at a worker of another machine."""
    from llmc.fleet.calls import Calls
    from llmc.fleet.placing import place_new
    from llmc.fleet.registry import machine_named

    machine = machine_named(site.root, site.config, there.machine)
    text = task_text(app.environ, site.root.inside("templates"), args, args.prompt, args.prompt_file)
    with Calls(site) as calls:
        task, answer = place_new(site, calls, text, there.worker, machine)
        forget_drafts()
        data = {**answer.shaped(RECEIPT), "task": task.id, "machine": there.machine}
        text = f"{there.worker}: {data['outcome']}, task {task.id}, on {there.machine}"
        if args.wait and answer.code == 0:
            text += f"\n{calls.do(there.machine, 'remote-wait', there.worker).out.strip()}"
    return Result(text, data, answer.code)
