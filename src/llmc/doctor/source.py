"""The user's own repository: whether it is there, and what landings and other gits have left in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from llmc.config.settings import Config
from llmc.core.display import age
from llmc.core.landing.journal import Landing
from llmc.core.lifecycle.clocks import elapsed
from llmc.doctor.answers import Absent, Answer, Broken, Found, Unknown, both, given, known
from llmc.doctor.clone import CloneFacts, CloneSeen
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.doctor.settings import SettingsSeen
from llmc.errors import LlmcError
from llmc.git.clone import REMOTE
from llmc.git.failure import GitError
from llmc.git.land import place_of
from llmc.git.locks import LockFile, locks_on, remove_left
from llmc.git.repository import branch_tip, common_dir
from llmc.git.runner import Git
from llmc.host.locks import FileLock, is_held
from llmc.perform.landing import LANDING, settle_landings, settled_words
from llmc.root import Root
from llmc.store.landing_journal import JournalBrokenError, LandingJournal
from llmc.values import Value

TOPIC = Topic("repository")
STAYS_SECS = 60.0
"""Hardly any git needs its lock for longer."""
OLD_LOCK_SECS = 600.0
"""A lock that nobody has may be removed then."""


# --- look -----------------------------------------------------------------------------------------


class SourceSeen(Value):
    has_branch: Answer[bool] = field(metadata=TOPIC.asks("the source repository"))
    is_followed: Answer[bool] = field(metadata=TOPIC.asks("which repository the clone follows"))
    """Whether the clone fetches from the very repository that accepted work goes to."""
    locks: Answer[tuple[LockFile, ...]] = field(metadata=TOPIC.asks("git's lock files in the source repository"))
    """Those that stay."""
    landings: Answer[tuple[Landing, ...]] = field(metadata=TOPIC.asks("the journal of landings"))
    """Those that were cut short."""


def look(looking: Looking, seen: Health) -> SourceSeen:
    source = both(looking.git, looking.config)
    has_branch = given(source, lambda of: _look_at_source(*of))
    clone = seen.of(CloneSeen).clone
    return SourceSeen(
        has_branch,
        is_followed=given(clone, lambda clone: given(source, lambda of: _look_at_following(*of, clone))),
        locks=given(has_branch, lambda _: given(source, lambda of: _find_locks(*of))),
        landings=looking.ask(_find_landings),
    )


def _look_at_source(git: Git, config: Config) -> Answer[bool]:
    path = config.repo.source
    if not git.host.exists(path):
        return Absent()
    if not git.host.is_dir(path):
        return Broken(f"{path} is not a directory")
    try:
        if common_dir(git, path) is None:
            return Broken(f"{path} is not a git repository")
        return Found(branch_tip(git, path, config.repo.branch) is not None)
    except GitError as failed:
        return Broken(f"git cannot use {path}: {failed.what}", failed.hint)


def _look_at_following(git: Git, config: Config, clone: CloneFacts) -> Answer[bool]:
    places = (clone.origin, config.repo.source)
    if git.host.real_path(places[0]) == git.host.real_path(places[1]):
        return Found(True)
    if not all(git.host.is_dir(place) for place in places):
        return Found(False)
    return Found(common_dir(git, places[0]) == common_dir(git, places[1]))


def _find_locks(git: Git, config: Config) -> Answer[tuple[LockFile, ...]]:
    repo = config.repo
    found = locks_on(git, place_of(git, repo.source, repo.branch), repo.branch)
    return Found(tuple(lock for lock in found if lock.age_secs > STAYS_SECS))


def _find_landings(root: Root) -> Answer[tuple[Landing, ...]]:
    """None while somebody lands work: what the journal says is in their hands then."""
    try:
        return Found(() if is_held(root.landing_lock) is not None else LandingJournal(root.landings).read())
    except JournalBrokenError as broken:
        return Unknown(broken.what, covered=True)


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.WORKTREES, "settle landings", "finish or take back what was being landed; your own changes stay")
def _settle_landings(context: RepairContext, repair: Repair) -> str:
    site = context.open_site()
    with FileLock(context.root.landing_lock, name=LANDING):
        found = settle_landings(site)
    return "; ".join(settled_words(*each) for each in found) or "somebody else has settled it by now"


@fix(RepairStage.REPOSITORY, "remove a lock of the source", "remove {subject}")
def _remove_lock(context: RepairContext, repair: Repair) -> str:
    site = context.open_site()
    repo = site.config.repo
    for lock in locks_on(site.git, place_of(site.git, repo.source, repo.branch), repo.branch):
        if lock.path == repair.subject:
            if not lock.is_left:
                raise LlmcError(f"{lock.holder or 'a git'} has it by now", "wait until it has ended, then repair again")
            remove_left(lock)
    return f"removed {Path(repair.subject).name}"


@fix(RepairStage.REPOSITORY, "follow the source", "let the clone follow {subject}")
def _follow_source(context: RepairContext, repair: Repair) -> str:
    Git(context.host, as_agents=True).run(context.root.path, "remote", "set-url", REMOTE, repair.subject)
    return f"the clone follows {repair.subject}"


# --- judgement ------------------------------------------------------------------------------------

LANDING_CUT_SHORT = TOPIC.error(
    "landing-cut-short",
    "a landing was cut short (killed, or the disk was full) and has left files of it in your checkout",
    "`llmc doctor --repair` finishes it or takes it back; what you have changed yourself stays",
    _settle_landings,
)
LOCK_LEFT_OVER = TOPIC.warning(
    "source-lock-left-over",
    "a git that was ended by force has left its lock file in your repository, and no process uses it any more",
    "`llmc doctor --repair`, or `rm {path}`",
    _remove_lock,
)
LOCKED = TOPIC.warning(
    "source-locked",
    "a lock file of git in your repository keeps work from being landed",
    "wait for the program that has it, or end it; if there is none, `rm {path}`",
)
GONE = TOPIC.error(
    "source-gone",
    "the source repository is not where the settings say",
    "bring it back, or `llmc config set repo.source PATH` and `git -C {root} remote set-url origin PATH`",
)
DIFFERS = TOPIC.note(
    "source-differs",
    "`origin` in the worktrees is another repository than the one that accepted work goes to",
    "`git -C {root} remote set-url origin {source}`",
    _follow_source,
)
BRANCH_MISSING = TOPIC.error(
    "branch-missing",
    "the source repository has no such branch as the settings say",
    "bring the branch back, or name another one: `llmc config set repo.branch NAME`",
)


def judge(health: Health) -> Iterator[Finding]:
    seen, config = health.of(SourceSeen), health.of(SettingsSeen).config
    if isinstance(config, Found):
        yield from _source(health, seen, config.value)
    for landing in known(seen.landings, ()):
        what = f"landing {landing.words} was cut short {age(health.at_unix - landing.begun_unix)} ago"
        yield LANDING_CUT_SHORT.finding(what, "git shows its files as changes that you did not make")
    for lock in known(seen.locks, ()):
        yield _lock(lock, elapsed(lock.made_unix, health.at_unix))


def _source(health: Health, seen: SourceSeen, config: Config) -> Iterator[Finding]:
    root, source, clone = health.root.path, config.repo.source, health.of(CloneSeen).clone
    match seen.has_branch:
        case Absent():
            yield _gone(root, f"there is nothing at {source}")
        case Broken(what):
            yield _gone(root, what)
        case Found(False):
            what = f"{source} has no branch {config.repo.branch}"
            yield BRANCH_MISSING.finding(what, "work starts from it and lands on it")
    if seen.is_followed == Found(False) and isinstance(seen.has_branch, Found) and isinstance(clone, Found):
        origin = clone.value.origin or "nothing"
        what = f"origin in the worktrees is {origin}, but accepted work goes to {source}"
        why = "agents that fetch it see something else; LLMC itself uses the latter"
        yield DIFFERS.finding(what, why, subject=source, root=root, source=source)


def _gone(root: str, what: str) -> Finding:
    return GONE.finding(what, "accepted work has nowhere to go", root=root)


def _lock(lock: LockFile, seconds: float) -> Finding:
    why = "git refuses to work there"
    if lock.holder or seconds <= OLD_LOCK_SECS:
        whose = f"{lock.holder} may have it" if lock.holder else "no process has it"
        return LOCKED.finding(f"{lock.path} is {age(seconds)} old; {whose}", why, path=lock.path)
    what = f"{lock.path} is {age(seconds)} old, and no process has it"
    return LOCK_LEFT_OVER.finding(what, why, path=lock.path)


def summary(health: Health) -> str:
    config = known(health.of(SettingsSeen).config, None)
    return f"clone of {config.repo.source}, branch {config.repo.branch}" if config else TOPIC.name
