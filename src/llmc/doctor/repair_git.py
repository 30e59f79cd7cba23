"""Repairs of the clone and of what the settings say about it."""

from __future__ import annotations

import os
from pathlib import Path

from llmc.config import Config, load_config
from llmc.doctor.means import Means
from llmc.doctor.repairs import Repair
from llmc.errors import LlmcError
from llmc.git.clone import REMOTE, TRACKING, UPSTREAM, clone_source, fetch_source, make_view
from llmc.git.parse import decode
from llmc.git.repair import MendingError, mend_clone, mend_ref
from llmc.git.repository import common_dir
from llmc.git.runner import Git
from llmc.host.process_search import works_in
from llmc.store.config_file import default_config_text


def mend_the_clone(means: Means, repair: Repair) -> str:
    git, root = Git(means.host, as_agents=True), means.root
    repo = load_config(root.config_file).repo
    if not means.host.exists(root.git_dir) or means.host.exists(root.inside(".cloning")):
        return _clone_again(git, means, repo.source, repo.branch)
    if not means.host.is_dir(root.git_dir):
        means.host.move(root.git_dir, f"{means.aside}/.git")
        return _clone_again(git, means, repo.source, repo.branch)
    mend_clone(git, root.git_dir, repo.branch, means.aside)
    found = common_dir(git, root.path)
    if found is None or means.host.real_path(found) != means.host.real_path(root.git_dir):
        raise MendingError(
            f"git does not take {root.git_dir} as a repository", f"`git -C {root.path} fsck` may tell more"
        )
    make_view(git, repo.source, root.path)
    return "git can use it again"


def _clone_again(git: Git, means: Means, source: str, branch: str) -> str:
    clone_source(git, source, means.root.path, branch)
    return f"copied {source} again; commits that were only here are lost, the files in the worktrees are not"


def write_settings(means: Means, repair: Repair) -> str:
    git, root = Git(means.host, as_agents=True), means.root
    source = _setting(git, root.path, f"remote.{REMOTE}.url")
    head = git.run(root.path, "symbolic-ref", "--quiet", f"{TRACKING}HEAD", check=False)
    branch = decode(head.out).strip().removeprefix(TRACKING)
    if not source or not branch:
        raise LlmcError("the clone does not tell its source and branch", f"write {repair.subject} by hand")
    means.host.write(repair.subject, default_config_text(source, branch).encode())
    return f"source {source}, branch {branch}; other settings are back to their defaults"


def _setting(git: Git, root: str, name: str) -> str:
    found = git.run(root, "config", "--get", name, check=False)
    return decode(found.out).strip() if found.ok else ""


def turn_on(means: Means, repair: Repair) -> str:
    Git(means.host, as_agents=True).run(means.root.path, "config", repair.subject, "true")
    return f"{repair.subject} is on"


def follow_source(means: Means, repair: Repair) -> str:
    Git(means.host, as_agents=True).run(means.root.path, "remote", "set-url", REMOTE, repair.subject)
    return f"the clone follows {repair.subject}"


def remove_lock(means: Means, repair: Repair) -> str:
    if works_in(means.root.path, "git"):
        raise LlmcError("a git runs in this root by now", "wait until it has ended, then repair again")
    os.unlink(repair.subject)
    return f"removed {Path(repair.subject).name}"


def mend_the_ref(means: Means, repair: Repair) -> str:
    git, ref = Git(means.host), repair.subject
    if ref.startswith((TRACKING, UPSTREAM)):
        return _fetch_again(git, means, ref, load_config(means.root.config_file))
    return f"{ref} is at {mend_ref(git, means.root.path, ref, means.aside)[:12]} again"


def _fetch_again(git: Git, means: Means, ref: str, config: Config) -> str:
    means.host.remove_tree(f"{means.root.git_dir}/{ref}")
    if ref == f"{TRACKING}HEAD":
        git.run(means.root.path, "symbolic-ref", ref, TRACKING + config.repo.branch)
        return f"{ref} follows {config.repo.branch} again"
    branch = ref.removeprefix(TRACKING).removeprefix(UPSTREAM)
    return f"{ref} is at {fetch_source(git, config.repo.source, means.root.path, branch)[:12]} again"
