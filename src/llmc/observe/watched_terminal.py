"""What is watched: a worker's terminal, or one without a worktree. Both are looked at by the same eyes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from llmc.agents.packs import FALLBACK, load_pack, pack_for_command
from llmc.agents.packs.parse import PackError
from llmc.agents.registry import agent_named
from llmc.agents.reports import Report, read_report
from llmc.config.settings import Config
from llmc.core.screen.assessment import Assessment
from llmc.core.screen.classify import Pack
from llmc.core.screen.fusion import QUIET_AFTER_SECS
from llmc.core.screen.screen import Screen, screen_of
from llmc.errors import LlmcError
from llmc.host.processes import foreground_of, known_as, name_of, script_of
from llmc.model import Worker
from llmc.observe.session_file import read_session_file
from llmc.observe.transcript import read_transcript
from llmc.root import Root
from llmc.site import Site
from llmc.store.snapshot import read_told
from llmc.store.terminals import KnownTerminal
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from llmc.values import Value

SHELL = "shell"
"""The pack for whatever runs in a shell and has none of its own."""
INTERPRETERS = frozenset(("node", "bun", "deno", "python", "python3", "bash", "sh"))
Translate = Callable[[Mapping[str, object]], Report | None]


class Subject(Value):
    name: str
    tmux: Tmux
    server: str
    """Subjects of one server are looked at together."""
    server_pid: int
    pane: str
    tty: str
    cwd: str
    cli: str
    reports: str
    """The file that keeps what its agent last reported."""
    pack: Callable[[Pane], Pack]
    program: Callable[[Pane], str] = lambda pane: pane.command
    """What runs in it."""
    spool: str = ""
    """Where its agent's reports come in, where nobody else reads them."""
    translate: Translate = read_report
    home: str = ""
    """Where Claude Code keeps files about itself; empty where that says nothing of this terminal."""
    reports_itself: bool = True
    """What an agent reported that does not report any more is old."""
    quiet_after_secs: float = QUIET_AFTER_SECS
    """Time without a report after which a screen that looks ready is believed."""

    @property
    def place(self) -> tuple[str, int, str]:
        """A later subject of the same name is in another one."""
        return self.server, self.server_pid, self.pane

    def screen(self, pane: Pane, captured: str) -> Screen:
        shown = screen_of(captured, title=pane.title, command=self.program(pane), cursor=pane.cursor)
        return replace(shown, alternate=pane.alternate)

    def told(self, pane: Pane) -> tuple[Assessment | None, Assessment | None]:
        """What the agent itself tells, by its reports and by a file of its own: Claude Code's, or a transcript.

        A transcript is read only where nothing else tells: it costs the most.
        """
        reported, pids = read_told(self.reports) if self.reports_itself else None, _processes(pane)
        session = read_session_file(self.home, map(known_as, pids)) if self.home else None
        if reported is None and session is None:
            session = read_transcript(self.pack(pane).name, pids)
        return reported, session


def _processes(pane: Pane) -> list[int]:
    """The one that the terminal listens to, and the one that it was opened for."""
    foreground = foreground_of(pane.pid)
    return [foreground, pane.pid] if foreground else [pane.pid]


def worker_subject(site: Site, worker: Worker, pane: Pane) -> Subject:
    agent = site.agent_of(worker)
    home = site.home_of(worker.name) if worker.agent == "claude" else ""
    return Subject(
        worker.name,
        site.tmux,
        site.tmux.socket,
        pane.server_pid,
        pane.id,
        pane.tty,
        worker.worktree_path,
        worker.agent,
        site.root.attention_file(worker.name),
        lambda _: agent.pack,
        # Its process is its agent, whatever that calls itself; only of a shell the process says what it does.
        program=lambda pane: "" if agent.takes_prose else pane.command,
        home=home,
        reports_itself=worker.reports_events,
        quiet_after_secs=site.ledger.policy_of(worker.name).quiet_after_secs,
    )


def terminal_subject(
    root: Root, config: Config | None, terminal: KnownTerminal, tmux: Tmux, tty: str, home: str
) -> Subject:
    return Subject(
        terminal.id,
        tmux,
        terminal.server,
        terminal.server_pid,
        terminal.pane,
        tty,
        terminal.cwd,
        terminal.cli,
        root.inside(".workers", terminal.id, "reported.json"),
        lambda pane: _pack_of(root, _chosen_pack(terminal.cli, config), pane),
        program=lambda pane: _program(root, pane),
        spool=root.terminal_spool(terminal.id),
        translate=_translator(root, terminal.cli, config),
        home=home if terminal.cli in ("", "claude") else "",
    )


def _chosen_pack(cli: str, config: Config | None) -> str:
    """The one that the settings name for the program that it was opened for, else the one of that program's name."""
    options = config.agents.get(cli) if config is not None else None
    return options.pack if options is not None and options.pack else cli


def _pack_of(root: Root, chosen: str, pane: Pane) -> Pack:
    """The pack of the program that it was opened for, if there is one; else that of what runs in it now."""
    if chosen:
        with suppress(PackError):
            return _sound_pack(chosen, root.packs)
    return _sound_pack(_pack_name(_program(root, pane), root.packs, packs_stamp(root.packs)), root.packs)


def _program(root: Root, pane: Pane) -> str:
    """What an interpreter runs, where there is a pack for that: many CLIs are a script, and tmux shows only `node`."""
    pid = foreground_of(pane.pid) or pane.pid
    if pane.command not in INTERPRETERS and name_of(pid) not in INTERPRETERS:
        return pane.command
    script = script_of(pid)
    is_known = bool(script) and _pack_name(script, root.packs, packs_stamp(root.packs)) != SHELL
    return script if is_known else pane.command


def _sound_pack(name: str, directory: str) -> Pack:
    """A pack of the person's own that is broken does not make us blind where LLMC brings one along."""
    try:
        return load_pack(name, directory)
    except PackError:
        return load_pack(name)


@lru_cache(maxsize=256)
def _pack_name(command: str, directory: str, stamp: tuple[int, ...]) -> str:
    """Asked at every look; `stamp` tells when the person's own packs have changed."""
    claimed = pack_for_command(command, directory).name
    return SHELL if claimed == FALLBACK else claimed


def packs_stamp(directory: str) -> tuple[int, ...]:
    """Another one when a pack was changed, added or removed."""
    try:
        with os.scandir(directory) as entries:
            return tuple(sorted(entry.stat().st_mtime_ns for entry in entries))
    except OSError:
        return ()


def _translator(root: Root, cli: str, config: Config | None) -> Translate:
    try:
        return agent_named(cli, config, root.packs).translate
    except LlmcError:
        return read_report
