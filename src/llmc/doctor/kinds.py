"""What a code of the doctor's stands for, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


@dataclass(frozen=True, slots=True)
class Kind:
    """Words in braces are filled in for the finding at hand."""

    code: str
    severity: Severity
    topic: str
    meaning: str
    repair: str
