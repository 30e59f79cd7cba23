"""Reviewed work becomes one commit on the user's branch, by a plan that is made of what git says and then followed."""

from __future__ import annotations

from contextlib import suppress

from llmc.core.landing.commit_message import first_line
from llmc.core.landing.plan import (
    AcceptFacts,
    AcceptPlan,
    Difference,
    LandingPlace,
    MakeCommit,
    MoveBranch,
    Obstacle,
    Validate,
    plan_accept,
)
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import MergeWork, from_step
from llmc.core.tasks.checks import CheckResult
from llmc.errors import LlmcError
from llmc.git.backup import backup_commit
from llmc.git.clone import fetch_source, note_moved, same_or_fetched
from llmc.git.hidden import whole_status
from llmc.git.history import Commit, is_ancestor, messages_of, own_commits
from llmc.git.land import BranchMovedError, LandRefusedError, Order, checkout_of, signs, squash
from llmc.git.local_changes import overlap
from llmc.git.rebase import Base, Clean, own_base, would_conflict
from llmc.git.repository import branch_tip, forget_refs, refs_below, resolve
from llmc.git.since_review import changed_since
from llmc.git.worktree_identity import require_ours
from llmc.host.faults import Moment, reached
from llmc.host.locks import FileLock
from llmc.model import Reviewed, Step, Turn, Work, Worker
from llmc.perform.checks import ValidationFailedError, check_commit, failure_words, known_verdict, note_checked
from llmc.perform.landing import LANDING, land, settle_landings
from llmc.site import Site

TRIES = 5
"""How often the work is put onto a branch that moves on in the same moment."""
OTHERS_SECS = 60.0
"""For the accept that is under way in another process, on top of its checks."""
LOOK = "look at it, then accept again"


class NotMergedError(LlmcError):
    """The work cannot be merged as it is; nothing was changed."""


def merge(site: Site, worker: Worker, step: Step, wanted: MergeWork) -> ev.WorkMerged | LlmcError:
    """The work as one commit on the branch in the user's repository, or the reason why not."""
    landed = _landed_before(site, worker) if step.begun else None
    if landed is not None:
        return _merged(site, step, landed, wanted, reviewed=_was_reviewed(worker, wanted))
    try:
        with _one_at_a_time(site):
            return _merge_alone(site, worker, step, wanted)
    except LlmcError as refused:
        return refused
    except KeyboardInterrupt:
        # Whoever presses Ctrl-C wants it not to happen, and nobody to go on with it later, unless it has.
        if _landed_before(site, worker) is None:
            site.ledger.apply(worker.name, ev.MergeRefused(site.now(), step.id, "interrupted"))
        raise


def _merge_alone(site: Site, worker: Worker, step: Step, wanted: MergeWork) -> ev.WorkMerged:
    settled = settle_landings(site)
    landed = _landed_before(site, worker) if step.begun and any(each.landed for _, each in settled) else None
    if landed is not None:  # by a git that outlived whoever had started it
        return _merged(site, step, landed, wanted, reviewed=_was_reviewed(worker, wanted))
    # Also after a try that failed: a lock or a full disk may have kept it from doing this itself.
    if any(site.git.objects(site.root.path, *accept_refs(worker))):
        forget_refs(site.git, site.root.path, *accept_refs(worker))
    site.ledger.apply(worker.name, ev.StepBegun(site.now(), step.id))
    reached(Moment.ACCEPT_BEGUN)
    made, plan = _merge(site, worker, wanted)
    message = next(each.message for each in plan.steps if isinstance(each, MakeCommit))
    return _merged(site, step, made, wanted, reviewed=plan.reviewed, message=message.rstrip("\n") + "\n")


def call_off(site: Site, worker: Worker, why: str) -> bool:
    """Nobody goes on with a merge that was cut short. False when its work is on the branch already.

    The caller acts for the worker.
    """
    step = next((each for each in worker.pending if isinstance(from_step(each), MergeWork)), None)
    if step is None:
        return True
    with _one_at_a_time(site):
        settle_landings(site)  # a git may have outlived whoever had started it
        if step.begun and _landed_before(site, worker) is not None:
            return False
        site.ledger.apply(worker.name, ev.MergeRefused(site.now(), step.id, why))
    return True


