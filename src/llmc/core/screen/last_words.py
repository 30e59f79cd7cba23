"""What an agent said last, in a sentence: its answer is long, and its end tells what it wants."""

from __future__ import annotations

import re

from llmc.core.display import one_line, plain

LONGEST = 200
MOST_READ = 2_000
"""Characters from the end: nobody's last sentence is longer."""
FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
MARKER = re.compile(r"^\s*(?:>\s?|#{1,6}\s+|[-*+•●▪✦⏺]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+)+")
RULE = re.compile(r"^\s*(?:[-*_=─]\s*){3,}$")
TABLE = re.compile(r"^\s*\|.*\|\s*$")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
EMPHASIS = re.compile(r"(\*\*|__|\*|`|~~)(?=\S)(.+?)(?<=\S)\1")
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+(?=[^a-z\s])|(?<=[。！？])[」』）”]{0,2}")
ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Dr|No|approx)\.|\b[A-Z]\.|\d\.)$")


def last_sentence(text: str) -> str:
    """Empty when it said nothing in words. Safe to show, in one line."""
    paragraphs = _paragraphs(plain(text[-MOST_READ:]))
    said = _without_marks(paragraphs[-1]) if paragraphs else ""
    return one_line(_last_of(said), LONGEST)


def _paragraphs(text: str) -> list[str]:
    """Those of prose; each item of a list is one of its own."""
    found: list[str] = []
    fenced, open_paragraph = False, False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced, open_paragraph = not fenced, False
        elif fenced or not line.strip() or RULE.match(line) or TABLE.match(line):
            open_paragraph = False
        elif open_paragraph and not MARKER.match(line):
            found[-1] = f"{found[-1]} {line.strip()}"
        else:
            found.append(MARKER.sub("", line).strip())
            open_paragraph = True
    return [paragraph for paragraph in found if any(character.isalnum() for character in paragraph)]


def _without_marks(paragraph: str) -> str:
    paragraph = LINK.sub(r"\1", paragraph)
    for _ in range(2):  # bold around italics, or code inside of bold
        paragraph = EMPHASIS.sub(r"\2", paragraph)
    return paragraph


def _last_of(paragraph: str) -> str:
    start = 0
    for end in SENTENCE_END.finditer(paragraph):
        ended = paragraph[start : end.end()].strip()
        # An emoji or a bracket after the last full stop belongs to the sentence before it.
        more = any(character.isalnum() for character in paragraph[end.end() :])
        if more and not ABBREVIATION.search(ended):
            start = end.end()
    return paragraph[start:].strip()
