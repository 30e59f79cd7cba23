"""LLMC's own copy of the user's repository."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.own_view import has_view, is_current, view_of, write_view
from llmc.git.parse import nul_fields
from llmc.git.plain_refs import is_alias, make_plain
from llmc.git.repository import HEADS, branch_tip, common_dir, heads, require_commit, uses_lfs
from llmc.git.runner import LONG, Git

REMOTE = "origin"
TRACKING = f"refs/remotes/{REMOTE}/"
"""The user's branches as agents know them. Whoever fetches moves them."""
UPSTREAM = "refs/llmc/upstream/"
"""The user's branch as LLMC itself has last seen it."""


class CloneError(LlmcError):
    """The user's repository cannot be copied as things are."""


class SourceGoneError(LlmcError):
    """The user's repository is not where it was."""


class BranchMissingError(LlmcError):
    """The user's repository has no such branch."""


# Who they are, how they sign, how file contents are filtered: often set for one repository or one directory only.
_CARRIED = re.compile(
    r"user\..+|commit\.gpgsign|gpg\..+|core\.(autocrlf|eol|safecrlf|attributesfile|excludesfile)"
    r"|(filter|merge|diff)\..+\..+"
)

# In order: sharing by hard links, plain copies where the file system has no links, and git's own protocol
# where the objects are not plain files.
_WAYS = ("--local", "--no-hardlinks", "--no-local")
_NEXT_WAY = re.compile(r"failed to create link|symlink|failed to start iterator")


def clone_source(git: Git, source: str, root: str, branch: str) -> None:
    """Makes `<root>/.git`: bare, with `source` as its origin. A copy that was interrupted is begun again."""
    git = replace(git, as_agents=True)
    _make_room(git, root)
    if common_dir(git, source) is None:
        raise CloneError(f"{source} is not a git repository", "run `git init` there, or give another path")
    if branch_tip(git, source, branch) is None:
        raise BranchMissingError(f"{source} has no branch {branch}", "name another one with --branch")
    git.host.make_dir(_marker(root))
    _clone(git, source, root, branch)
    _track_instead_of_copying(git, root, branch)
    _configure(git, source, root)
    make_view(git, source, root)
    _prepare_lfs(git, root, branch)
    git.host.remove_tree(_marker(root))


def _marker(root: str) -> str:
    """Exists while a copy is being made, so that one which was cut short is told from a repository of the user's."""
    return f"{root}/.cloning"


def _make_room(git: Git, root: str) -> None:
    if git.host.exists(_marker(root)):
        git.host.remove_tree(view_of(root))
        git.host.remove_tree(f"{root}/.git")
    elif git.host.exists(f"{root}/.git"):
        raise CloneError(f"{root} already holds a repository", "choose another directory for LLMC")


def _clone(git: Git, source: str, root: str, branch: str) -> None:
    for way in _WAYS:
        try:
            _clone_by(git, way, source, root, branch)
        except GitError as failed:
            if way == _WAYS[-1] or not _NEXT_WAY.search(failed.words):
                raise
            git.host.remove_tree(f"{root}/.git")
        else:
            return


def _clone_by(git: Git, way: str, source: str, root: str, branch: str) -> None:
    args = ("clone", "--quiet", "--bare", way, "--no-reject-shallow", "--template=", f"--origin={REMOTE}")
    # Watching for commits relies on refs being files.
    files = {"GIT_DEFAULT_REF_FORMAT": "files"}
    git.run(root, *args, f"--branch={branch}", "--", source, f"{root}/.git", timeout=LONG, env=files)


def _track_instead_of_copying(git: Git, root: str, branch: str) -> None:
    """The user's branches become origin/*: a copy of one here would only go stale under its own name."""
    git.run(root, "config", f"remote.{REMOTE}.fetch", f"+{HEADS}*:{TRACKING}*")
    git.run(root, "fetch", "--quiet", "--no-write-fetch-head", REMOTE, timeout=LONG)
    git.run(root, "update-ref", UPSTREAM + branch, TRACKING + branch)
    copies = "".join(f"delete {HEADS}{name} {sha}\n" for name, sha in heads(git, root).items())
    git.run(root, "update-ref", "--stdin", stdin=copies.encode())
    git.run(root, "symbolic-ref", f"{TRACKING}HEAD", TRACKING + branch)


_IDENTITY = ("user.name", "user.email")
"""Kept in the clone itself, because some agents hide the person's own settings from the git that they run."""


def _configure(git: Git, source: str, root: str) -> None:
    here = _settings(git, root)
    theirs = {n: v for n, v in _settings(git, source).items() if here.get(n) != v or n in _IDENTITY}
    own = {"rerere.enabled": "true", "rerere.autoupdate": "true", "core.logAllRefUpdates": "true"}
    for name, value in (theirs | own).items():
        git.run(root, "config", "--replace-all", name, value)
    forbid_pushes(git, root)
    for name, content in _info(git, source):
        git.host.write(f"{root}/.git/info/{name}", content)


NOWHERE = "/nothing-is-pushed-from-here-LLMC-lands-your-work-after-a-review"
"""Git names the place that it cannot reach: so this is what an agent reads."""


def forbid_pushes(git: Git, root: str) -> None:
    """Agents see where the work came from, and cannot put anything there unreviewed."""
    replace(git, as_agents=True).run(root, "config", "--replace-all", f"remote.{REMOTE}.pushurl", NOWHERE)


