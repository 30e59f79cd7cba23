"""LLMC's own clone of the repository: its settings, refs, lock files, and branches that belong to nobody."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from llmc.config.load import load_config
from llmc.config.settings import Config
from llmc.core.display import age
from llmc.core.lifecycle.clocks import elapsed, is_older
from llmc.doctor.answers import Absent, Answer, Broken, Found, Unknown, both, given, known
from llmc.doctor.daemon import of_nobody
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import BRANCHES, Health, Looking
from llmc.doctor.repairs import Repair, RepairContext, RepairStage, fix
from llmc.errors import LlmcError
from llmc.git.backup import backup_branch
from llmc.git.clone import REMOTE, TRACKING, UPSTREAM, clone_source, fetch_source, make_view
from llmc.git.failure import GitError
from llmc.git.parse import decode
from llmc.git.repair import GitRepairError, repair_clone, repair_ref
from llmc.git.repository import common_dir, heads, list_worktrees, missing_commits, resolve, uses_lfs
from llmc.git.runner import Git
from llmc.git.worktree import delete_branch
from llmc.host.processes import can_look_around, works_in
from llmc.root import Root
from llmc.values import Value

TOPIC = Topic("repository")
REASON = "doctor --repair"
TURNED_ON = ("rerere.enabled", "rerere.autoupdate")
OLD_LOCK_SECS = 60.0
_BROKEN = re.compile(r"warning: ignoring (?:broken ref|dangling symref|ref with broken name) (\S+)")


# --- look -----------------------------------------------------------------------------------------


class WorktreeRecord(Value):
    """What git itself says of a worktree."""

    path: str
    branch: str | None
    """None when HEAD is detached."""
    missing: bool = False
    foreign: str = ""
    """Why the directory is not the one that LLMC made, if it is there and is not."""


class CloneFacts(Value):
    heads: Mapping[str, str]
    worktrees: tuple[WorktreeRecord, ...]
    settings_off: tuple[str, ...]
    """What LLMC turns on there and somebody has turned off."""
    origin: str
    """Where it fetches from."""
    identity_trouble: str
    """Why git would refuse a commit; empty when it would not."""


class CloneSeen(Value):
    clone: Answer[CloneFacts] = field(metadata=TOPIC.asks("LLMC's own clone", required=True))
    uses_lfs: Answer[bool] = field(metadata=TOPIC.asks("whether the repository uses git-lfs"))
    broken_refs: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("the refs of the clone"))
    git_locks: Answer[Mapping[str, float]] = field(metadata=TOPIC.asks("git's lock files"))
    """The age of each that no process can be seen to use."""


def look(looking: Looking, seen: Health) -> CloneSeen:
    git, root = looking.git, looking.root
    clone = given(git, lambda git: _look_at_clone(git, root))
    there = given(clone, lambda _: git)
    return CloneSeen(
        clone,
        uses_lfs=given(both(there, looking.config), lambda of: _look_at_lfs(*of, root)),
        broken_refs=given(there, lambda git: _find_broken_refs(git, root)),
        git_locks=looking.ask(_find_git_locks),
    )


def _look_at_clone(git: Git, root: Root) -> Answer[CloneFacts]:
    """Whatever keeps git itself from using the clone makes it broken."""
    if not git.host.exists(root.git_dir):
        return Absent()
    if git.host.exists(root.inside(".cloning")):
        return Broken(f"the copy in {root.git_dir} was cut short while it was made")
    as_agents = replace(git, as_agents=True)  # they need it whole too
    try:
        if not _is_repository_itself(as_agents, root):
            return Broken(f"{root.git_dir} is not a git repository any more")
        found = _facts(as_agents, root)
        resolve(git, root.path, "HEAD")  # fails where LLMC's own view of it is damaged
        return Found(found)
    except GitError as failed:
        return Broken(f"git cannot use {root.git_dir}: {failed.what}", failed.hint)


def _is_repository_itself(git: Git, root: Root) -> bool:
    """Git looks further up when a `.git` is no repository, and may find another one there."""
    found = common_dir(git, root.path)
    return found is not None and git.host.real_path(found) == git.host.real_path(root.git_dir)


def _facts(git: Git, root: Root) -> CloneFacts:
    identity = git.run(root.path, "var", "GIT_AUTHOR_IDENT", check=False)
    worktrees = (each for each in list_worktrees(git, root.path) if not each.bare)
    return CloneFacts(
        heads(git, root.path),
        tuple(WorktreeRecord(git.host.real_path(each.path), each.branch, each.missing) for each in worktrees),
        settings_off=tuple(name for name in TURNED_ON if _setting(git, root, name) != "true"),
        origin=_setting(git, root, f"remote.{REMOTE}.url"),
        identity_trouble="" if identity.ok else identity.complaint.splitlines()[-1],
    )


def _setting(git: Git, root: Root, name: str) -> str:
    found = git.ask(root.path, "config", "--get", name)
    return decode(found.out).strip() if found else ""


def _look_at_lfs(git: Git, config: Config, root: Root) -> Answer[bool]:
    tip = resolve(git, root.path, UPSTREAM + config.repo.branch)
    return Found(tip is not None and uses_lfs(git, root.path, tip))


def _find_broken_refs(git: Git, root: Root) -> Answer[tuple[str, ...]]:
    """Those that git itself leaves out, and those whose commit is not there."""
    listed = git.run(root.path, "for-each-ref", "--format=%(objectname) %(refname)")
    pairs = [line.split(" ", 1) for line in decode(listed.out).splitlines()]
    gone = set(missing_commits(git, root.path, dict.fromkeys(sha for sha, _ in pairs)))
    broken = _BROKEN.findall(listed.err.decode("utf-8", "replace"))
    return Found(tuple(dict.fromkeys([*broken, *(ref for sha, ref in pairs if sha in gone)])))


def _find_git_locks(root: Root) -> Answer[Mapping[str, float]]:
    """Old ones only, and none while any git runs in the root: an agent's hooks may keep a lock for long."""
    if not can_look_around():
        return Unknown("this system does not tell whether a git runs", covered=True)
    now = time.time()
    old = {str(path): elapsed(at, now) for path, at in _locks(Path(root.git_dir)) if is_older(at, now, OLD_LOCK_SECS)}
    return Found({} if old and works_in(root.path, "git") else old)


