"""Several works accepted together: they go into the merge train, and whoever types it waits for theirs or not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.care.train import run_train
from llmc.care.train_entries import entry_for
from llmc.commands.shared.elsewhere import elsewhere_of
from llmc.commands.shared.known_conflicts import look_now, seen_by_daemon
from llmc.commands.shared.result import Result
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.tasks.train import EntryState, TrainEntry
from llmc.daemon.process import running_daemon
from llmc.errors import LlmcError
from llmc.host.faults import Moment, reached
from llmc.host.watch import open_watch, wait_for_change
from llmc.perform.steps import settle
from llmc.site import Site

LOOK_EVERY_SECS = 2.0
"""Who ran the train may have been killed: then it is ours to go on with."""


def accept_by_train(app: App, site: Site, names: list[str], wanted: MergeWork, *, ordered: bool, waits: bool) -> Result:
    """What is refused keeps nothing else from being accepted."""
    train = site.ledger.tasks.train
    if waits and train.is_paused:
        raise LlmcError(
            "the merge train is paused; nothing was accepted",
            "`llmc train resume` lets it go on; `llmc accept WORKER` accepts one by itself",
        )
    ended, wanting = _admitted(site, names, wanted, ordered)
    joined = train.join(wanting, () if ordered else _clashes(site, len(wanting) + len(train.open())))
    reached(Moment.TRAIN_JOINED)
    if not waits:
        return _queued(site, ended, joined)
    for entry in ended:
        app.console.say(_words(entry))
    ended += _followed(app, site, joined)
    return _answer(names, ended)


def _admitted(
    site: Site, names: list[str], wanted: MergeWork, ordered: bool
) -> tuple[list[TrainEntry], list[TrainEntry]]:
    """Those that are refused at once, and those that may join."""
    refused, wanting = [], []
    for name in names:
        try:
            wanting.append(entry_for(site, name, wanted, ordered=ordered, elsewhere=elsewhere_of(site)))
        except LlmcError as why:
            result = {"what": why.what, "hint": why.hint, "exit_code": why.exit_code}
            refused.append(TrainEntry(name, "", site.now(), state=EntryState.LEFT, result=result))
    return refused, wanting


def _clashes(site: Site, many: int) -> set[frozenset[str]]:
    """By the daemon's account or a look of our own, where there is an order to choose."""
    with suppress(LlmcError):  # the order is a courtesy
        seen = (seen_by_daemon(site) or look_now(site)) if many > 1 else {"with_each_other": []}
        return {frozenset(pair["workers"]) for pair in seen["with_each_other"]}
    return set()


def _queued(site: Site, refused: list[TrainEntry], joined: list[TrainEntry]) -> Result:
    places = {entry.id: place for place, entry in enumerate(site.ledger.tasks.train.open(), 1)}
    lines = [_words(entry) for entry in refused]
    lines += [f"{entry.worker}: in the merge train, at place {places.get(entry.id, 0)}" for entry in joined]
    if joined and site.ledger.tasks.train.is_paused:
        lines.append("note: the train is paused: `llmc train resume` lets it go on")
    elif joined and running_daemon(site.root) is None:
        lines.append("note: nobody runs the train: `llmc up --detach` starts the daemon, which does")
    data = [*map(_data, refused), *({"worker": e.worker, "queued": True, "place": places.get(e.id)} for e in joined)]
    return Result("\n".join(lines), data, _code(refused))


def _followed(app: App, site: Site, joined: list[TrainEntry]) -> list[TrainEntry]:
    """As they are when all of them are over, or the train was paused."""
    train, mine = site.ledger.tasks.train, [entry.id for entry in joined]
    told: set[int] = set()

    def tell(entry: TrainEntry) -> None:
        if entry.id in mine and entry.id not in told:
            told.add(entry.id)
            app.console.say(_words(entry))

    try:
        _run_until(site, lambda: not any(entry.state.is_open for entry in train.entries(mine)), tell)
    except BaseException:
        for entry in joined:
            train.take_out(entry.worker, "whoever accepted it has given up", ids=mine)
        raise
    found = train.entries(mine)
    for entry in found:
        tell(entry)
    return found


def _run_until(site: Site, is_over: Callable[[], bool], tell: Callable[[TrainEntry], None]) -> None:
    """Runs the train, or waits for who does."""
    train = site.ledger.tasks.train
    watch = open_watch()
    watch.add(site.root.run, "train", frozenset(("train.json",)))
    try:
        while not is_over() and not train.is_paused:
            if not run_train(site, tell, is_over, elsewhere_of(site)):
                site.progress("the merge train is run by another process")
            elif not is_over():
                _finish_steps(site)  # somebody was killed in the middle of a rebase, and no daemon goes on with it
            wait_for_change(watch, 0.0 if is_over() else LOOK_EVERY_SECS)
    finally:
        watch.close()


def _finish_steps(site: Site) -> None:
    for entry in site.ledger.tasks.train.open():
        with suppress(LlmcError), acting_for(site, entry.worker):
            settle(site, entry.worker)


def _answer(names: list[str], ended: list[TrainEntry]) -> Result:
    by_name = sorted(ended, key=lambda entry: names.index(entry.worker))
    landed = sum(entry.state is EntryState.LANDED for entry in ended)
    left = [entry.worker for entry in by_name if entry.state.is_open]
    text = f"{landed} of {len(ended)} landed"
    if left:
        text += f"; the train was paused, and {', '.join(left)} wait in it: `llmc train resume` lets it go on"
    return Result(text, [_data(entry) for entry in by_name], _code(ended))


def _code(entries: list[TrainEntry]) -> int:
    codes = (int((entry.result or {}).get("exit_code", 1)) for entry in entries if entry.state is not EntryState.LANDED)
    return max(codes, default=0)


def _words(entry: TrainEntry) -> str:
    result = entry.result or {"what": "it waits in the train, which was paused", "hint": "`llmc train resume`"}
    if entry.state is EntryState.LANDED:
        return str(result["text"])
    verb = "sent back" if entry.state is EntryState.SENT_BACK else "refused"
    return f"{entry.worker}: {verb}: {result['what']}\n  hint: {result['hint']}"


def _data(entry: TrainEntry) -> dict[str, object]:
    result = entry.result or {}
    if entry.state is EntryState.LANDED:
        return dict(result["data"])
    refusal = {"what": result.get("what", "it waits in the train"), "hint": result.get("hint", "`llmc train`")}
    return {"worker": entry.worker, "state": entry.state.value, "refusal": refusal}
