"""The one way in which git is started: a clean environment, bounded patience with locks, errors in words."""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Mapping
from dataclasses import field

from llmc.errors import LlmcError
from llmc.git.failure import GitError, is_locked
from llmc.git.objects import ObjectReaders
from llmc.git.own_view import EVERYWHERE_BELOW, SUBMODULES, places
from llmc.git.parse import decode, encode
from llmc.git.wall import require_made, wall_of
from llmc.host.base import Completed, Host, ProgramMissingError, Talk
from llmc.values import Value

MINIMUM = (2, 38)
LONG = 1800.0
"""Seconds for steps that write a whole checkout or copy a whole repository."""

LLMC_IDENTITY = {
    "GIT_AUTHOR_NAME": "LLMC",
    "GIT_AUTHOR_EMAIL": "llmc@localhost",
    "GIT_COMMITTER_NAME": "LLMC",
    "GIT_COMMITTER_EMAIL": "llmc@localhost",
}
"""For commits that are LLMC's own bookkeeping and must not need a configured user."""

# How to reach and trust things; everything else (GIT_DIR, GIT_INDEX_FILE, identities of a commit under way, ...)
# belongs to whichever git process started us and would send our commands to the wrong place.
_KEPT = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)"
    r"|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|ASKPASS|EXEC_PATH|ALLOW_PROTOCOL|HTTP_PROXY_AUTHMETHOD)"
)
_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_OPTIONAL_LOCKS": "0",  # looking at a worktree must not take the lock that its agent needs
}


class GitTooOldError(LlmcError):
    """The installed git lacks what LLMC needs."""


class OddRecordError(LlmcError):
    """Git would wait for ever; it was not run."""


class Git(Value):
    """Git on one host."""

    host: Host
    patience: float = 10.0
    """Seconds to wait while another git holds a lock."""
    as_agents: bool = False
    """Sees the clone and its worktrees as the agents' own git does, with all that they have configured."""
    operation: ObjectReaders = field(default_factory=ObjectReaders, compare=False)
    """`with git.operation:` until the end of it, what is asked about objects is asked of the same few processes."""

    def run(
        self,
        cwd: str,
        *args: str,
        stdin: bytes = b"",
        timeout: float = 120.0,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> Completed:
        """Runs `git ARGS` in `cwd`. With `check`, an exit code other than 0 is a GitError."""
        environment, words = self._prepared(cwd, args)
        environment |= env or {}
        deadline = time.monotonic() + self.patience
        pause = 0.02
        done = self._once(cwd, words, environment, stdin, timeout)
        while not done.ok and is_locked(done.complaint) and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 2, 0.5)
            done = self._once(cwd, words, environment, stdin, timeout)
        if check and not done.ok:
            raise GitError(args, done.complaint, done.code)
        return done

    def objects(self, cwd: str, *names: str) -> tuple[str | None, ...]:
        """The object that each of these names; None where there is none."""
        args = ("cat-file", "--batch-check=%(objectname)")
        lines = [name.replace("\n", " ") + "\n" for name in names]  # no name has either in it
        try:
            answers = self._ask_reader(cwd, args, lines)
        except (EOFError, OSError):  # there is none, it has ended or hangs: a process of its own says why
            answers = self.run(cwd, *args, stdin=encode("".join(lines))).out.splitlines()
        return tuple(None if b" " in answer else decode(answer) for answer in answers)

    def _ask_reader(self, cwd: str, args: tuple[str, ...], lines: list[str]) -> list[bytes]:
        own = ""
        if self.as_agents:
            raise EOFError
        if "GIT_COMMON_DIR" in places(self.host, cwd):  # HEAD and the like are another in each worktree
            parent, name = posixpath.split(cwd)
            cwd, own = posixpath.dirname(parent), f"worktrees/{name}/"
        asked = "".join(own + line if line[:1].isupper() else line for line in lines)
        answers = self.operation.ask(cwd, lambda: self._talk(cwd, args), encode(asked))
        # Its HEAD may stand for a ref that only the worktree has: it is asked itself before that counts as nothing.
        if own and any(b" " in answer and line[:1].isupper() for line, answer in zip(lines, answers, strict=True)):
            raise EOFError
        return answers

    def _talk(self, cwd: str, args: tuple[str, ...]) -> Talk:
        environment, words = self._prepared(cwd, args)
        return self.host.talk_to(["git", *words], environment, cwd)

    def _prepared(self, cwd: str, args: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
        """The environment and the words of a command there."""
        known = {} if self.as_agents else places(self.host, cwd)
        if "GIT_COMMON_DIR" in known:
            require_plain(self.host, known["GIT_DIR"], f"{posixpath.basename(cwd)}'s")
        return clean_environment(self.host.environ()) | known, (*EVERYWHERE_BELOW, *args) if known else args

    def text(self, cwd: str, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
        """The output without its last newline."""
        return self.run(cwd, *args, env=env, stdin=stdin).out.decode("utf-8", "surrogateescape").removesuffix("\n")

    def ask(self, cwd: str, *args: str) -> Completed | None:
        """For commands that say yes with 0 and no with 1: None is a no, anything else than those a GitError."""
        done = self.run(cwd, *args, check=False)
        if done.code not in (0, 1):
            raise GitError(args, done.complaint, done.code)
        return done if done.ok else None

    def version(self) -> tuple[int, int]:
        said = self.text("/", "--version")
        found = re.search(r"(\d+)\.(\d+)", said)
        if not found:
            raise GitTooOldError(f"git does not tell its version: {said!r}", f"install git {_dotted(MINIMUM)} or later")
        return int(found[1]), int(found[2])

    def require_version(self) -> None:
        version = self.version()
        if version < MINIMUM:
            raise GitTooOldError(
                f"git {_dotted(version)} is too old for LLMC", f"install git {_dotted(MINIMUM)} or later"
            )

    def _once(
        self, cwd: str, args: tuple[str, ...], environment: Mapping[str, str], stdin: bytes, timeout: float
    ) -> Completed:
        wall = wall_of(self.host, cwd)
        if wall is not None:
            argv, environment = wall.around(cwd, ("git", *args), environment)
            done = self.host.run(argv, cwd="/", env=environment, stdin=stdin, timeout=timeout)
            require_made(done)
            return done
        try:
            return self.host.run(["git", *args], cwd=cwd, env=environment, stdin=stdin, timeout=timeout)
        except ProgramMissingError as missing:
            hint = f"install git {_dotted(MINIMUM)} or later and make sure that it is on your PATH"
            raise ProgramMissingError("git is not installed", hint) from missing


def require_plain(host: Host, record: str, whose: str) -> None:
    if host.has_odd_files(record, SUBMODULES, links_too=False):
        raise OddRecordError(
            f"{whose} record in the clone has pipes or endless files in it ({record})",
            "`llmc reset NAME` makes it again and keeps the work; `llmc doctor` says whose it is",
        )


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environ.items()
        if name != "LANGUAGE" and (not name.startswith("GIT_") or _KEPT.fullmatch(name))
    }
    return kept | _FIXED


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
