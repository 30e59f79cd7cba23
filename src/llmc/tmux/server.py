"""The root's private tmux server. Every question answers with a value or raises: never a guess."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from os import urandom

from llmc.errors import LlmcError
from llmc.host.base import Completed, Host
from llmc.tmux.configuration import calming
from llmc.tmux.control import ControlChannel
from llmc.tmux.parsing import (
    PANE_FORMAT,
    Pane,
    parse_pane,
    parse_version,
    says_no_pane,
    says_no_sessions,
    says_server_ended,
)
from llmc.values import Value

MINIMUM = (3, 2)
TURN_SECS = 10.0
ASKED_AGAIN = 5
PAUSE_SECS = 0.02
SAID_BYTES = 16_384
TOLD_MS = "4000"
CAPTURED_AT_ONCE = 100
"""tmux refuses a command of more than 16 KB, which is that of some two hundred panes."""

# Variables that would make an agent believe that it runs inside another one, in the caller's tmux, or make its
# git work on the caller's repository.
NESTING = frozenset(
    (
        *("TMUX", "TMUX_PANE", "AGENT", "AI_AGENT"),
        *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID"),
        *("CLAUDE_CODE_EXECPATH", "CLAUDE_EFFORT"),
        *("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI", "CODEX_SESSION_ID", "CODEX_THREAD_ID"),
        *("CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_MANAGED_BY_NPM", "CODEX_MANAGED_PACKAGE_ROOT"),
        *("CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",),
        *("GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_TRUST_WORKSPACE", "OPENCODE", "OPENCODE_PID"),
        *("KILO", "KILO_PID", "PI_CODING_AGENT", "CLINE_SANDBOX", "CLINE_SANDBOX_DATA_DIR", "CLINE_DATA_DIR"),
        *("CLINE_DB_DATA_DIR", "CLINE_SESSION_DATA_DIR", "CLINE_TEAM_DATA_DIR", "CLINE_PROVIDER_SETTINGS_PATH"),
        *("CLINE_HOOKS_LOG_PATH", "CLINE_CONNECTOR_CLI_LAUNCH"),
        *("QWEN_CODE", "QWEN_CODE_AGENT_ID", "QWEN_CODE_CLI", "QWEN_CODE_LAUNCHER_PID", "QWEN_CODE_MANAGED_NPM_PIN"),
        *("QWEN_CODE_MANAGED_NPM_ROOT", "QWEN_CODE_MESSAGING_SOCKET", "QWEN_CODE_MESSAGING_TOKEN", "QWEN_CODE_MODEL"),
        *("QWEN_CODE_MODEL_IDENTITY", "QWEN_CODE_NO_RELAUNCH", "QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE"),
        *("QWEN_CODE_PROJECT_DIR", "QWEN_CODE_PROMPT_ID", "QWEN_CODE_SESSION_ID", "QWEN_CODE_STARTUP_VERSION"),
        *("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION", "COPILOT_CLI_RESOLVED_DIST_DIR"),
        *("COPILOT_LOADER_PID",),
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"),
    )
)


class TmuxError(LlmcError):
    """tmux said something unexpected: nothing is known."""


class PaneGoneError(LlmcError):
    """The pane is dead or not there: nothing was typed."""


class Tmux(Value):
    host: Host
    socket: str
    """The name of the server (`-L`), or the path of its socket (`-S`)."""
    turns: str = ""
    """A file by which those who talk to the server, and those who make and end sessions, take turns."""
    channel: ControlChannel | None = None

    @contextmanager
    def talking(self, session: str) -> Iterator[Tmux]:
        """The same server through one client that stays for a while: many questions, one process."""
        if self.channel is not None and self.channel.usable:
            yield self
            return
        # -N: attaching to a server that is gone would start another one.
        attach = ("-N", "-C", "attach-session", "-f", "no-output,ignore-size", "-t", f"={session}")
        with self._alone():
            talk = self.host.talk_to(["tmux", "-u", *self._address, *attach], self._environment())
            try:
                channel = ControlChannel(talk)
            except EOFError:  # nobody to talk to: each question then finds out by itself what is the matter
                channel = None
        try:
            yield replace(self, channel=channel)
        finally:
            with self._alone():
                talk.close()

    def _alone(self) -> AbstractContextManager[None]:
        """tmux 3.3a dies, with every session, when one begins or ends while such a client comes or goes."""
        return self.host.alone(self.turns, TURN_SECS) if self.turns else nullcontext()

    def run(self, *command: str, stdin: bytes = b"", timeout: float = 20.0) -> Completed:
        if self.channel is not None and self.channel.usable and not stdin:
            return self.channel.run(command)
        # -u: without it tmux replaces what is not ASCII in its answers when the locale is C.
        return self.host.run(
            ["tmux", "-u", *self._address, *command], env=self._environment(), stdin=stdin, timeout=timeout
        )

    @property
    def _address(self) -> tuple[str, str]:
        return ("-S" if "/" in self.socket else "-L"), self.socket

    def _environment(self) -> dict[str, str]:
        return {k: v for k, v in self.host.environ().items() if k not in NESTING and not k.startswith("LLMC_")}

    def _look_for(self, *question: str) -> Completed:
        """A server ends with its last session, maybe in the middle of the question; then there is none to ask again."""
        answer = self.run(*question)
        for _ in range(ASKED_AGAIN):
            if answer.ok or not says_server_ended(answer.complaint):
                break
            time.sleep(PAUSE_SECS)
            answer = self.run(*question)
        return answer

    def _ask(self, *command: str, stdin: bytes = b"") -> str:
        answer = self.run(*command, stdin=stdin)
        if answer.ok:
            return answer.text
        if says_no_pane(answer.complaint):
            raise PaneGoneError("the terminal is gone", "bring the worker up with `llmc up`")
        raise TmuxError(f"tmux {command[0]}: {answer.complaint}", "run `llmc doctor`")

    # --- the server -------------------------------------------------------------------------------

    def version(self) -> tuple[int, int]:
        return parse_version(self.host.run(["tmux", "-V"]).text.strip())

    def require_version(self) -> None:
        version = self.version()
        if version < MINIMUM:
            raise LlmcError(
                f"tmux {version[0]}.{version[1]} is too old, LLMC needs {MINIMUM[0]}.{MINIMUM[1]} or later",
                "install a newer tmux",
            )

    def start(self, configuration_file: str) -> None:
        """Starts the server when it does not run; harmless when it does."""
        answer = self.run("-f", configuration_file, "start-server")
        if not answer.ok:
            raise TmuxError(f"the tmux server does not start: {answer.complaint}", "run `llmc doctor`")

    def stop(self) -> None:
        answer = self.run("kill-server")
        if not answer.ok and not _is_gone(answer.complaint):
            raise TmuxError(f"tmux kill-server: {answer.complaint}")

    # --- sessions ---------------------------------------------------------------------------------

    def panes(self) -> dict[str, Pane]:
        """The first pane of every session, by session. Empty only if there is none or no server."""
        found: dict[str, Pane] = {}
        for pane in self.all_panes():
            found.setdefault(pane.session, pane)
        return found

    def all_panes(self) -> list[Pane]:
        """Every pane of the server. Empty only if there is none or no server."""
        answer = self._look_for("list-panes", "-a", "-F", PANE_FORMAT)
        if not answer.ok:
            if says_no_sessions(answer.complaint):
                return []
            raise TmuxError(f"tmux list-panes: {answer.complaint}", "run `llmc doctor`")
        return [_pane(line) for line in filter(None, answer.text.split("\n"))]

    def pane_of(self, session: str) -> Pane | None:
        """The session's first pane; None when there is no such session."""
        answer = self._look_for("list-panes", "-s", "-t", f"={session}", "-F", PANE_FORMAT)
        if answer.ok:
            return _pane(answer.text.partition("\n")[0])
        if "can't find session" in answer.complaint or says_no_pane(answer.complaint):
            return None
        raise TmuxError(f"tmux list-panes: {answer.complaint}", "run `llmc doctor`")

    def new_session(
        self, name: str, cwd: str, argv: Sequence[str], env: Mapping[str, str], size: tuple[int, int]
    ) -> Pane:
        """A detached session whose pane's own process is the program itself, with no shell between."""
        variables = [word for key, value in env.items() for word in ("-e", literal(f"{key}={value}"))]
        directory = literal(cwd.replace("#", "##"))  # tmux would look for its variables in it
        width, height = map(str, size)
        command = (
            *("new-session", "-d", "-P", "-F", PANE_FORMAT, "-s", name, "-c", directory, "-x", width, "-y", height),
            *variables,
            "--",
            *map(literal, _as_program(argv)),
            *(";", "set-option", "-t", f"={name}:", "@columns", width),
            *(";", "set-option", "-t", f"={name}:", "@rows", height),
        )
        with self._alone():
            line = self._ask(*command)
        return _pane(line.rstrip("\n"))

    def kill_session(self, name: str) -> None:
        """Ends the session; one that is not there is no failure."""
        with self._alone():
            answer = self.run(*calming(name), ";", "kill-session", "-t", f"={name}")
        gone = "can't find session" in answer.complaint or _is_gone(answer.complaint)
        if not answer.ok and not gone and not says_no_pane(answer.complaint):
            raise TmuxError(f"tmux kill-session: {answer.complaint}", "run `llmc doctor`")

    # --- reading and typing -----------------------------------------------------------------------

    def capture(self, pane: str, *, history: int = 0) -> str:
        """The screen as text; wrapped lines are joined."""
        return self.look(pane, history)[1]

    def captures(self, panes: Sequence[str]) -> list[str]:
        """The screens of many panes as they are drawn, colours included, by few calls. A pane that is gone raises."""
        mark = f"={urandom(12).hex()}="
        screens: list[str] = []
        for first in range(0, len(panes), CAPTURED_AT_ONCE):
            some = panes[first : first + CAPTURED_AT_ONCE]
            words = [word for pane in some for word in ("capture-pane", "-pe", "-t", pane, ";", *_say(mark), ";")]
            screens += self._ask(*words[:-1]).split(f"{mark}\n")[:-1]
        return screens

    def look(self, pane: str, history: int = 0) -> tuple[Pane, str]:
        """The pane's facts and its screen, in one call."""
        text = self._ask("display-message", "-p", "-t", pane, PANE_FORMAT, ";", *_capture(pane, history))
        line, _, screen = text.partition("\n")
        facts = _pane(line)
        return facts, screen if facts.rows_kept is None else self._last_screen(facts, history) or screen

    def _last_screen(self, pane: Pane, history: int) -> str:
        """What a dead pane showed in the end; its screen is empty by now."""
        # By a client of its own: tmux refuses to show a buffer where it has answered something else before.
        kept = replace(self, channel=None).run("show-buffer", "-b", pane.last_screen)
        # One row more: all has moved up to make room for "Pane is dead".
        lines = (pane.rows_kept or 0) + 1 + history
        return "".join(kept.text.splitlines(keepends=True)[-lines:]) if kept.ok else ""

    def leave_copy_mode(self, pane: str) -> None:
        self._ask("if-shell", "-F", "-t", pane, "#{pane_in_mode}", f"copy-mode -q -t {pane}")

    def paste(self, pane: str, text: bytes, buffer: str) -> None:
        """Pastes with brackets where the program asked for them, byte for byte.

        tmux 3.3a dies, with every session, when something is pasted into a dead pane: the check and
        the paste are one command sequence inside the server.
        """
        paste = (
            *("if-shell", "-F", "-t", pane, "#{pane_dead}"),
            f"display-message -p dead ; delete-buffer -b {buffer}",
            f"paste-buffer -p -r -d -b {buffer} -t {pane}",
        )
        try:
            if self._says(text):
                answer = self._ask(
                    "set-buffer", "-b", buffer, "--", text.decode("utf-8", "surrogateescape"), ";", *paste
                )
            else:
                answer = self._ask("load-buffer", "-b", buffer, "-", ";", *paste, stdin=text)
        except LlmcError:
            self.run("delete-buffer", "-b", buffer)
            raise
        if "dead" in answer:
            raise PaneGoneError("the agent's process has ended", "bring the worker up with `llmc up`")

    def _says(self, text: bytes) -> bool:
        """Whether the text goes through the client that stays. tmux reads a long line slower than a file."""
        return self.channel is not None and self.channel.usable and len(text) <= SAID_BYTES and text != b";"

    def type_text(self, pane: str, text: str) -> None:
        """Types text as keys, literally. For short commands: longer text is pasted."""
        self._ask("send-keys", "-t", pane, "-l", "--", literal(text))

    def press(self, pane: str, *keys: str) -> None:
        self._ask("send-keys", "-t", pane, *keys)

    def attach_command(self, session: str, how_to_leave: str, *, keeps_size: bool = False) -> list[str]:
        """`keeps_size`: whoever comes sees what fits, and the terminal stays as large as it is."""
        attach = ("attach-session", *(("-f", "ignore-size") if keeps_size else ()), "-t", f"={session}")
        told = ("display-message", "-d", TOLD_MS, how_to_leave)
        return ["tmux", *self._address, *calming(session), ";", *attach, ";", *told]


def _is_gone(complaint: str) -> bool:
    return says_no_sessions(complaint) or says_server_ended(complaint)


def _pane(line: str) -> Pane:
    try:
        return parse_pane(line)
    except ValueError:
        raise TmuxError(f"tmux describes a terminal as {line!r}", "run `llmc doctor`") from None


def literal(word: str) -> str:
    """A trailing semicolon would be taken as tmux's own command separator."""
    return word[:-1] + "\\;" if word.endswith(";") else word


def _capture(pane: str, history: int = 0) -> tuple[str, ...]:
    """Who draws on the alternate screen places every row: one that fills the width is not wrapped into the next."""
    drawn = f"capture-pane -p -t {pane}" + (f" -S -{history}" if history else "")
    return ("if-shell", "-F", "-t", pane, "#{alternate_on}", drawn, f"{drawn} -J")


def _say(text: str) -> tuple[str, ...]:
    return ("display-message", "-p", text)


def _as_program(argv: Sequence[str]) -> list[str]:
    """With one word tmux would hand it to a shell; `env` in front keeps it a plain program."""
    return list(argv) if len(argv) > 1 else ["env", *argv]
