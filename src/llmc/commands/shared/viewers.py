"""Programs that show a diff. Each has a fallback: plain `git diff` is always there."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from llmc.app import App
from llmc.core.diff_paint import painted_diff
from llmc.core.display import plain
from llmc.git.both_sides import write_both_sides
from llmc.git.history import diff_summary, diff_text
from llmc.host.terminal import run_in_terminal
from llmc.model import Worker
from llmc.site import Site
from llmc.values import Value

PROGRAMS = {"difftastic": "difft", "delta": "delta", "vscode": "code"}
MOST_TABS = 20
"""Nobody reads more tabs of an editor than that."""

Span = tuple[str, str]


class ShownWork(Value):
    text: str
    """Harmless, and perhaps coloured; empty when a program of its own showed the work."""
    note: str = ""


def show_work(app: App, site: Site, worker: Worker, span: Span, interface: str | None) -> ShownWork:
    wanted = interface or ("difftastic" if app.console.is_terminal and site.host.which("difft") else "diff")
    if wanted == "stat":
        return ShownWork(plain(diff_summary(site.git, site.root.path, *span)))
    program = PROGRAMS.get(wanted)
    if program is None:
        return _git_diff(app, site, span)
    if site.host.which(program) is None:
        return _git_diff(app, site, span, f"{program} is not installed: this is plain `git diff`")
    show = {"difft": _difftastic, "delta": _delta, "code": _vscode}[program]
    return show(app, site, worker, span) or _git_diff(app, site, span, f"{program} failed: this is plain `git diff`")


def _git_diff(app: App, site: Site, span: Span, note: str = "") -> ShownWork:
    return ShownWork(painted_diff(_harmless_diff(site, span), app.console.paint), note)


def _harmless_diff(site: Site, span: Span) -> str:
    """Before anything colours it: nobody could tell an agent's colours from the program's afterwards."""
    return plain(diff_text(site.git, site.root.path, *span))


def _difftastic(app: App, site: Site, worker: Worker, span: Span) -> ShownWork | None:
    with tempfile.TemporaryDirectory(prefix="llmc-review-") as place:
        write_both_sides(site.git, site.root.path, span, Path(place), _harmless)
        for side in ("before", "after"):
            Path(place, side).mkdir(exist_ok=True)
        colour, width = "always" if app.console.paint.wanted else "never", str(app.console.columns or 120)
        done = site.host.run(["difft", "--color", colour, "--width", width, "before", "after"], cwd=place)
        return ShownWork(done.text) if done.ok else None


def _harmless(content: bytes) -> bytes:
    """Whatever it is, a program may take it for text and print it; what is no text is compared by its hash."""
    if b"\0" in content:
        return f"binary content {hashlib.sha256(content).hexdigest()}\n".encode()
    return plain(content.decode("utf-8", "replace")).encode()


def _delta(app: App, site: Site, worker: Worker, span: Span) -> ShownWork | None:
    width = [f"--width={app.console.columns}"] if app.console.columns else []
    done = site.host.run(["delta", "--paging=never", *width], stdin=_harmless_diff(site, span).encode())
    return ShownWork(done.text if app.console.paint.wanted else plain(done.text)) if done.ok else None


def _vscode(app: App, site: Site, worker: Worker, span: Span) -> ShownWork | None:
    """Each file beside what it was before, as it is in the commit; the editor may read them for as long as it likes."""
    place = Path(tempfile.mkdtemp(prefix="llmc-review-"))
    paths = write_both_sides(site.git, site.root.path, span, place)
    for at, path in enumerate(paths[:MOST_TABS]):
        sides = [place / side / path for side in ("before", "after")]
        for side in sides:
            side.parent.mkdir(parents=True, exist_ok=True)
            side.touch()  # a file that is new or gone is compared with nothing
        window = "--new-window" if at == 0 else "--reuse-window"
        if run_in_terminal(["code", window, "--diff", *map(str, sides)]) != 0:
            return None
    more = f", the first {MOST_TABS} of {len(paths)}" if len(paths) > MOST_TABS else ""
    number = len(paths[:MOST_TABS])
    return ShownWork("", f"opened {number} file{'' if number == 1 else 's'} in VS Code, before and after{more}")
