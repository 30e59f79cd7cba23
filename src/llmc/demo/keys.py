"""Turns what a terminal sends into keys, whatever way the bytes were cut on their way."""

from __future__ import annotations

import codecs
import re
from enum import StrEnum
from typing import NamedTuple


class Press(StrEnum):
    ENTER = "enter"
    NEWLINE = "newline"
    BACKSPACE = "backspace"
    CLEAR_LINE = "ctrl-u"
    INTERRUPT = "ctrl-c"
    ESCAPE = "escape"
    UP = "up"
    DOWN = "down"


class Typed(NamedTuple):
    text: str


class Pasted(NamedTuple):
    text: str


Key = Press | Typed | Pasted

_PASTE_BEGIN = b"\x1b[200~"
_PASTE_END = b"\x1b[201~"
_PLAIN = re.compile(rb"[^\x00-\x08\x0a-\x1f\x7f]+")
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O)?")
_BROKEN = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O)")
_CONTROLS = {
    b"\r": Press.ENTER,
    b"\n": Press.NEWLINE,
    b"\x08": Press.BACKSPACE,
    b"\x7f": Press.BACKSPACE,
    b"\x15": Press.CLEAR_LINE,
    b"\x03": Press.INTERRUPT,
}
_SEQUENCES = {b"\x1b[A": Press.UP, b"\x1bOA": Press.UP, b"\x1b[B": Press.DOWN, b"\x1bOB": Press.DOWN}


class KeyReader:
    """Feed it bytes. While it is `waiting`, only the passing of time tells the Escape key from a longer sequence."""

    def __init__(self) -> None:
        self._held = b""
        self._paste: bytearray | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def waiting(self) -> bool:
        return bool(self._held)

    def feed(self, data: bytes) -> list[Key]:
        keys: list[Key] = []
        data = self._held + data
        self._held = b""
        while data:
            data = self._take_paste(data, keys) if self._paste is not None else self._take(data, keys)
        return keys

    def time_passed(self) -> list[Key]:
        """Nothing followed: a lone escape byte was the key; any other beginning of a sequence meant nothing."""
        held, self._held = self._held, b""
        return [Press.ESCAPE] if held == b"\x1b" else []

    def _take(self, data: bytes, keys: list[Key]) -> bytes:
        """Takes one thing off the front and answers with the rest."""
        if plain := _PLAIN.match(data):
            self._add_text(self._decoder.decode(plain[0]), keys)
            return data[plain.end() :]
        self._add_text(self._decoder.decode(b"", final=True), keys)
        if data[:1] == b"\x1b":
            return self._take_escape(data, keys)
        if control := _CONTROLS.get(data[:1]):
            keys.append(control)
        return data[1:]

    def _take_escape(self, data: bytes, keys: list[Key]) -> bytes:
        if _UNFINISHED.fullmatch(data):
            self._held = data
            return b""
        if sequence := _SEQUENCE.match(data):
            if sequence[0] == _PASTE_BEGIN:
                self._paste = bytearray()
            elif known := _SEQUENCES.get(sequence[0]):
                keys.append(known)
            return data[sequence.end() :]
        if data[1:2] in (b"\r", b"\n"):
            keys.append(Press.NEWLINE)
            return data[2:]
        if broken := _BROKEN.match(data):
            return data[broken.end() :]
        if b" " <= data[1:2] <= b"\x7f":  # Alt and a character
            return data[2:]
        keys.append(Press.ESCAPE)
        return data[1:]

    def _take_paste(self, data: bytes, keys: list[Key]) -> bytes:
        paste = self._paste
        assert paste is not None
        seen = max(0, len(paste) - len(_PASTE_END) + 1)
        paste += data
        end = paste.find(_PASTE_END, seen)
        if end < 0:
            return b""
        self._paste = None
        keys.append(Pasted(paste[:end].decode("utf-8", "replace")))
        return bytes(paste[end + len(_PASTE_END) :])

    @staticmethod
    def _add_text(text: str, keys: list[Key]) -> None:
        if text:
            keys.append(Typed(text))
