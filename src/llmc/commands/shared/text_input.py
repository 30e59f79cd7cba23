"""Where a text for an agent comes from: the words, a file, standard input, the editor, a template."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from llmc.core.delivery.texts import MAX_BYTES, check_text
from llmc.errors import InvalidUsageError, LlmcError
from llmc.host.terminal import run_in_terminal

EDITOR_NOTE = "# Write the text above this line; lines that begin with # are left out.\n"


def text_from(words: str | None, file: str | None, *, environ: Mapping[str, str]) -> str:
    """The text, checked: it can be delivered as it is."""
    if words is not None and file is not None:
        raise InvalidUsageError("the text is given twice", "give either the text or a file")
    if words == "-" or file == "-":
        text = _decode(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")
    elif file is not None:
        text = _from_file(file)
    elif words is not None:
        text = words
    else:
        text = _from_editor(environ)
    check_text(text)
    return text


def _from_file(file: str) -> str:
    path = Path(os.path.expanduser(file))
    if not path.is_file():
        raise LlmcError(f"there is no file {file}", "check the path")
    with path.open("rb") as content:
        return _decode(content.read(MAX_BYTES + 1), file)


def _decode(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise LlmcError(f"{where} is not UTF-8 (byte {wrong.start})", "save it as UTF-8 and try again") from None


def _from_editor(environ: Mapping[str, str]) -> str:
    if not sys.stdin.isatty():
        raise InvalidUsageError(
            "there is no text", "give it in quotes, in a file, or by - on standard input: see --help"
        )
    editor = editor_words(environ)
    fd, name = tempfile.mkstemp(prefix="llmc-", suffix=".md")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as draft:
            draft.write(f"\n\n{EDITOR_NOTE}")
        if run_in_terminal([*editor, name]) != 0:
            raise LlmcError(f"{editor[0]} ended with a failure", "nothing was sent")
        written = _from_file(name)
    finally:
        Path(name).unlink(missing_ok=True)
    return "\n".join(line for line in written.splitlines() if not line.startswith("#")).strip()


def editor_words(environ: Mapping[str, str]) -> list[str]:
    chosen = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        raise LlmcError(f"VISUAL or EDITOR is {chosen!r}, which names no program", "set EDITOR to one, such as vi")
    return words


def from_template(directory: str, name: str, settings: Sequence[str]) -> str:
    path = Path(directory) / f"{name}.md"
    if "/" in name or not path.is_file():
        known = sorted(file.stem for file in Path(directory).glob("*.md") if file.is_file())
        raise LlmcError(f"there is no template {name!r}", f"the templates in {directory}: {', '.join(known) or 'none'}")
    text = _from_file(str(path))
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise InvalidUsageError(f"--set {setting!r} has no value", "say --set NAME=VALUE")
        if f"{{{key}}}" not in text:
            raise InvalidUsageError(f"the template {name} has no {{{key}}}", f"see {path}")
        text = text.replace(f"{{{key}}}", value)
    check_text(text)
    return text
