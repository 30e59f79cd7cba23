"""The repository's own checks, run before work is merged."""

from __future__ import annotations

from llmc.errors import LlmcError
from llmc.model import Worker
from llmc.perform.repo_commands import CommandFailedError, CommandHungError, run_repo_command
from llmc.site import Site


class ValidationFailedError(LlmcError):
    """A command of `[repo] validate` says no; nothing was merged."""


def validate(site: Site, worker: Worker, commands: tuple[str, ...], timeout_secs: float) -> None:
    for command in commands:
        try:
            run_repo_command(site, worker, command, timeout_secs)
        except CommandHungError as hung:
            hint = "raise repo.validate_timeout_secs, or send the work back with `llmc reject`"
            raise ValidationFailedError(hung.what, hint) from None
        except CommandFailedError as failed:
            hint = "send the work back with `llmc reject`, or fix the check"
            raise ValidationFailedError(failed.what, hint) from None