def _merged(site: Site, step: Step, sha: str, wanted: MergeWork, *, reviewed: bool, message: str = "") -> ev.WorkMerged:
    return ev.WorkMerged(site.now(), step.id, sha, reviewed, message, wanted.unattended)


def _was_reviewed(worker: Worker, wanted: MergeWork) -> bool:
    """Of work that landed before: what was not reviewed was refused then, unless the person took it all the same."""
    return worker.reviewed is not None and not wanted.changed


def _one_at_a_time(site: Site) -> FileLock:
    """Each accept stands on the one before it, so that no check has to run twice."""
    repo = site.config.repo
    # Another check may have to end before those of the other accept can begin.
    patience = OTHERS_SECS + 2 * len(repo.validate) * repo.validate_timeout_secs
    return FileLock(site.root.landing_lock, name=LANDING, timeout=patience)


def _merge(site: Site, worker: Worker, wanted: MergeWork) -> tuple[str, AcceptPlan]:
    """The commit, and the plan that has led to it."""
    for _ in range(TRIES - 1):
        try:
            return _try_to_merge(site, worker, wanted)
        except BranchMovedError:
            continue  # the user has committed meanwhile
    return _try_to_merge(site, worker, wanted)


def _try_to_merge(site: Site, worker: Worker, wanted: MergeWork) -> tuple[str, AcceptPlan]:
    git, root, source, branch = site.git, site.root.path, site.config.repo.source, site.config.repo.branch
    tip = same_or_fetched(git, source, root, branch)
    facts, commits = _look(site, worker, tip, wanted)
    plan = plan_accept(facts)
    if plan.obstacle is not None:
        raise NotMergedError(plan.obstacle.what, plan.obstacle.hint)
    made = _carry_out(site, worker, plan, commits)
    with suppress(LlmcError):  # it has landed: whoever fetches next learns of that
        note_moved(git, source, root, branch, tip, made)
    return made, plan


# --- the plan ---------------------------------------------------------------------------------------


def plan_for(site: Site, worker: Worker, tip: str, wanted: MergeWork) -> AcceptPlan:
    """What accepting the work would do, if the branch is at `tip`. Changes nothing."""
    return plan_accept(_look(site, worker, tip, wanted)[0])


def commit_of_work(site: Site, worker: Worker, tip: str, wanted: MergeWork, *, signed: bool = True) -> tuple[str, str]:
    """The commit that accepting would put onto the branch, and its message. It is made, and lands nowhere."""
    facts, commits = _look(site, worker, tip, wanted)
    plan = plan_accept(facts)
    step = next((each for each in plan.steps if isinstance(each, MakeCommit)), None)
    if step is None:
        assert plan.obstacle is not None
        raise NotMergedError(plan.obstacle.what, plan.obstacle.hint)
    signed = signed and step.signed
    made = squash(site.git, site.root.path, step.tree, step.onto, commits[0], step.message, signed=signed)
    return made, step.message


