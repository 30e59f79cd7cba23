"""`llmc web`: the board in the browser, until Ctrl-C or in the background."""

from __future__ import annotations

import json
import os
import secrets
import time
import webbrowser
from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.own_process import own_command
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.host.files import read_own
from llmc.host.processes import ask_to_end, is_running, kill, wait_for_end
from llmc.host.terminal import start_in_background
from llmc.root import Root
from llmc.site import Site
from llmc.web.record import (
    KeptForNext,
    WebRecord,
    keep_for_next,
    kept_for_next,
    refuse_second_web,
    remove_record,
    running_web,
    web_lock,
    write_record,
)

ANSWERS_WITHIN_SECS = 30.0
ENDS_WITHIN_SECS = 10.0
LOOK_EVERY_SECS = 0.02
IN_BACKGROUND = "LLMC_WEB_IN_BACKGROUND"
"""What it says goes to a file then: the token does not belong there."""


def run(app: App, args: Namespace) -> Result:
    root = app.root()
    if args.stop:
        return _stop(root)
    site = app.site()
    from llmc.web.server import ServingPlace  # uvicorn takes longer to load than most commands to run

    settings = site.config.web
    port = settings.port if args.port is None else args.port
    if not 0 <= port <= 65535:
        raise LlmcError(f"{port} is not a port", "it must be a number from 1 to 65535")
    place = ServingPlace(args.host or settings.host, port, _path(args.cert), _path(args.key), args.insecure)
    place.check()
    refuse_second_web(root)
    if args.detach:
        return _detached(app, root, args, is_local=place.is_local)
    return _foreground(app, site, args, place)


def _path(given: str | None) -> str | None:
    if given is None:
        return None
    path = os.path.abspath(os.path.expanduser(given))
    if not os.access(path, os.R_OK):
        raise LlmcError(f"{given} cannot be read", "check the path, its owner and its permissions")
    return path


def _foreground(app: App, site: Site, args: Namespace, place: object) -> Result:
    from llmc.web.addresses import addresses_of
    from llmc.web.application import make_application
    from llmc.web.logins import Logins
    from llmc.web.server import ServingPlace, listen, serve
    from llmc.web.state import WebState

    assert isinstance(place, ServingPlace)
    root = site.root
    with web_lock(root):
        kept = kept_for_next(root)
        with listen(place, kept.port) as bound:
            port = bound.getsockname()[1]
            record = WebRecord(place.url(port), secrets.token_urlsafe(32), os.getpid())
            keep_for_next(root, KeptForNext(kept.key, port))
            write_record(root, record)
            try:
                state = WebState(site, site.config.web, Logins(record.token, kept.key), read_only=args.read_only)
                addresses = addresses_of(place.scheme, place.host, port, site.config.web.hosts)
                application = make_application(state, addresses, args.guests)
                _announce(app, args, record, is_local=place.is_local)
                serve(application, state, bound, place)
            except KeyboardInterrupt:
                pass  # uvicorn has ended in order, and then raises it again
            finally:
                remove_record(root)
    return Result("the web server has ended", {"ended": True})


def _announce(app: App, args: Namespace, record: WebRecord, *, is_local: bool) -> None:
    if IN_BACKGROUND in app.environ:
        return
    if args.json:
        app.console.print(json.dumps({"url": record.url, "token": record.token, "pid": record.pid}))
    else:
        app.console.print(f"the board is at {record.address}\n{_how_it_ends()}")
        _show_code(app, record, is_local=is_local)
    _open(args, record)


def _how_it_ends() -> str:
    return "whoever has this address can do what you can do here; Ctrl-C ends it"


def _show_code(app: App, record: WebRecord, *, is_local: bool) -> None:
    if not is_local:
        from llmc.web.code import code_of

        app.console.print(code_of(record.address))


def _open(args: Namespace, record: WebRecord) -> None:
    if args.open:
        webbrowser.open(record.address)


def _detached(app: App, root: Root, args: Namespace, *, is_local: bool) -> Result:
    words = [
        *([f"--port={args.port}"] if args.port is not None else []),
        *([f"--host={args.host}"] if args.host else []),
        *([f"--cert={_path(args.cert)}"] if args.cert else []),
        *([f"--key={_path(args.key)}"] if args.key else []),
        *(["--read-only"] if args.read_only else []),
        *(["--insecure"] if args.insecure else []),
    ]
    log = root.inside("logs", "web-output.log")
    began = len(_output(log))
    pid = start_in_background(["env", f"{IN_BACKGROUND}=1", *own_command(root, "web", *words)], log)
    record = _wait_for_answer(root, pid, log, began)
    if args.json:
        # In one line, as in the foreground.
        app.console.print(json.dumps({"url": record.url, "token": record.token, "pid": record.pid}))
        _open(args, record)
        return Result(data={"running": True})
    _show_code(app, record, is_local=is_local)
    _open(args, record)
    return Result(f"the board is at {record.address}\nit runs in the background; `llmc web --stop` ends it")


def _wait_for_answer(root: Root, pid: int, log: str, began: int) -> WebRecord:
    until = time.monotonic() + ANSWERS_WITHIN_SECS
    while not ((record := running_web(root)) and record.pid == pid and record.url and _answers(record)):
        if not is_running(pid) or time.monotonic() > until:
            refuse_second_web(root)
            raise LlmcError(f"the web server did not start: {_said(log, began)}", f"its output is in {log}")
        time.sleep(LOOK_EVERY_SECS)
    return record


def _said(log: str, began: int) -> str:
    lines = _output(log)[began : began + 10_000].decode("utf-8", "replace").splitlines()
    return next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "it says nothing")


def _output(log: str) -> bytes:
    try:
        return read_own(log)
    except FileNotFoundError:
        return b""


def _answers(record: WebRecord) -> bool:
    """Whether somebody takes connections there."""
    import socket

    host, _, port = record.url.partition("://")[2].rstrip("/").rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=1.0):
            return True
    except (OSError, ValueError):
        return False


def _stop(root: Root) -> Result:
    running = running_web(root)
    if running is None:
        return Result("no web server runs here", {"stopped": False})
    ask_to_end([running.pid])
    if not wait_for_end([running.pid], ENDS_WITHIN_SECS):
        kill([running.pid])
        wait_for_end([running.pid], ENDS_WITHIN_SECS)
    remove_record(root)
    return Result(f"the web server has ended (pid {running.pid})", {"stopped": True, "pid": running.pid})
