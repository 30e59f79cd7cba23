"""What the model does in one answer. A script is a list of these: one for each time that the model is asked."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

FOREVER = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Text:
    """Says something, word by word when it is to take some time."""

    text: str
    over_secs: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """Runs a shell command."""

    command: str
    why: str = "Run the command"
    outside_sandbox: bool = False
    """Asks for it, where the CLI has a sandbox."""
    in_background: bool = False
    """Goes on without waiting for its end, where the CLI has a way to."""


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a file, named from the working directory."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Commit:
    """Adds a line to a file and commits it."""

    path: str
    line: str = "one more line"

    def as_run(self) -> Run:
        path, line = shlex.quote(self.path), shlex.quote(self.line)
        message = shlex.quote(f"Add {self.path}")
        command = f"echo {line} >> {path} && git add -- {path} && git commit --quiet -m {message}"
        return Run(command, f"Commit {self.path}")

    def as_write(self) -> Write:
        """For a CLI that commits by itself what it writes."""
        return Write(self.path, f"{self.line}\n")


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks the user to choose."""

    question: str = "Which approach should we use?"
    options: tuple[str, ...] = ("Reuse what is there", "Write a new one")


@dataclass(frozen=True, slots=True)
class Plan:
    """Shows a plan and waits for approval. The CLI must be in its plan mode."""

    text: str = "1. Read the code\n2. Change it\n3. Test it\n"


@dataclass(frozen=True, slots=True)
class Use:
    """Calls a tool by its own name: the CLI's, such as the one that starts a sub-agent, or one of a server of tools."""

    tool: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Fail:
    """Refuses with an HTTP status. When it has done so often enough, the next step takes its place."""

    status: int
    times: int = FOREVER
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Resets the connection, in the middle of the answer or instead of one."""

    halfway: bool = True
    times: int = FOREVER


@dataclass(frozen=True, slots=True)
class Hang:
    """Says nothing for a while, then resets the connection."""

    secs: float = 600.0


Act = Run | Write | Ask | Plan
"""What needs one of the CLI's tools."""
Step = Act | Use | Text | Commit | Fail | Drop | Hang