def _look(site: Site, worker: Worker, tip: str, wanted: MergeWork) -> tuple[AcceptFacts, tuple[Commit, ...]]:
    """All of it is about one commit of the worker's: what is compared with the review is what lands."""
    git, root, repo = site.git, site.root.path, site.config.repo
    require_ours(site.host, root, worker.name)
    branch = f"refs/heads/{worker.branch}"
    head, head_tree, tip_tree = git.objects(root, f"{branch}^{{commit}}", f"{branch}^{{tree}}", f"{tip}^{{tree}}")
    base = own_base(git, root, tip, head, worker.base_sha) if head else Base()
    commits = own_commits(git, root, head, base.sha or tip) if head else ()
    tree, conflicts = _joined(site, worker, tip, head, head_tree, base) if head and commits else (None, ())
    reviewed = worker.reviewed
    same = reviewed is not None and (reviewed.commit, reviewed.base) == (head, base.sha)
    seen = whole_status(git, worker.worktree_path)
    facts = AcceptFacts(
        worker=worker.name,
        work=worker.work,
        worktree=worker.worktree_path,
        worker_branch=worker.branch,
        checked_out=seen.branch,
        dirty=tuple(entry.path for entry in seen.entries),
        branch=repo.branch,
        tip=tip,
        head=head,
        up_to_date=base.sha == tip,
        commits=tuple(commit.sha for commit in commits),
        messages=messages_of(commits),
        author=_author(commits[0]) if commits else "",
        head_tree=head_tree or "",
        reviewed_tree=reviewed.tree if reviewed else None,
        since_review=_since_review(site, reviewed, tip, tree) if reviewed and tree and not same else None,
        takes_changed=wanted.changed,
        only_tree=wanted.tree,
        tree=tree,
        conflicts=conflicts,
        changes=tree not in (None, tip_tree),
        message=wanted.message,
        task=worker.current_prompt,
        signed=signs(git, root),
        checks=repo.validate,
        unattended=wanted.unattended,
        turn_is_over=worker.turn is Turn.OVER,
        check_secs=repo.validate_timeout_secs,
        checked=_has_passed(site, tree) if tree and repo.validate else None,
        place=_place(site, tip, tree) if tree else LandingPlace(),
        others=_others(site, worker),
    )
    return facts, commits


def _joined(
    site: Site, worker: Worker, tip: str, head: str, head_tree: str | None, base: Base
) -> tuple[str | None, tuple[str, ...]]:
    """All of the work at once on top of the branch: it lands as one commit, so its parts need not apply one by one."""
    if base.sha == tip:
        return head_tree, ()
    found = would_conflict(site.git, worker.worktree_path, tip, head, base)
    return (found.tree, ()) if isinstance(found, Clean) else (None, found.files)


def _has_passed(site: Site, tree: str) -> bool | None:
    known = known_verdict(site, tree)
    return known.passed if known is not None else None


def _since_review(site: Site, reviewed: Reviewed, tip: str, tree: str) -> Difference | None:
    text = changed_since(site.git, site.root.path, reviewed.base, reviewed.commit, tip, tree)
    return Difference(reviewed.commit, text) if text is not None else None


def _author(commit: Commit) -> str:
    author = commit.author
    return f"{author.get('GIT_AUTHOR_NAME', '')} <{author.get('GIT_AUTHOR_EMAIL', '')}>"


def _place(site: Site, tip: str, tree: str) -> LandingPlace:
    source = site.config.repo.source
    try:
        checkout = checkout_of(site.git, source, site.config.repo.branch)
    except LandRefusedError as refused:
        return LandingPlace(refusal=Obstacle(refused.what, refused.hint))
    if checkout is None:
        return LandingPlace()
    found = overlap(site.git, site.root.path, checkout, tip, tree)
    return LandingPlace(checkout, found.kept, found.in_the_way)


def _others(site: Site, worker: Worker) -> tuple[str, ...]:
    workers = site.ledger.load().workers.values()
    return tuple(other.name for other in workers if other.work is Work.NEEDS_REVIEW and other.name != worker.name)


# --- its steps --------------------------------------------------------------------------------------


def _carry_out(site: Site, worker: Worker, plan: AcceptPlan, commits: tuple[Commit, ...]) -> str:
    made = title = ""
    for step in plan.steps:
        # The others were looked at for the plan, or follow when the merge is in the record.
        match step:
            case MakeCommit():
                made, title = _make_commit(site, worker, step, commits[0]), first_line(step.message)
            case Validate() if step.commands:
                _validate(site, worker, step, made, commits[-1].sha)
            case MoveBranch():
                if worker.task:
                    site.ledger.tasks.database.require_usable()  # what has landed must be kept there
                source, ref, names = site.config.repo.source, _commit_ref(worker), (worker.name,)
                land(site, Order(source, site.root.path, step.branch, step.expected, made, ref, names, title))
                reached(Moment.ACCEPT_LANDED)
    return made


