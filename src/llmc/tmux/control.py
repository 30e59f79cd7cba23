"""tmux's control mode: one client that stays, instead of a process for each question.

Questions go in as lines, answers come back between `%begin` and `%end`, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import urandom

from llmc.host.base import Completed, Talk


class ControlChannel:
    """Asks a running tmux client. Not for several threads at once."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self.usable, _ = self._answer()  # the one to attaching itself
        """After a failure the rest of the line was skipped, and answers could be mistaken: ask in another way."""

    def run(self, words: Sequence[str]) -> Completed:
        """Runs a command sequence; a `;` among the words separates commands, as on the command line."""
        # Commands can run others, each with an answer of its own: a last word of ours tells where they end.
        mark = urandom(12).hex()
        said = b""
        try:
            self._talk.say(command_line([*words, ";", "display-message", "-p", mark]))
            while True:
                ok, answer = self._answer()
                if not ok:
                    self.usable = False
                    return Completed(1, b"", answer)
                if answer == f"{mark}\n".encode():
                    return Completed(0, said, b"")
                said += answer
        except EOFError as ended:
            self.usable = False
            return Completed(1, b"", str(ended).encode())

    def _answer(self) -> tuple[bool, bytes]:
        begin = self._talk.hear()
        while not begin.startswith(b"%begin "):
            begin = self._talk.hear()  # a notification
        mark = begin.removeprefix(b"%begin ")
        lines: list[bytes] = []
        while True:
            line = self._talk.hear()
            if line in (b"%end " + mark, b"%error " + mark):
                return line.startswith(b"%end"), b"".join(said + b"\n" for said in lines)
            lines.append(line)

    def close(self) -> None:
        self._talk.close()


def command_line(words: Sequence[str]) -> bytes:
    return " ".join(word if word == ";" else quoted(word) for word in words).encode("utf-8", "surrogateescape") + b"\n"


def quoted(word: str) -> str:
    """One word of tmux's own command language, with nothing left to expand."""
    return "'" + word.replace("'", "'\"'\"'").replace("\n", "'\"\\n\"'") + "'"
