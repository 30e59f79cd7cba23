"""What the doctor finds, and the kinds of findings: each has a code that stays, and says how it is repaired."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from llmc.doctor.answers import question
from llmc.doctor.repairs import Fix, Repair
from llmc.values import Value


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


class FindingKind(Value):
    """Words in braces are filled in for the finding at hand."""

    topic: str
    severity: Severity
    code: str
    meaning: str
    advice: str
    fix: Fix | None = None

    def finding(
        self,
        what: str,
        why: str = "",
        *,
        worker: str | None = None,
        severity: Severity | None = None,
        advice: str | None = None,
        subject: str = "",
        **places: str,
    ) -> Finding:
        """Severity and advice are those of the kind unless they are given; the subject is the path if there is one."""
        quoted = {name: shlex.quote(value) for name, value in places.items()}
        words = advice or self.advice.format(worker=worker, **quoted)
        subject = subject or places.get("path", "")
        return Finding(self, severity or self.severity, what, why, words, worker, subject)


class Finding(Value):
    kind: FindingKind
    severity: Severity
    what: str
    why: str
    advice: str
    worker: str | None = None
    subject: str = ""
    """What it is about where that is no worker: a path, a branch, a session, a setting."""

    @property
    def code(self) -> str:
        return self.kind.code

    @property
    def repair(self) -> Repair | None:
        """None when it is for a person to repair."""
        fix = self.kind.fix
        if fix is None:
            return None
        words = fix.words.format(worker=self.worker, subject=self.subject)
        return Repair(fix, words) if fix.all_at_once else Repair(fix, words, self.worker, self.subject)


class Topic(Value):
    """A group of checks, with every kind of finding that its module defines."""

    name: str
    kinds: list[FindingKind] = field(default_factory=list)

    def error(self, code: str, meaning: str, advice: str, fix: Fix | None = None) -> FindingKind:
        return self._kind(ERROR, code, meaning, advice, fix)

    def warning(self, code: str, meaning: str, advice: str, fix: Fix | None = None) -> FindingKind:
        return self._kind(WARNING, code, meaning, advice, fix)

    def note(self, code: str, meaning: str, advice: str, fix: Fix | None = None) -> FindingKind:
        return self._kind(NOTE, code, meaning, advice, fix)

    def _kind(self, severity: Severity, code: str, meaning: str, advice: str, fix: Fix | None) -> FindingKind:
        self.kinds.append(FindingKind(self.name, severity, code, meaning, advice, fix))
        return self.kinds[-1]

    def asks(self, words: str, *, required: bool = False) -> Mapping[str, Any]:
        """For a field that holds an answer: see `question`."""
        return question(self.name, words, required=required)
