"""Programs that show a diff. Each has a fallback: plain `git diff` is always there."""

from __future__ import annotations

from dataclasses import dataclass

from llmc.app import App
from llmc.core.display import plain
from llmc.git.history import diff_text
from llmc.host.terminal import run_in_terminal
from llmc.model import Worker
from llmc.observe.branches import work_span
from llmc.site import Site

PROGRAMS = {"difftastic": "difft", "delta": "delta", "vscode": "code"}


@dataclass(frozen=True, slots=True)
class Shown:
    text: str
    """Empty when a program of its own showed the work."""
    note: str = ""
    coloured: bool = False


def show_work(app: App, site: Site, worker: Worker, interface: str | None) -> Shown:
    span = work_span(site, worker) or ("HEAD", "HEAD")
    wanted = interface or ("difftastic" if app.console.is_terminal and site.host.which("difft") else "diff")
    if wanted in PROGRAMS and site.host.which(PROGRAMS[wanted]) is None:
        note = f"{PROGRAMS[wanted]} is not installed: this is plain `git diff`"
        return Shown(diff_text(site.git, site.root.path, *span), note)
    if wanted == "stat":
        return Shown(site.git.text(site.root.path, "diff", "--stat", *span))
    if wanted == "difftastic":
        return Shown(site.git.text(site.root.path, "-c", "diff.external=difft", "diff", "--ext-diff", *span))
    if wanted == "delta":
        # It passes on what it reads, and nobody could tell that from its own colours afterwards.
        harmless = plain(diff_text(site.git, site.root.path, *span)).encode()
        return Shown(site.host.run(["delta", "--paging=never"], stdin=harmless).text, coloured=True)
    if wanted == "vscode":
        run_in_terminal(["code", worker.worktree_path])
        return Shown("", f"opened {worker.worktree_path} in VS Code")
    return Shown(diff_text(site.git, site.root.path, *span))
