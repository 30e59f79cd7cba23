"""`llmc pty watch`: the watcher, in the foreground or in the background."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable

from llmc.app import App
from llmc.commands.pty_status import pty_document, pty_text
from llmc.commands.shared.pty_place import PtyPlace, place_of
from llmc.commands.shared.result import Result
from llmc.daemon.watcher import Pace, Watcher, refuse_second, watch_lock
from llmc.errors import LlmcError
from llmc.host.locks import is_held
from llmc.host.malloc import keep_one_heap
from llmc.host.processes import ask_to_end, is_running, wait_for_end
from llmc.host.terminal import start_in_background

STARTED_WITHIN_SECS = 20.0
ENDED_WITHIN_SECS = 10.0


def run(app: App, args: Namespace) -> Result:
    place = place_of(app)
    if args.stop:
        return _stop(place)
    refuse_second(place.root)
    if args.detach:
        return _detached(place, args)
    keep_one_heap()
    with watch_lock(place.root):
        watcher = Watcher(place.root, place.host, Pace(args.interval, args.stable), _shower(app, args))
        if args.once:
            watcher.look_once()
            document = pty_document(place.root)
            return Result(pty_text(document), document)
        watcher.run()
    return Result("the watcher has ended", {"ended": True})


def _shower(app: App, args: Namespace) -> Callable[[str], None]:
    """For a person who looks on; what is wrong is said to a script that asks once too."""

    def show(text: str) -> None:
        if app.console.is_terminal and not args.once:
            app.console.say(f"{time.strftime('%H:%M:%S')} {text}")
        elif args.once and text.startswith("warning: "):
            app.console.say(text)

    return show


def _detached(place: PtyPlace, args: Namespace) -> Result:
    stable = ["--stable", str(args.stable)] if args.stable is not None else []
    words = ["--root", place.root.path, "pty", "watch", "--interval", str(args.interval), *stable]
    place.terminals.make_directory()
    pid = start_in_background([sys.executable, "-P", "-m", "llmc.cli.main", *words], place.root.watch_log)
    until = time.monotonic() + STARTED_WITHIN_SECS
    while (holder := is_held(place.root.watch_lock)) is None or holder.pid != pid:
        if not is_running(pid) or time.monotonic() > until:
            refuse_second(place.root)  # somebody else was faster
            raise LlmcError("the watcher did not start", f"its log is {place.root.watch_log}")
        time.sleep(0.02)
    return Result(f"the watcher runs (pid {pid})", {"pid": pid})


def _stop(place: PtyPlace) -> Result:
    holder = is_held(place.root.watch_lock)
    if holder is None:
        raise LlmcError("no watcher runs", "`llmc pty watch --detach` starts one")
    if not holder.pid:
        raise LlmcError("the watcher is just starting or ending", "try again in a moment")
    ask_to_end([holder.pid])
    if not wait_for_end([holder.pid], ENDED_WITHIN_SECS):
        raise LlmcError(f"the watcher (pid {holder.pid}) does not end", f"look at it, or `kill -9 {holder.pid}`")
    return Result("the watcher has ended; the terminals go on", {"pid": holder.pid})
