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

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(_expand(path))

    def inside(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    @property
    def config_file(self) -> str:
        return self.inside("config.toml")

    @property
    def git_dir(self) -> str:
        return self.inside(".git")

    @property
    def worktrees(self) -> str:
        return self.inside(".worktrees")

    def worktree(self, worker: str) -> str:
        return self.inside(".worktrees", worker)

    @property
    def packs(self) -> str:
        """Screen packs of the user's own."""
        return self.inside("packs")

    @property
    def logs(self) -> str:
        return self.inside("logs")

    @property
    def run(self) -> str:
        return self.inside("run")

    @property
    def daemon_lock(self) -> str:
        return self.inside("run", "daemon.lock")

    @property
    def daemon_log(self) -> str:
        return self.inside("logs", "daemon.log")

    @property
    def patrol_file(self) -> str:
        return self.inside("run", "patrol.json")

    @property
    def patrol_request(self) -> str:
        """There while somebody wants a patrol."""
        return self.inside("run", "patrol-wanted")

    @property
    def diagnostics(self) -> str:
        return self.inside("diagnostics")

    def aside(self, at_unix: float) -> str:
        """Where things go that cannot be kept in git, a directory of its own for each time."""
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(at_unix))
        return self.inside("aside", f"{stamp}.{int(at_unix * 1000) % 1000:03}")

    def worker_lock(self, worker: str) -> str:
        return self.inside("run", "locks", f"{worker}.lock")

    @property
    def landing_lock(self) -> str:
        """Held while work is put onto the user's branch: one after the other."""
        return self.inside("run", "landing.lock")

    @property
    def landings(self) -> str:
        """The journal of landings; there only while one is under way, or was cut short."""
        return self.inside("landings.json")

    def pane_lock(self, worker: str) -> str:
        return self.inside("run", "locks", f"{worker}.pane")

    def spool(self, worker: str) -> str:
        return self.inside("run", "spool", worker)

    def settings_dir(self, worker: str) -> str:
        return self.inside("run", "agents", worker)

    @property
    def programs(self) -> str:
        """What the installed agent programs said of themselves."""
        return self.inside("run", "programs")

    def attention_file(self, worker: str) -> str:
        return self.inside("run", "attention", f"{worker}.json")

    @property
    def radar_file(self) -> str:
        return self.inside("run", "radar.json")

    def radar_store(self, owner: str) -> str:
        """Where the radar's throw-away objects are, for as long as its owner runs."""
        return self.inside("run", f"radar-{owner}")

    @property
    def terminals(self) -> str:
        """A directory for each terminal that is watched, workers' included."""
        return self.inside(".workers")

    def terminal(self, name: str) -> str:
        return self.inside(".workers", name)

    def terminal_spool(self, name: str) -> str:
        return self.inside(".workers", name, "spool")

    @property
    def watch_lock(self) -> str:
        return self.inside(".workers", ".watch.lock")

    @property
    def watch_log(self) -> str:
        return self.inside(".workers", "watch.log")

    @property
    def event_log(self) -> str:
        return self.inside("status.db")

    @property
    def tmux_configuration(self) -> str:
        return self.inside("run", "tmux.conf")

    @property
    def tmux_turns(self) -> str:
        return self.inside("run", "tmux.lock")

    @property
    def tmux_socket(self) -> str:
        """The name of this root's own tmux server."""
        return f"llmc-{zlib.crc32(self.path.encode('utf-8', 'surrogateescape')):08x}"

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
