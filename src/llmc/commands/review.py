"""`llmc review`: what a worker has made, brought up to date first."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, catch_up_if_free, finish_checks, newest_tip
from llmc.commands.shared.receipts import notes_of, unless_refused
from llmc.commands.shared.result import Result
from llmc.commands.shared.review_head import review_head
from llmc.commands.shared.viewers import show_work
from llmc.core.display import plain
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle import events as ev
from llmc.core.tasks.pool import next_to_review
from llmc.errors import LlmcError
from llmc.git.history import diff_text, is_ancestor
from llmc.git.repository import require_object
from llmc.git.since_review import keep_reviewed
from llmc.model import Work, Worker
from llmc.observe.branches import work_span
from llmc.perform.steps import decide_and_run
from llmc.root import with_root
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    name = _oldest(site) if args.worker is None else args.worker
    with acting_for(site, name):
        finish_checks(site, name)
        worker, tip, notes = bring_up_to_date(site, name)
        # Exactly what is noted here is shown, also if the agent commits in this very moment.
        base, commit = span = work_span(site, worker) or ("", "")
        tree = require_object(site.git, site.root.path, commit, "tree") if commit else ""
        shown = show_work(app, site, worker, span, args.interface)
        site.ledger.apply(name, ev.ReviewOpened(site.now(), commit, tree, base))
        keep_reviewed(site.git, site.root.path, name, commit)
        site.ledger.remember_reviewed(name)
        worker = site.worker(name)
        head = review_head(site, worker, span, tip, app.console.paint)
    title = app.console.paint("strong", plain(f"{name}: {first_line(worker.current_prompt or 'work without a task')}"))
    after = f'accept it with `llmc accept {name}`, send it back with `llmc reject {name} "..."`'
    told = [with_root(line, app.given_root) for line in (*map(plain, notes), *head, plain(shown.note))]
    first = f"{title}  (commit {(worker.commit_sha or '')[:12]})"
    text = "\n".join(filter(None, (first, *told, shown.text and f"\n{shown.text}", with_root(after, app.given_root))))
    data = {
        "worker": name,
        "commit_sha": worker.commit_sha,
        "base_sha": worker.base_sha,
        "reviewed_sha": commit,
        "tree": tree,
        "diff": diff_text(site.git, site.root.path, *span) if args.json and commit else shown.text,
    }
    return Result(text, data, coloured=True, pager=pager_of(app, site) if shown.text else "")


def pager_of(app: App, site: Site) -> str:
    """The one that git would use in the user's repository; nothing where nobody reads at a terminal."""
    if not app.console.is_terminal:
        return ""
    return site.host.run(["git", "var", "GIT_PAGER"], cwd=site.config.repo.source).text.strip()


def _oldest(site: Site) -> str:
    for name in site.ledger.load().workers:
        catch_up_if_free(site, name, finish=True)
    worker = next_to_review(site.ledger.load().workers.values())
    if worker is None:
        raise LlmcError("no work waits for review", "see `llmc status`")
    return worker.name


def bring_up_to_date(site: Site, name: str) -> tuple[Worker, str, list[str]]:
    """Rebases when the branch has moved on; with where the branch is, and what is to be told of it.

    Conflicts go to the agent, and there is nothing to see yet.
    """
    worker = site.worker(name)
    tip = newest_tip(site)
    if worker.work is not Work.NEEDS_REVIEW or worker.commit_sha is None:
        return worker, tip, []
    if is_ancestor(site.git, site.root.path, tip, worker.commit_sha):
        return worker, tip, []
    settled = unless_refused(decide_and_run(site, name, ev.RebaseAsked(site.now(), tip)))
    worker = site.worker(name)
    if worker.work is Work.REBASING:
        raise LlmcError(
            f"{name}'s work conflicts with {site.config.repo.branch} in {', '.join(worker.conflicted_files)}",
            "the agent was asked to resolve it; it comes back for review",
        )
    return worker, tip, notes_of(settled)
