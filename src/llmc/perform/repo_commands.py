"""Commands of the repository's own, its setup and its checks, run in a worker's worktree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO

from llmc.errors import LlmcError
from llmc.host.base import ProgramHungError
from llmc.model import Worker
from llmc.perform.worker_variables import worker_variables
from llmc.site import Site

SHOWN_LINES = 12
ELSEWHERE = frozenset(("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"))


class CommandFailedError(LlmcError):
    """With its last lines."""


class CommandHungError(LlmcError):
    """It did not end in time, and was ended with all that it had started."""


def run_repo_command(
    site: Site,
    worker: Worker,
    command: str,
    timeout_secs: float,
    *,
    marks: Mapping[str, str] | None = None,
    output: IO[bytes] | None = None,
    leaves: Callable[[], bool] = lambda: False,
) -> None:
    """Raises unless it succeeds."""
    # Whoever calls us from inside a git of their own must not have the command run on their repository.
    env = {name: value for name, value in site.host.environ().items() if name not in ELSEWHERE}
    env |= {**worker_variables(site, worker), **(marks or {})}
    try:
        # A server that it has started must neither outlive it nor keep us waiting.
        done = site.host.run_and_clear(
            ["sh", "-c", command],
            cwd=worker.worktree_path,
            env=env,
            timeout=timeout_secs,
            output=output,
            leaves=leaves,
            heard=lambda line: site.progress(f"`{command}`: {line}" if line else f"`{command}`"),
        )
    except ProgramHungError:
        raise CommandHungError(f"`{command}` did not end within {timeout_secs:.0f} seconds") from None
    if not done.ok:
        said = done.text.strip().splitlines()[-SHOWN_LINES:]
        lines = "".join(f"\n  {line}" for line in said)
        raise CommandFailedError(f"`{command}` failed with exit code {done.code}:{lines}")
