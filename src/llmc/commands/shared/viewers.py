"""Programs that show a diff. Each has a fallback: plain `git diff` is always there."""

from __future__ import annotations

from llmc.app import App
from llmc.core.display import plain
from llmc.git.history import diff_summary, diff_text
from llmc.host.terminal import run_in_terminal
from llmc.model import Worker
from llmc.site import Site
from llmc.values import Value

PROGRAMS = {"difftastic": "difft", "delta": "delta", "vscode": "code"}


class ShownWork(Value):
    text: str
    """Empty when a program of its own showed the work."""
    note: str = ""
    coloured: bool = False


def show_work(app: App, site: Site, worker: Worker, span: tuple[str, str], interface: str | None) -> ShownWork:
    wanted = interface or ("difftastic" if app.console.is_terminal and site.host.which("difft") else "diff")
    if wanted == "stat":
        return ShownWork(diff_summary(site.git, site.root.path, *span))
    program = PROGRAMS.get(wanted)
    if program is None:
        return ShownWork(diff_text(site.git, site.root.path, *span))
    if site.host.which(program) is None:
        return ShownWork(
            diff_text(site.git, site.root.path, *span), f"{program} is not installed: this is plain `git diff`"
        )
    shown = _shown_by(site, worker, program, span)
    if shown is None:
        return ShownWork(diff_text(site.git, site.root.path, *span), f"{program} failed: this is plain `git diff`")
    return shown


def _shown_by(site: Site, worker: Worker, program: str, span: tuple[str, str]) -> ShownWork | None:
    """None when the program fails."""
    if program == "difft":
        done = site.git.run(
            site.root.path, "-c", "diff.external=difft", "diff", "--no-textconv", "--ext-diff", *span, check=False
        )
        return ShownWork(done.text) if done.ok else None
    if program == "delta":
        # It passes on what it reads, and nobody could tell that from its own colours afterwards.
        harmless = plain(diff_text(site.git, site.root.path, *span)).encode()
        done = site.host.run(["delta", "--paging=never"], stdin=harmless)
        return ShownWork(done.text, coloured=True) if done.ok else None
    code = run_in_terminal([program, worker.worktree_path])
    return ShownWork("", f"opened {worker.worktree_path} in VS Code") if code == 0 else None
