"""The repository's own checks, run before work is merged."""

from __future__ import annotations

from llmc.errors import LlmcError
from llmc.host.local import ProgramHungError
from llmc.site import Site

SHOWN_LINES = 12


class ValidationFailedError(LlmcError):
    """A command of `[repo] validate` says no; nothing was merged."""


def validate(site: Site, worktree: str) -> None:
    repo = site.config.repo
    for command in repo.validate:
        try:
            done = site.host.run(["sh", "-c", command], cwd=worktree, timeout=repo.validate_timeout_secs)
        except ProgramHungError:
            raise ValidationFailedError(
                f"`{command}` did not end within {repo.validate_timeout_secs:.0f} seconds",
                "raise repo.validate_timeout_secs, or send the work back with `llmc reject`",
            ) from None
        if not done.ok:
            said = (done.text + done.err.decode("utf-8", "replace")).strip().splitlines()[-SHOWN_LINES:]
            raise ValidationFailedError(
                f"`{command}` failed with exit code {done.code}:\n" + "\n".join(f"  {line}" for line in said),
                "send the work back with `llmc reject`, or mend the check",
            )
