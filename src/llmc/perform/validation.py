"""The repository's own checks, run before work is merged."""

from __future__ import annotations

from llmc.errors import LlmcError
from llmc.host.base import ProgramHungError
from llmc.site import Site

SHOWN_LINES = 12
ELSEWHERE = frozenset(("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"))


class ValidationFailedError(LlmcError):
    """A command of `[repo] validate` says no; nothing was merged."""


def validate(site: Site, worktree: str, commands: tuple[str, ...], timeout_secs: float) -> None:
    # Whoever calls us from inside a git of their own must not have the checks run on their repository.
    env = {name: value for name, value in site.host.environ().items() if name not in ELSEWHERE}
    for command in commands:
        try:
            # A server that a check has started must neither outlive it nor keep us waiting.
            done = site.host.run_and_clear(["sh", "-c", command], cwd=worktree, env=env, timeout=timeout_secs)
        except ProgramHungError:
            raise ValidationFailedError(
                f"`{command}` did not end within {timeout_secs:.0f} seconds",
                "raise repo.validate_timeout_secs, or send the work back with `llmc reject`",
            ) from None
        if not done.ok:
            said = (done.text + done.err.decode("utf-8", "replace")).strip().splitlines()[-SHOWN_LINES:]
            raise ValidationFailedError(
                f"`{command}` failed with exit code {done.code}:\n" + "\n".join(f"  {line}" for line in said),
                "send the work back with `llmc reject`, or fix the check",
            )