def _locks(git_dir: Path) -> Iterator[tuple[Path, float]]:
    """With the time of each."""
    for path in (*git_dir.glob("*.lock"), *git_dir.glob("worktrees/*/*.lock"), *(git_dir / "refs").rglob("*.lock")):
        with suppress(FileNotFoundError):  # given back just now
            yield path, path.lstat().st_mtime


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.REPOSITORY, "mend the clone", "repair LLMC's clone; if it is gone, copy the source again")
def _repair_clone(context: RepairContext, repair: Repair) -> str:
    git, root, host = Git(context.host, as_agents=True), context.root, context.host
    repo = load_config(root.config_file).repo
    if host.exists(root.git_dir) and not host.is_dir(root.git_dir):
        host.move(root.git_dir, f"{context.aside}/.git")
    if not host.exists(root.git_dir) or host.exists(root.inside(".cloning")):
        clone_source(git, repo.source, root.path, repo.branch)
        return f"copied {repo.source} again; commits that were only here are lost, the files in the worktrees are not"
    repair_clone(git, root.git_dir, repo.branch, context.aside)
    if not _is_repository_itself(git, root):
        what = f"git does not take {root.git_dir} as a repository"
        raise GitRepairError(what, f"`git -C {root.path} fsck` may tell more")
    make_view(git, repo.source, root.path)
    return "git can use it again"


@fix(RepairStage.REPOSITORY, "turn on", "turn {subject} on in the clone")
def _turn_on(context: RepairContext, repair: Repair) -> str:
    Git(context.host, as_agents=True).run(context.root.path, "config", repair.subject, "true")
    return f"{repair.subject} is on"


@fix(RepairStage.REPOSITORY, "remove a lock", "remove {subject}")
def _remove_lock(context: RepairContext, repair: Repair) -> str:
    if works_in(context.root.path, "git"):
        raise LlmcError("a git runs in this root by now", "wait until it has ended, then repair again")
    os.unlink(repair.subject)
    return f"removed {Path(repair.subject).name}"


