"""Commands about workers on other machines: their words are handed on, and carried out there."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from llmc.app import App
from llmc.commands.shared.elsewhere import PlaceElsewhere, place_elsewhere
from llmc.commands.shared.result import Result
from llmc.core.display import plain
from llmc.errors import InvalidUsageError, LlmcError
from llmc.fleet.known import read_known
from llmc.fleet.registry import machine_named
from llmc.fleet.words import complaint_in
from llmc.site import Site

LOOKS = frozenset(("peek", "explain", "logs", "events"))
STANDS_ON_BRANCH = frozenset(("review", "rebase", "reset", "reject"))
"""Commands that bring work onto the branch, or begin on it: the machine has to know where that is."""
SEVERAL = frozenset(("interrupt", "restart", "reset", "nuke"))
Here = Callable[[App, Namespace], Result]


class RefusedThereError(LlmcError):
    """The machine has refused it, in its own words."""

    def __init__(self, what: str, hint: str, code: int) -> None:
        super().__init__(what, hint)
        self.exit_code = code


def routed(app: App, args: Namespace, here: Here) -> Result | None:
    """None when it is about this machine alone."""
    site = app.site()
    if args.verb in SEVERAL:
        return _of_several(app, site, args, here)
    there = _meant(site, args)
    return _handed_on(app, site, args, there) if there is not None else None


def _meant(site: Site, args: Namespace) -> PlaceElsewhere | None:
    if args.verb == "reject":
        return _meant_by_reject(site, args)
    if args.worker is not None:
        return place_elsewhere(site, args.worker)
    return _oldest(site) if args.verb == "review" else None


def _meant_by_reject(site: Site, args: Namespace) -> PlaceElsewhere | None:
    """`reject WORKER MESSAGE`, or the last that was reviewed."""
    first = args.words[0] if args.words else None
    there = place_elsewhere(site, first) if first else None
    if there is not None or len(args.words) == 2:
        args.words = args.words[1:] if there is not None else args.words
        return there
    last = site.ledger.load().last_reviewed_worker
    names_one = len(args.words) == 1 and first in site.ledger.load().workers
    return place_elsewhere(site, last) if last and not names_one else None


def _oldest(site: Site) -> PlaceElsewhere | None:
    """The work that has waited for longest, here or elsewhere."""
    here = [worker.evidence.at_unix for worker in site.ledger.load().workers.values() if worker.work == "needs_review"]
    there = [
        (worker["evidence"]["at_unix"], worker["name"], known["name"])
        for known in read_known(site.root)
        for worker in (known.get("document") or {}).get("workers", ())
        if worker["work"] == "needs_review" and known.get("state") == "ok"
    ]
    if not there or (here and min(here) <= min(there)[0]):
        return None
    _, worker, machine = min(there)
    return PlaceElsewhere(machine, worker)


# --- handing on ---------------------------------------------------------------------------------------


def _handed_on(app: App, site: Site, args: Namespace, there: PlaceElsewhere) -> Result:
    from llmc.fleet.branches import send_branch
    from llmc.fleet.calls import Calls

    machine = machine_named(site.root, site.config, there.machine)
    if getattr(args, "follow", False):
        return _followed(site, args, there)
    words, stdin = _words(app, site, args, there)
    with Calls(site) as calls:
        if args.verb in STANDS_ON_BRANCH:
            send_branch(site, machine)
        ask = calls.look if args.verb in LOOKS else calls.do
        answer = ask(there.machine, *words, stdin=stdin)
    if args.verb == "review" and answer.code == 0 and not args.peek:
        site.ledger.remember_reviewed(there.worker)
    return _result(answer.code, answer.out, answer.err, wants_json=bool(getattr(args, "json", False)))


def _result(code: int, out: str, err: str, *, wants_json: bool) -> Result:
    from llmc.fleet.wire import MachineAnswer

    data = MachineAnswer(code, out).data if wants_json else None
    if code != 0 and not out.strip():
        raise RefusedThereError(*complaint_in(err), code)
    if err:
        sys.stderr.write(plain(err))
    return Result(out.rstrip("\n"), data, code)


def _followed(site: Site, args: Namespace, there: PlaceElsewhere) -> Result:
    """Until the person has seen enough (Ctrl-C)."""
    from llmc.fleet.remote_words import command_there
    from llmc.host.terminal import run_in_terminal

    machine = machine_named(site.root, site.config, there.machine)
    words = [*_flags(args), there.worker]
    return Result(exit_code=run_in_terminal(machine.reach.argv(command_there(machine, [args.verb, *words]))))


def _words(app: App, site: Site, args: Namespace, there: PlaceElsewhere) -> tuple[list[str], str]:
    """As they are typed there, and the standard input. Texts are read here: files and editors are the person's."""
    flags = _flags(args)
    match args.verb:
        case "message":
            return ["message", *flags, there.worker, "-"], _text(app, args.text, args.file)
        case "reject":
            return _reject_words(app, site, args, there, flags)
        case "comment" if args.text is not None or args.file is not None:
            return ["comment", *flags, there.worker, args.place, "-"], _text(app, args.text, args.file)
        case "comment" if args.place is not None:
            raise InvalidUsageError(
                "there is no comment", f'say what: `llmc comment {there.worker} {args.place} "..."`'
            )
        case "answer":
            return ["answer", *flags, "--", there.worker, args.choice], ""
    return [args.verb, *flags, there.worker], ""


