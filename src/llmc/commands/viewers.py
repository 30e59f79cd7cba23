"""Programs that show a diff. Each has a fallback: plain `git diff` is always there."""

from __future__ import annotations

from llmc.app import App
from llmc.core.display import plain
from llmc.git.history import diff_text
from llmc.host.terminal import run_in_terminal
from llmc.model import Worker
from llmc.site import Site

PROGRAMS = {"difftastic": "difft", "delta": "delta", "vscode": "code"}


def show_work(app: App, site: Site, worker: Worker, interface: str | None) -> tuple[str, str]:
    """The work as text (empty when a program of its own showed it), and a note about how."""
    span = (worker.base_sha or "", worker.commit_sha or "")
    wanted = interface or ("difftastic" if app.console.is_terminal and site.host.which("difft") else "diff")
    if wanted in PROGRAMS and site.host.which(PROGRAMS[wanted]) is None:
        note = f"{PROGRAMS[wanted]} is not installed: this is plain `git diff`"
        return plain(diff_text(site.git, site.root.path, *span)), note
    if wanted == "stat":
        return plain(site.git.text(site.root.path, "diff", "--stat", *span)), ""
    if wanted == "difftastic":
        return _by_git(site, ("-c", "diff.external=difft"), span), ""
    if wanted == "delta":
        done = site.host.run(["delta", "--paging=never"], stdin=diff_text(site.git, site.root.path, *span).encode())
        return done.text, ""
    if wanted == "vscode":
        run_in_terminal(["code", worker.worktree_path])
        return "", f"opened {worker.worktree_path} in VS Code"
    return plain(diff_text(site.git, site.root.path, *span)), ""


def _by_git(site: Site, settings: tuple[str, ...], span: tuple[str, str]) -> str:
    return site.git.text(site.root.path, *settings, "diff", "--ext-diff", *span)