def make_view(git: Git, source: str, root: str) -> None:
    """LLMC's own view of the clone, with what the person has set for their repository and nothing else."""
    everywhere = _settings(git, "/")
    theirs = {name: value for name, value in _settings(git, source).items() if everywhere.get(name) != value}
    layout = git.text(source, "rev-parse", "--show-object-format")
    version = {"core.repositoryFormatVersion": "0"}
    if layout != "sha1":
        version = {"core.repositoryFormatVersion": "1", "extensions.objectFormat": layout}
    made_from = f"{common_dir(git, source)}/config"
    write_view(git.host, root, theirs | {f"remote.{REMOTE}.url": source} | version, _info(git, source), made_from)


def ensure_view(git: Git, source: str, root: str, branch: str) -> None:
    """Makes it where there is none, as in a root of an earlier LLMC, and anew when the person has changed a setting."""
    if not git.host.is_dir(f"{root}/.git") or not git.host.is_dir(source) or is_current(git.host, root):
        return
    is_new = not has_view(git.host, root)
    make_view(git, source, root)
    if is_new:
        forbid_pushes(git, root)
        with suppress(LlmcError):  # whoever needs the branch says what is wrong with it
            fetch_source(git, source, root, branch)


def _settings(git: Git, cwd: str) -> dict[str, str]:
    """What holds in that directory, from whichever file it comes."""
    fields = nul_fields(git.run(cwd, "config", "--list", "-z").out)
    # A name without a value means true.
    pairs = ((name, value if equals else "true") for name, equals, value in (field.partition("\n") for field in fields))
    return {name: value for name, value in pairs if _CARRIED.fullmatch(name)}


def _info(git: Git, source: str) -> list[tuple[str, bytes]]:
    """What the user ignores only for themselves must not show up as untracked in the worktrees."""
    directory = f"{common_dir(git, source)}/info"
    found = ((name, git.host.read(f"{directory}/{name}")) for name in ("exclude", "attributes"))
    return [(name, content) for name, content in found if content is not None]


def has_lfs(git: Git) -> bool:
    return git.host.which("git-lfs") is not None


def _prepare_lfs(git: Git, root: str, branch: str) -> None:
    tip = TRACKING + branch
    if has_lfs(git) and uses_lfs(git, root, tip):
        git.run(root, "lfs", "install", "--local", "--skip-repo")
        git.run(root, "lfs", "fetch", REMOTE, tip, timeout=LONG)


def fetch_source(git: Git, source: str, root: str, branch: str) -> str:
    """Brings what LLMC and its agents know of the user's branch up to date, and returns its tip."""
    args = (
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
    )
    refspecs = [f"+{HEADS}{branch}:{names}{branch}" for names in (UPSTREAM, TRACKING)]
    for names in (UPSTREAM, TRACKING):
        make_plain(git, root, names + branch)
    done = git.run(root, *args, "--", source, *refspecs, check=False, timeout=LONG)
    # Two fetches at once: the slower one finds the ref already moved, which is all that it wanted.
    if not done.ok and "cannot lock ref" in done.complaint:
        done = git.run(root, *args, "--", source, *refspecs, check=False, timeout=LONG)
    if not done.ok:
        raise _why_not_fetched(source, branch, GitError(args, done.complaint, done.code))
    return require_commit(git, root, UPSTREAM + branch)


def same_or_fetched(git: Git, source: str, root: str, branch: str) -> str:
    """As `fetch_source`, where the branch is mostly where it was when it was last fetched, by a daemon for example."""
    refs = (UPSTREAM + branch, TRACKING + branch)
    with suppress(LlmcError):  # the fetch says what is wrong
        tip = branch_tip(git, source, branch)
        if set(git.objects(root, *refs)) == {tip} and not any(is_alias(git.host, root, ref) for ref in refs):
            return require_commit(git, root, UPSTREAM + branch)
    return fetch_source(git, source, root, branch)


def note_moved(git: Git, source: str, root: str, branch: str, old: str, new: str) -> None:
    """After LLMC itself has moved the user's branch to a commit of the clone: what a fetch would do, without one."""
    refs = (UPSTREAM + branch, TRACKING + branch)
    orders = "".join(f"option no-deref\nupdate {ref} {new} {old}\n" for ref in refs)

    def is_noted() -> bool:
        return set(git.objects(root, *refs)) == {new}

    # A daemon that sees the branch move fetches it, before this or in the same moment.
    if not (is_noted() or git.run(root, "update-ref", "--stdin", stdin=orders.encode(), check=False).ok or is_noted()):
        fetch_source(git, source, root, branch)


def peek_source(git: Git, source: str, root: str, branch: str) -> str:
    """The tip of the user's branch, with its objects, and no name in the clone is moved."""
    args = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=")
    done = git.run(root, *args, "--", source, HEADS + branch, check=False, timeout=LONG)
    if not done.ok:
        raise _why_not_fetched(source, branch, GitError(args, done.complaint, done.code))
    return require_commit(git, source, HEADS + branch)


def _why_not_fetched(source: str, branch: str, failed: GitError) -> LlmcError:
    if "couldn't find remote ref" in failed.words:
        return BranchMissingError(
            f"the source repository has no branch {branch} any more",
            "bring the branch back, or name another one: `llmc config set repo.branch NAME`",
        )
    if "does not appear to be a git repository" in failed.words:
        return SourceGoneError(
            f"there is no git repository at {source} any more",
            "bring it back, or say where it is now: `llmc config set repo.source PATH`",
        )
    return failed
