"""LLMC's own clone and the user's repository, looked at without changing anything in them."""

from __future__ import annotations

import re
from dataclasses import replace

from llmc.config import Config
from llmc.doctor.health import Absent, Answer, Broken, Clone, Found, Source, WorktreeRecord
from llmc.git.clone import REMOTE, UPSTREAM
from llmc.git.failure import GitError
from llmc.git.parse import decode
from llmc.git.repository import branch_tip, common_dir, heads, list_worktrees, resolve, uses_lfs
from llmc.git.runner import Git
from llmc.root import Root

TURNED_ON = ("rerere.enabled", "rerere.autoupdate")


def look_at_clone(git: Git, root: Root) -> Answer[Clone]:
    """Whatever keeps git itself from using the clone makes it broken."""
    if not git.host.exists(root.git_dir):
        return Absent()
    if git.host.exists(root.inside(".cloning")):
        return Broken(f"the copy in {root.git_dir} was cut short while it was made")
    try:
        # As agents see it: they need it whole too.
        if not _is_repository_itself(replace(git, as_agents=True), root):
            return Broken(f"{root.git_dir} is not a git repository any more")
        found = _clone(replace(git, as_agents=True), root)
        resolve(git, root.path, "HEAD")  # fails where LLMC's own view of it is damaged
        return Found(found)
    except GitError as failed:
        return Broken(f"git cannot use {root.git_dir}: {failed.what}", failed.hint)


def _is_repository_itself(git: Git, root: Root) -> bool:
    """Git looks further up when a `.git` is no repository, and may find another one there."""
    found = common_dir(git, root.path)
    return found is not None and git.host.real_path(found) == git.host.real_path(root.git_dir)


def _clone(git: Git, root: Root) -> Clone:
    identity = git.run(root.path, "var", "GIT_AUTHOR_IDENT", check=False)
    return Clone(
        heads=heads(git, root.path),
        worktrees=_records(git, root),
        settings_off=tuple(name for name in TURNED_ON if _setting(git, root, name) != "true"),
        origin=_setting(git, root, f"remote.{REMOTE}.url"),
        identity_trouble="" if identity.ok else identity.complaint.splitlines()[-1],
    )


def _setting(git: Git, root: Root, name: str) -> str:
    found = git.ask(root.path, "config", "--get", name)
    return decode(found.out).strip() if found else ""


def _records(git: Git, root: Root) -> tuple[WorktreeRecord, ...]:
    known = (each for each in list_worktrees(git, root.path) if not each.bare)
    return tuple(WorktreeRecord(git.host.real_path(each.path), each.branch, each.missing) for each in known)


def look_at_source(git: Git, config: Config) -> Answer[Source]:
    path = config.repo.source
    if not git.host.exists(path):
        return Absent()
    if not git.host.is_dir(path):
        return Broken(f"{path} is not a directory")
    try:
        if common_dir(git, path) is None:
            return Broken(f"{path} is not a git repository")
        return Found(Source(has_branch=branch_tip(git, path, config.repo.branch) is not None))
    except GitError as failed:
        return Broken(f"git cannot use {path}: {failed.what}", failed.hint)


def look_at_following(git: Git, config: Config, clone: Clone) -> Answer[bool]:
    """Whether the clone fetches from the very repository that accepted work goes to."""
    places = (clone.origin, config.repo.source)
    if git.host.real_path(places[0]) == git.host.real_path(places[1]):
        return Found(True)
    if not all(git.host.is_dir(place) for place in places):
        return Found(False)
    return Found(common_dir(git, places[0]) == common_dir(git, places[1]))


def look_at_lfs(git: Git, config: Config, root: Root) -> Answer[bool]:
    tip = resolve(git, root.path, UPSTREAM + config.repo.branch)
    return Found(tip is not None and uses_lfs(git, root.path, tip))


def missing_commits(git: Git, repository: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the commits that the repository does not have."""
    names = [name for name in named if re.fullmatch(r"[0-9a-f]{40,64}", name)]
    asked = "".join(f"{name}\n" for name in names).encode()
    answers = decode(git.run(repository, "cat-file", "--batch-check", stdin=asked).out).splitlines() if names else []
    there = {name for name, answer in zip(names, answers, strict=True) if " commit " in answer}
    return tuple(name for name in named if name not in there)