def _make_commit(site: Site, worker: Worker, step: MakeCommit, authored: Commit) -> str:
    git, root = site.git, site.root.path
    made = squash(git, root, step.tree, step.onto, authored, step.message, signed=step.signed)
    reached(Moment.ACCEPT_SQUASHED)
    ref = _commit_ref(worker)
    if not git.run(root, "update-ref", "--no-deref", ref, made, check=False).ok:
        # An agent can make refs below it, or stand one in its way: all of these names are LLMC's.
        forget_refs(git, root, *refs_below(git, root, ref.rpartition("/")[0]))
        git.run(root, "update-ref", "--no-deref", ref, made)
    reached(Moment.ACCEPT_NOTED)
    return made


def _validate(site: Site, worker: Worker, step: Validate, made: str, head: str) -> None:
    """The repository's own checks see exactly what will land. What has failed before is tried again: somebody asks."""
    verdict = check_commit(site, made, again=step.passed is False)  # what has passed is not run again, only noted
    note_checked(site, worker, verdict)
    if verdict.failed is not None:
        raise ValidationFailedError(failure_words(verdict.failed), _what_to_do(worker, verdict.failed))
    tip = branch_tip(site.git, site.root.path, worker.branch)
    if tip != head:
        kept = _keep(site, worker, head, tip)
        raise NotMergedError(f"{worker.name} committed while its work was checked{kept}", LOOK)
    reached(Moment.ACCEPT_VALIDATED)


def _what_to_do(worker: Worker, failed: CheckResult) -> str:
    if failed.problem.startswith("did not end"):
        return "raise repo.validate_timeout_secs, or send the work back with `llmc reject`"
    if failed.problem.startswith("changed"):
        return f"`llmc reject {worker.name} ...` lets the agent commit that, or fix the check"
    return "send the work back with `llmc reject`, or fix the check"


def _keep(site: Site, worker: Worker, head: str, tip: str | None) -> str:
    """Checks share the clone: one may have moved the branch away from the work."""
    if tip is not None and is_ancestor(site.git, site.root.path, head, tip):
        return ""
    reason = "its branch was moved while the work was checked"
    backup = backup_commit(site.git, site.root.path, worker.name, site.now(), worker.branch, head, reason)
    return f", or a check moved its branch; what was there is kept in {backup.ref}"


# --- what is kept for whoever has to go on ----------------------------------------------------------


def _commit_ref(worker: Worker) -> str:
    return f"refs/llmc/accept/{worker.name}/commit"


def accept_refs(worker: Worker) -> tuple[str, ...]:
    """Those of an accept; the second one by versions that had the worktree show what would land."""
    return _commit_ref(worker), f"refs/llmc/accept/{worker.name}/work"


def _landed_before(site: Site, worker: Worker) -> str | None:
    """The commit that an earlier try of this very merge has put on the branch before it was cut short."""
    made = resolve(site.git, site.root.path, _commit_ref(worker))
    if made is None or not _is_its_work(site, worker, made):
        return None
    tip = fetch_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)
    return made if is_ancestor(site.git, site.root.path, made, tip) else None


def _is_its_work(site: Site, worker: Worker, made: str) -> bool:
    """An agent can move the ref: only the work itself, on what the commit stands on, is taken for it."""
    git, root = site.git, site.root.path
    names = (f"{made}~1^{{commit}}", f"{made}^{{tree}}", f"refs/heads/{worker.branch}^{{commit}}")
    onto, tree, head = git.objects(root, *names)
    return None not in (onto, head) and (head == made or _on_top(site, worker, str(onto), str(head)) == tree)


def _on_top(site: Site, worker: Worker, onto: str, head: str) -> str | None:
    """The tree that merging this work onto that commit gives, if it does."""
    base = own_base(site.git, site.root.path, onto, head, worker.base_sha)
    (head_tree,) = site.git.objects(site.root.path, f"{head}^{{tree}}")
    return _joined(site, worker, onto, head, head_tree, base)[0] if base.sha else None