def _reject_words(
    app: App, site: Site, args: Namespace, there: PlaceElsewhere, flags: list[str]
) -> tuple[list[str], str]:
    text = args.words[0] if args.words else None
    if text is None and args.file is None and _open_comments(site, there):
        return ["reject", *flags, there.worker], ""
    return ["reject", *flags, there.worker, "-"], _text(app, text, args.file)


def _open_comments(site: Site, there: PlaceElsewhere) -> bool:
    from llmc.fleet.calls import Calls

    with Calls(site) as calls:
        said = calls.look(there.machine, "comment", there.worker, "--list", "--json")
    return any(not each["round"] for each in said.shaped({"comments": [{"round": 0}]})["comments"])


def _text(app: App, words: str | None, file: str | None) -> str:
    from llmc.commands.shared.text_input import forget_drafts, text_from

    text = text_from(words, file, environ=app.environ)
    forget_drafts()
    return text


_FLAGS = (
    *("json", "wait", "since_last", "peek", "list", "follow", "setup", "all", "force", "resend", "yes"),
    *("interface", "seen", "dialog", "remove", "lines", "within", "backup"),
)


def _flags(args: Namespace) -> list[str]:
    """The options that were given, as they are typed."""
    given = []
    for name in _FLAGS:
        said = getattr(args, name, None)
        word = f"--{name.replace('_', '-')}"
        if said is True:
            given.append(word)
        elif said not in (None, False):
            given += [word, f"{said:g}" if isinstance(said, float) else str(said)]
    return given


# --- several workers ------------------------------------------------------------------------------------


def _of_several(app: App, site: Site, args: Namespace, here: Here) -> Result | None:
    """Those that are here by the command itself, the others machine by machine."""
    places = _by_machine(site, args)
    if not places:
        return None
    local = _local_names(site, args)
    results = []
    if local:
        results.append(here(app, Namespace(**{**vars(args), "names": local, "all": False})))
    for machine, names in places.items():
        results.append(_several_there(app, site, args, machine, names))
    return results[0] if len(results) == 1 else _joined(results)


def _by_machine(site: Site, args: Namespace) -> dict[str, list[str]]:
    if args.all and not args.names:
        told = {each["name"]: (each.get("document") or {}).get("workers", ()) for each in read_known(site.root)}
        return {name: [worker["name"] for worker in workers] for name, workers in told.items() if workers}
    places: dict[str, list[str]] = {}
    for name in args.names:
        there = place_elsewhere(site, name)
        if there is not None:
            places.setdefault(there.machine, []).append(there.worker)
    return places


def _local_names(site: Site, args: Namespace) -> list[str]:
    if args.all and not args.names:
        return list(site.ledger.load().workers)
    return [name for name in args.names if place_elsewhere(site, name) is None]


def _several_there(app: App, site: Site, args: Namespace, machine: str, names: list[str]) -> Result:
    from llmc.fleet.branches import send_branch
    from llmc.fleet.calls import Calls

    flags = [flag for flag in _flags(args) if flag != "--all"]
    wants_json = bool(getattr(args, "json", False))
    with Calls(site) as calls:
        if args.verb in STANDS_ON_BRANCH:
            send_branch(site, machine_named(site.root, site.config, machine))
        answer = calls.do(machine, args.verb, *flags, *names)
        if answer.code == 1 and "--yes" in answer.err and app.console.can_ask:
            what, _ = complaint_in(answer.err)
            if app.console.agrees(f"{machine}: {what}. Go on all the same?"):
                answer = calls.do(machine, args.verb, *flags, "--yes", *names)
    return _result(answer.code, answer.out, answer.err, wants_json=wants_json)


def _joined(results: list[Result]) -> Result:
    data: Any = None
    for each in results:
        data = _merged(data, each.data)
    text = "\n".join(each.text for each in results if each.text)
    return Result(text, data, max(each.exit_code for each in results))


def _merged(one: Any, other: Any) -> Any:  # noqa: ANN401 - that is what JSON is
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key), other.get(key)) for key in {**one, **other}}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    return other if one is None else one