@fix(RepairStage.REPOSITORY, "mend a ref", "put {subject} back where it last stood; what is there is kept aside")
def _repair_ref(context: RepairContext, repair: Repair) -> str:
    git, ref, root = Git(context.host), repair.subject, context.root
    if not ref.startswith((TRACKING, UPSTREAM)):
        return f"{ref} is at {repair_ref(git, root.path, ref, context.aside)[:12]} again"
    repo = load_config(root.config_file).repo
    context.host.remove_tree(f"{root.git_dir}/{ref}")
    if ref == f"{TRACKING}HEAD":
        git.run(root.path, "symbolic-ref", ref, TRACKING + repo.branch)
        return f"{ref} follows {repo.branch} again"
    branch = ref.removeprefix(TRACKING).removeprefix(UPSTREAM)
    return f"{ref} is at {fetch_source(git, repo.source, root.path, branch)[:12]} again"


@fix(RepairStage.ORPHANS, "keep a branch as a backup", "keep the branch {subject} as a backup and remove it")
def _keep_branch(context: RepairContext, repair: Repair) -> str:
    site, branch = context.open_site(), repair.subject
    backup = backup_branch(site.git, site.root.path, branch.removeprefix(BRANCHES), site.now(), branch, REASON)
    delete_branch(site.git, site.root.path, branch)
    return f"it is kept in {backup.ref}" if backup is not None else "a backup has it already"


# --- judgement ------------------------------------------------------------------------------------

BROKEN = TOPIC.error(
    "clone-broken",
    "LLMC's own clone, the `.git` of the root, is missing or damaged",
    "`git -C {root} fsck` tells what is damaged; if it is lost, make a new root with `llmc init --target DIR`",
    _repair_clone,
)
REF_BROKEN = TOPIC.error(
    "ref-broken",
    "a branch, backup or other ref of the clone leads nowhere",
    "`llmc doctor --repair` puts it back where it last stood, by its own log",
    _repair_ref,
)
LOCK_LEFT_OVER = TOPIC.warning(
    "git-lock-left-over",
    "a git that was ended by force has left its lock file, and every other git refuses to work",
    "`llmc doctor --repair`, or `rm {path}` when no git runs there",
    _remove_lock,
)
RERERE_OFF = TOPIC.warning(
    "rerere-off", "git does not remember how conflicts were resolved", "`git -C {root} config {setting} true`", _turn_on
)
IDENTITY_MISSING = TOPIC.warning(
    "identity-missing",
    "git does not know in whose name to commit, so that commits fail",
    "`git config --global user.name NAME` and `git config --global user.email ADDRESS`",
)
BRANCH_ORPHANED = TOPIC.warning(
    "branch-orphaned",
    "a branch of LLMC's belongs to no worker",
    "`llmc doctor --repair` removes it and keeps a backup",
    _keep_branch,
)


def judge(health: Health) -> Iterator[Finding]:
    seen, root = health.of(CloneSeen), health.root.path
    match seen.clone:
        case Absent():
            yield _broken(root, Broken(f"there is no {root}/.git"))
        case Broken():
            yield _broken(root, seen.clone)
        case Found(clone):
            yield from _clone(root, clone)
            yield from _orphans(health, clone)
    for ref in known(seen.broken_refs, ()):
        why = "git leaves out what it cannot follow: the work behind it cannot be found"
        yield REF_BROKEN.finding(f"{ref} of {root}/.git leads nowhere", why, subject=ref)
    for path, seconds in known(seen.git_locks, {}).items():
        what = f"{path} is {age(seconds)} old, and no git runs that could have it"
        yield LOCK_LEFT_OVER.finding(what, "git refuses to work there", path=path)


def _broken(root: str, trouble: Broken) -> Finding:
    why = "the workers' branches and backups are in there"
    return BROKEN.finding(trouble.what, why, advice=trouble.hint, root=root)


def _clone(root: str, clone: CloneFacts) -> Iterator[Finding]:
    for setting in clone.settings_off:
        what, why = f"{setting} is off in {root}/.git", "a conflict that was resolved once comes back"
        yield RERERE_OFF.finding(what, why, subject=setting, root=root, setting=setting)
    if clone.identity_trouble:
        yield IDENTITY_MISSING.finding("git does not know in whose name to commit", clone.identity_trouble)


def _orphans(health: Health, clone: CloneFacts) -> Iterator[Finding]:
    for branch in of_nobody(health, clone.heads, BRANCHES, lambda worker: worker.branch):
        why = "a worker was removed or never finished; the branch may hold work"
        yield BRANCH_ORPHANED.finding(f"the branch {branch} belongs to no worker", why, subject=branch)


def summary(health: Health) -> str:
    return ""
