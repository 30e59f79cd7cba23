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

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(_expand(path))
        self.config_file = self.inside("config.toml")
        self.git_dir = self.inside(".git")
        self.worktrees = self.inside(".worktrees")
        self.scratch = self.inside(".checks")
        """Worktrees of LLMC's own in which checks run, numbered from 1."""
        self.packs = self.inside("packs")
        """Screen packs of the user's own."""
        self.logs = self.inside("logs")
        self.setup_logs = self.inside("logs", "setup")
        """What the setup of each worker's worktree said, the last time."""
        self.run = self.inside("run")
        self.daemon_lock = self.inside("run", "daemon.lock")
        self.daemon_log = self.inside("logs", "daemon.log")
        self.settings_mark = self.inside("run", "settings-right")
        """What the settings file was like when it was last found right."""
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
        self.touched_file = self.inside("run", "touched.json")
        """The files that each worker's work changes, as the daemon last saw it."""
        self.terminals = self.inside(".workers")
        """A directory for each terminal that is watched, workers' included."""
        self.watch_lock = self.inside(".workers", ".watch.lock")
        self.watch_log = self.inside(".workers", "watch.log")
        self.event_log = self.inside("status.db")
        self.tasks = self.inside("tasks.db")
        self.tasks_mark = self.inside("run", "tasks.json")
        """What waits in the queue, for whoever only looks; written anew with every change of a task."""
        self.usage = self.inside("usage.db")
        self.usage_mark = self.inside("run", "usage.json")
        self.usage_lock = self.inside("run", "usage.lock")
        """What workers and their tasks have cost so far, for whoever only looks."""
        self.prices = self.inside("prices.toml")
        """The user's own."""
        self.train_mark = self.inside("run", "train.json")
        """The same of the merge train."""
        self.train_lock = self.inside("run", "train.lock")
        """Held by whoever runs the merge train."""
        self.checks = self.inside("run", "checks")
        """What is known of each scratch worktree, and of the checks of each worker's work."""
        self.machines = self.inside("machines.json")
        """The machines of this root, where it is a hub."""
        self.known_machines = self.inside("run", "machines")
        """What was last heard of each of them."""
        self.switchboard = self.inside("run", "machines.sock")
        """Where the daemon takes what others have to say to machines."""
        self.tmux_configuration = self.inside("run", "tmux.conf")
        self.tmux_turns = self.inside("run", "tmux.lock")
        self.tmux_socket = f"llmc-{zlib.crc32(self.path.encode('utf-8', 'surrogateescape')):08x}"
        """The name of this root's own tmux server."""

    @property
    def shown(self) -> str:
        """As a person can type it."""
        return quoted(self.path)

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

    def fence(self, name: str) -> str:
        """What belongs to the fence of a worker, or by its number of a scratch worktree."""
        return self.inside("run", "fence", name)

    def fence_home(self, name: str) -> str:
        return self.inside("run", "fence", name, "home")

    def fence_store(self, name: str) -> str:
        """The git directory that is the clone's for whoever is inside."""
        return self.inside("run", "fence", name, "git")

    def tools_socket(self, worker: str) -> str:
        """Where the worker's agent reaches the tools of LLMC: that it comes from there tells who it is."""
        return self.inside("run", "agents", worker, "tools.socket")

    def attention_file(self, worker: str) -> str:
        return self.inside("run", "attention", f"{worker}.json")

    def radar_store(self, owner: str) -> str:
        """Where the radar's throw-away objects are, for as long as its owner runs."""
        return self.inside("run", f"radar-{owner}")

    def checks_file(self, name: str) -> str:
        """Of a worker, or by its number of a scratch worktree."""
        return self.inside("run", "checks", f"{name}.json")

    def terminal(self, name: str) -> str:
        return self.inside(".workers", name)

    def terminal_spool(self, name: str) -> str:
        return self.inside(".workers", name, "spool")

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
