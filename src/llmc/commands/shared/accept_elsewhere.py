"""Accepting work of several machines: each lands here, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from llmc.app import App
from llmc.commands.shared.elsewhere import place_elsewhere
from llmc.commands.shared.result import Result
from llmc.core.lifecycle.effects import MergeWork
from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.landing import accept_there
from llmc.fleet.registry import machine_named
from llmc.site import Site


def accept_each(
    app: App,
    site: Site,
    names: list[str],
    wanted: MergeWork,
    accept_here: Callable[[str], Result],
    *,
    looks_only: bool = False,
) -> Result:
    with Calls(site) as calls:

        def accept(name: str) -> Result:
            there = place_elsewhere(site, name)
            if there is None:
                return accept_here(name)
            machine = machine_named(site.root, site.config, there.machine)
            if looks_only:
                said = calls.look(there.machine, "accept", there.worker, "--dry-run")
                return Result(said.out.strip() or said.err.strip(), None, said.code)
            done = accept_there(site, calls, machine, there.worker, wanted)
            return Result(done.text, done.data)

        if len(names) == 1:
            return accept(names[0])
        return _answer(app, names, accept)


def _answer(app: App, names: list[str], accept: Callable[[str], Result]) -> Result:
    data: list[object] = []
    codes = []
    for name in names:
        try:
            done = accept(name)
        except LlmcError as refused:
            app.console.say(f"{name}: refused: {refused.what}\n  hint: {refused.hint}")
            data.append({"worker": name, "refusal": {"what": refused.what, "hint": refused.hint}})
            codes.append(refused.exit_code)
        else:
            app.console.say(done.text)
            data.append(done.data)
            codes.append(done.exit_code)
    landed = sum(code == 0 for code in codes)
    return Result(f"{landed} of {len(names)} landed", data, max(codes))
