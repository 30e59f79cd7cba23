"""`llmc review`: what a worker has made, brought up to date first."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from llmc.app import App
from llmc.care.acting import acting_for, catch_up_if_free, finish_checks, newest_tip
from llmc.commands.shared.known_checks import checks_fail
from llmc.commands.shared.receipts import notes_of, unless_refused
from llmc.commands.shared.result import Result
from llmc.commands.shared.review_document import WorkLook, look_at_work, no_work, review_document
from llmc.commands.shared.review_head import plan_of, review_head
from llmc.commands.shared.viewers import show_work
from llmc.core.display import one_line, plain
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle import events as ev
from llmc.core.paint import Paint
from llmc.core.tasks.pool import next_to_review
from llmc.core.tasks.rounds import Comment, Fate, told
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.git.since_review import keep_reviewed
from llmc.model import Work, Worker
from llmc.perform.steps import decide_and_run
from llmc.root import with_root
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    name = _oldest(site) if args.worker is None else args.worker
    if args.seen is not None:
        return _record_seen(site, name, args.seen)
    with acting_for(site, name, looks_only=args.peek) as worker:
        tip, notes = "", list[str]()
        if not args.peek:
            finish_checks(site, name)
            worker, tip, notes = bring_up_to_date(site, name)
        # Exactly what is noted here is shown, also if the agent commits in this very moment.
        look = look_at_work(site, worker, since_last=args.since_last)
        if not look.span[1]:
            raise no_work(worker)
        shown = show_work(app, site, worker, look.shown, args.interface)
        if not args.peek:
            worker = _note_review(site, name, look)
        plan = plan_of(site, worker, tip or newest_tip(site))
        head = review_head(site, worker, look, plan, app.console.paint)
        data = review_document(site, worker, look, plan) if args.json else {}
    title = app.console.paint("strong", plain(f"{name}: {first_line(worker.current_prompt or 'work without a task')}"))
    back = f"`llmc reject {name}`" if look.record.open else f'`llmc reject {name} "..."`'
    accept = "its checks fail:" if checks_fail(site, plan) else f"accept it with `llmc accept {name}`,"
    after = f"{accept} send it back with {back}"
    head_lines = [with_root(line, app.given_root) for line in (*map(plain, notes), *head, plain(shown.note))]
    first = f"{title}  (commit {(worker.commit_sha or '')[:12]})"
    since = _since_lines(look, app.console.paint)
    parts = (first, *head_lines, *since, shown.text and f"\n{shown.text}", with_root(after, app.given_root))
    return Result("\n".join(filter(None, parts)), data, coloured=True, pager=pager_of(app, site) if shown.text else "")


def _note_review(site: Site, name: str, look: WorkLook) -> Worker:
    """A person has seen this."""
    base, commit = look.span
    site.ledger.apply(name, ev.ReviewOpened(site.now(), commit, look.tree, base))
    keep_reviewed(site.git, site.root.path, name, commit)
    site.ledger.remember_reviewed(name)
    return site.worker(name)


def _record_seen(site: Site, name: str, tree: str) -> Result:
    """For whoever was shown the work elsewhere: it counts as a review of exactly that."""
    with acting_for(site, name) as worker:
        look = look_at_work(site, worker)
        if look.tree != tree:
            raise LlmcError(
                f"{name}'s work is not what was shown: its tree is {look.tree[:12] or 'not there'}, not {tree[:12]}",
                "look at it again",
            )
        _note_review(site, name, look)
    words = f"{name}: reviewed as of commit {look.span[1][:12]}"
    return Result(words, {"worker": name, "reviewed_sha": look.span[1], "tree": look.tree})


def _since_lines(look: WorkLook, paint: Paint) -> list[str]:
    """The message of each round, each earlier comment beside what became of its lines, then what the diff below is."""
    if not look.since:
        return []
    said = [plain(f"round {each.number}: {one_line(each.message, 200)}") for each in look.record.rounds if each.message]
    parts = [*said, *("\n".join(_comment_lines(each, look.fates, paint)) for each in look.record.earlier)]
    changed = "what has changed" if look.shown[0] != look.tree else "nothing has changed"
    return [f"\n{part}" for part in (*parts, paint("strong", f"{changed} since {look.since}"))]


def _comment_lines(comment: Comment, fates: Mapping[int, Fate], paint: Paint) -> list[str]:
    return [paint(meaning, plain(line)) for meaning, line in told(comment, fates[comment.number])]


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
