"""What trying an agent CLI has shown: check by check, and whether LLMC's idea of it still holds. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from llmc.core.screen.classify import Pack


class Verdict(StrEnum):
    OK = "ok"
    DRIFTED = "drifted"
    """The CLI is another one than LLMC knows."""
    FAILED = "failed"
    """It does not work here, whatever LLMC knows: not logged in, no network."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    verdict: Verdict
    words: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One CLI."""

    agent: str
    program: str
    installed: bool
    version: str = ""
    pack: str = ""
    checks: tuple[Check, ...] = ()

    @property
    def ok(self) -> bool:
        return self.installed and all(check.verdict in (Verdict.OK, Verdict.UNKNOWN) for check in self.checks)

    @property
    def drifted(self) -> tuple[str, ...]:
        return tuple(check.name for check in self.checks if check.verdict is Verdict.DRIFTED)


def check_version(said: str, pack: Pack) -> Check:
    if not said:
        return Check("version", Verdict.UNKNOWN, "it does not tell its version")
    if not pack.version:
        return Check("version", Verdict.UNKNOWN, f"{said}; its pack names no version")
    if pack.covers(said):
        return Check("version", Verdict.OK, f"{said}, and the pack is for {pack.version}")
    return Check("version", Verdict.DRIFTED, f"it is {said}, but the pack is for {pack.version}")
