"""Sending commits to a remote of the user's repository. Never by force: what others have there stays."""

from __future__ import annotations

import re

from llmc.errors import LlmcError
from llmc.git.repository import HEADS
from llmc.git.runner import LONG, Git
from llmc.values import Value

PUSH_SECS = 600.0
_ADDRESS = re.compile(r"(?:[a-z+]+://)?(?:[^@/]+@)?(?P<host>[^:/]+)(?::\d+/|[:/])(?P<path>.+?)(?:\.git)?/?")


class PushRefusedError(LlmcError):
    """The remote does not have it; here everything is as it was."""


def remotes(git: Git, source: str) -> list[str]:
    return git.text(source, "remote").split()


def push(git: Git, source: str, remote: str, commit: str, branch: str) -> None:
    """The commit as that branch of the remote, if what is there leads to it."""
    target = f"{commit}:{HEADS}{branch}"
    done = git.run(source, "push", "--quiet", "--no-follow-tags", remote, target, check=False, timeout=PUSH_SECS)
    if not done.ok:
        raise PushRefusedError(
            f"{branch} was not pushed to {remote}: {_reason(done.complaint)}",
            f"look at it with `git -C {source} fetch {remote}`, then push it yourself",
        )


def _reason(complaint: str) -> str:
    """Of all that git says about a push, the line that says why."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    telling = (line for line in lines if "rejected]" in line or line.startswith("fatal:"))
    return next(telling, lines[0] if lines else "git says nothing")


def branch_of(git: Git, source: str, remote: str, branch: str) -> str | None:
    """Where the remote has that branch."""
    said = git.run(source, "ls-remote", "--heads", remote, HEADS + branch, timeout=LONG).text
    return said.split()[0] if said.strip() else None


class Forge(Value):
    """A place in the web for the repository of a remote."""

    host: str
    path: str

    @property
    def is_gitlab(self) -> bool:
        return "gitlab" in self.host

    def address_for(self, base: str, branch: str) -> str:
        """Where a person opens the pull request by hand."""
        home = f"https://{self.host}/{self.path}"
        if self.is_gitlab:
            asked = f"merge_request[source_branch]={branch}&merge_request[target_branch]={base}"
            return f"{home}/-/merge_requests/new?{asked}"
        return f"{home}/compare/{base}...{branch}?expand=1"


def forge_of(git: Git, source: str, remote: str) -> Forge | None:
    """As the user wrote its address, whatever git makes of it. None where that is a directory, or cannot be read."""
    said = git.ask(source, "config", "--get", f"remote.{remote}.url")
    address = said.text.strip() if said is not None else "."
    found = None if address.startswith(("/", ".", "file:")) else _ADDRESS.fullmatch(address)
    return Forge(found["host"], found["path"]) if found else None
