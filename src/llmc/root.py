"""Where a root keeps its things. Light on imports: the status line asks this every few seconds."""

from __future__ import annotations

import os
import time
import zlib

from llmc.errors import LlmcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class RootMissingError(LlmcError):
    """There is no LLMC root where we looked."""


class NowhereError(LlmcError):
    """A place that everything else depends on is gone or was never there."""


class Root:
    """The paths of one root directory."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(_expand(path))
        self.config_file = self.inside("config.toml")
        self.git_dir = self.inside(".git")
        self.worktrees = self.inside(".worktrees")
        self.packs = self.inside("packs")
        """Screen packs of the user's own."""
        self.logs = self.inside("logs")
        self.run = self.inside("run")
        self.daemon_lock = self.inside("run", "daemon.lock")
        self.daemon_log = self.inside("logs", "daemon.log")
        self.patrol_file = self.inside("run", "patrol.json")
        self.patrol_request = self.inside("run", "patrol-wanted")
        """There while somebody wants a patrol."""
        self.diagnostics = self.inside("diagnostics")
        self.landing_lock = self.inside("run", "landing.lock")
        """Held while work is put onto the user's branch: one after the other."""
        self.landings = self.inside("landings.json")
        """The journal of landings; there only while one is under way, or was cut short."""
        self.programs = self.inside("run", "programs")
        """What the installed agent programs said of themselves."""
        self.radar_file = self.inside("run", "radar.json")
        self.terminals = self.inside(".workers")
        """A directory for each terminal that is watched, workers' included."""
        self.watch_lock = self.inside(".workers", ".watch.lock")
        self.watch_log = self.inside(".workers", "watch.log")
        self.event_log = self.inside("status.db")
        self.tmux_configuration = self.inside("run", "tmux.conf")
        self.tmux_turns = self.inside("run", "tmux.lock")
        self.tmux_socket = f"llmc-{zlib.crc32(self.path.encode('utf-8', 'surrogateescape')):08x}"
        """The name of this root's own tmux server."""

    def inside(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def worktree(self, worker: str) -> str:
        return self.inside(".worktrees", worker)

    def aside(self, at_unix: float) -> str:
        """Where things go that cannot be kept in git, a directory of its own for each time."""
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(at_unix))
        return self.inside("aside", f"{stamp}.{int(at_unix * 1000) % 1000:03}")

    def worker_lock(self, worker: str) -> str:
        return self.inside("run", "locks", f"{worker}.lock")

    def pane_lock(self, worker: str) -> str:
        return self.inside("run", "locks", f"{worker}.pane")

    def spool(self, worker: str) -> str:
        return self.inside("run", "spool", worker)

    def settings_dir(self, worker: str) -> str:
        return self.inside("run", "agents", worker)

    def attention_file(self, worker: str) -> str:
        return self.inside("run", "attention", f"{worker}.json")

    def radar_store(self, owner: str) -> str:
        """Where the radar's throw-away objects are, for as long as its owner runs."""
        return self.inside("run", f"radar-{owner}")

    def terminal(self, name: str) -> str:
        return self.inside(".workers", name)

    def terminal_spool(self, name: str) -> str:
        return self.inside(".workers", name, "spool")

    @property
    def exists(self) -> bool:
        return is_root(self.path)


def here() -> str:
    """The directory that the person is in."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NowhereError("the directory that you are in is gone", "go to another one, such as `cd ~`") from None


def _expand(path: str) -> str:
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        raise NowhereError(f"there is no home directory for {path}", "set HOME, or name the root with --root")
    return expanded


def is_root(path: str) -> bool:
    """A `config.toml` alone may belong to anybody: LLMC's stands beside its worktrees."""
    return os.path.isfile(os.path.join(path, "config.toml")) and os.path.isdir(os.path.join(path, ".worktrees"))


def find_root(given: str | None, environ: Mapping[str, str], cwd: str) -> Root:
    """The root that was named, else that of the environment, else the one around us, else `~/llmc`."""
    named = given or environ.get("LLMC_ROOT") or _around(cwd)
    root = Root(named or os.path.join("~", "llmc"))
    if not root.exists:
        raise _missing(root)
    return root


def find_terminals_root(given: str | None, environ: Mapping[str, str], cwd: str) -> Root:
    """The same, for terminals: they need no repository, so a directory that holds only them will do.

    One that was named must be there; `~/llmc` is made when it is first needed, and `llmc init` may fill it later.
    """
    try:
        return find_root(given, environ, cwd)
    except RootMissingError:
        named = given or environ.get("LLMC_ROOT")
        root = Root(named or os.path.join("~", "llmc"))
        usable = os.path.isdir(root.terminals) if named else os.path.isdir(root.path) or not os.path.lexists(root.path)
        if not usable:
            raise
        return root


def _missing(root: Root) -> RootMissingError:
    if os.path.isdir(root.path) and not os.access(root.path, os.R_OK | os.X_OK):
        return RootMissingError(f"you may not look into {root.path}", "check who owns it and its permissions")
    return RootMissingError(
        f"there is no LLMC root at {root.path}", "make one with `llmc init`, or name yours with --root or LLMC_ROOT"
    )


def _around(cwd: str) -> str | None:
    here = os.path.abspath(cwd)
    while not is_root(here):
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return here
