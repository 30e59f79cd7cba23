"""What a person should know of work that has just landed: checks, hooks, files that are not part of it, the push."""

from __future__ import annotations

import os
from contextlib import suppress

from llmc.core.display import some
from llmc.errors import LlmcError
from llmc.git.publishing import push
from llmc.git.repository import ignored_files
from llmc.model import Worker
from llmc.site import Site
from llmc.values import Value

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
"""Those that `git commit` would have run: LLMC makes its commit without a checkout."""


class LandingNotes(Value):
    checks: tuple[str, ...]
    skipped_hooks: tuple[str, ...]
    left_out: tuple[str, ...]
    pushed: str | None = None
    push_error: str | None = None

    def told(self, source: str) -> list[str]:
        listed = ", ".join(f"`{command}`" for command in self.checks)
        notes = [f"checked by {listed}"] if listed else []
        if self.skipped_hooks:
            hooks = ", ".join(self.skipped_hooks)
            notes.append(f"not run: the hooks {hooks} of {source}; name what they check in repo.validate")
        if self.left_out:
            notes.append(f"not part of it, because git ignores it: {some(self.left_out)}")
        if self.pushed:
            notes.append(f"pushed to {self.pushed}")
        if self.push_error:
            notes.append(f"it is merged, but not pushed: {self.push_error}")
        return notes


def landing_notes(site: Site, left_out: tuple[str, ...], sha: str) -> LandingNotes:
    repo = site.config.repo
    notes = (repo.validate, _hooks(site), left_out)
    return LandingNotes(*notes, *pushed(site, sha))


def pushed(site: Site, sha: str) -> tuple[str | None, str | None]:
    """Where to, or why not; neither where nobody wants it."""
    repo = site.config.repo
    if not repo.push:
        return None, None
    site.progress(f"it has landed; pushing {repo.branch} to {repo.push}")
    try:
        push(site.git, repo.source, repo.push, sha, repo.branch)
    except LlmcError as refused:
        return None, f"{refused.what}; {refused.hint}"
    except KeyboardInterrupt:  # the work has landed, and the person should know
        by_hand = f"git -C {repo.source} push {repo.push} {repo.branch}"
        return None, f"interrupted; `{by_hand}` does it"
    return repo.push, None


def left_out_of(site: Site, worker: Worker) -> tuple[str, ...]:
    """Files of its worktree that no commit can have. Those that were copied into it are no news."""
    copied = {pattern.partition("/")[0] for pattern in site.config.repo.copy}
    with suppress(LlmcError):  # whatever is wrong there, accept itself says
        found = ignored_files(site.git, worker.worktree_path)
        return tuple(path for path in found if path.partition("/")[0] not in copied)
    return ()


def _hooks(site: Site) -> tuple[str, ...]:
    source = site.config.repo.source
    with suppress(LlmcError):  # the work has landed: a note that cannot be made changes nothing about it
        directory = site.git.text(source, "rev-parse", "--git-path", "hooks")
        return tuple(name for name in HOOKS if os.access(os.path.join(source, directory, name), os.X_OK))
    return ()
