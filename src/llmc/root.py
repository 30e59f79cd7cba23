"""Where a root keeps its things. Light on imports: the status line asks this every few seconds."""

from __future__ import annotations

import os
import time
import zlib

from llmc.errors import LlmcError

SAFE_IN_A_SHELL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


class NowhereError(LlmcError):
    """A place that everything else depends on is gone or was never there."""


class Root:
    """The paths of one root directory."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(_expand(path))

    @property
    def shown(self) -> str:
        """As a person can type it."""
        return quoted(self.path)

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
    def settings_mark(self) -> str:
        """What the settings file was like when it was last found right."""
        return self.inside("run", "settings-right")

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


def quoted(word: str) -> str:
    """For a shell. As `shlex` has it, which loads what nothing else here needs."""
    plain = word and all(letter in SAFE_IN_A_SHELL for letter in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"


def with_root(text: str, given: str | None) -> str:
    """Each `llmc COMMAND` that is advised there, with the `--root` that this one was given."""
    return text.replace("`llmc ", f"`llmc --root {quoted(given)} ") if given else text


def _expand(path: str) -> str:
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        raise NowhereError(f"there is no home directory for {path}", "set HOME, or name the root with --root")
    return expanded


def is_root(path: str) -> bool:
    """A `config.toml` alone may belong to anybody: LLMC's stands beside its worktrees."""
    return os.path.isfile(os.path.join(path, "config.toml")) and os.path.isdir(os.path.join(path, ".worktrees"))
