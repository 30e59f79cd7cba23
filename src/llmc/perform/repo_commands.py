"""Commands of the repository's own, its setup and its checks, run in a worktree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

from llmc.errors import LlmcError
from llmc.host.base import Completed, ProgramHungError
from llmc.site import Site
from llmc.values import Value

SHOWN_LINES = 12
ELSEWHERE = frozenset(("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"))


class CommandFailedError(LlmcError):
    """With its last lines."""


class CommandHungError(LlmcError):
    """It did not end in time, and was ended with all that it had started."""

    def __init__(self, what: str, out: bytes = b"") -> None:
        super().__init__(what)
        self.out = out


class Place(Value):
    """A worktree in which commands run: a worker's, or a scratch one."""

    name: str
    path: str
    variables: Mapping[str, str]
    """Of all that runs there."""
    fenced: bool = False


def run_repo_command(
    site: Site, place: Place, command: str, timeout_secs: float, output: IO[bytes] | None = None
) -> Completed:
    """Ended early when whoever acts here leaves."""
    # Whoever calls us from inside a git of their own must not have the command run on their repository.
    env = {name: value for name, value in site.host.environ().items() if name not in ELSEWHERE}
    argv: tuple[str, ...] = ("sh", "-c", command)
    if place.fenced:
        from llmc.perform.fence import fenced_command  # most roots have none

        argv = fenced_command(site, place.name, argv, place.variables)
    try:
        # A server that it has started must neither outlive it nor keep us waiting.
        return site.host.run_and_clear(
            argv,
            cwd=place.path,
            env={**env, **place.variables},
            timeout=timeout_secs,
            output=output,
            leaves=site.leaving.is_set,
            heard=lambda line: site.progress(f"`{command}`: {line}" if line else f"`{command}`"),
        )
    except ProgramHungError as hung:
        raise CommandHungError(f"`{command}` did not end within {timeout_secs:.0f} seconds", hung.out) from None


def require_success(command: str, done: Completed) -> None:
    if not done.ok:
        raise CommandFailedError(f"`{command}` failed with exit code {done.code}:{last_lines(done.text)}")


def last_lines(said: str) -> str:
    return "".join(f"\n  {line}" for line in said.strip().splitlines()[-SHOWN_LINES:])
