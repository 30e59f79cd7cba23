"""Text without what looks like a secret, before it leaves the terminal for a file or for somebody else."""

from __future__ import annotations

import re

MASK = "[masked]"
_NAMES = (
    r"(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?key|auth[_-]?token|token|passw(?:or)?d|passphrase|credentials?)"
)

_WHOLE = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9._-]{20,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)
_AFTER = (
    re.compile(r"(?i)(\bbearer\s+|\bbasic\s+)[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?i)((?:x-api-key|authorization|cookie)\s*:\s*)(?!bearer|basic)\S[^\n]*"),
    re.compile(rf"(?i)(\b[\w-]*{_NAMES}[\w-]*[\"']?\s*[:=]\s*[\"']?)(?!\[masked\])[^\s\"',;]{{6,}}"),
    re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+(?=@)"),
)
"""What stays is in the first group: it tells what was there."""


def masked(text: str) -> str:
    for pattern in _WHOLE:
        text = pattern.sub(MASK, text)
    for pattern in _AFTER:
        text = pattern.sub(rf"\1{MASK}", text)
    return text
