"""Where a text for an agent comes from: the words, a file, standard input, the editor, a template."""

from __future__ import annotations

import atexit
import os
import re
import shlex
import sys
import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from llmc.core.delivery.texts import MAX_BYTES, check_text
from llmc.errors import InvalidUsageError, LlmcError
from llmc.host.terminal import run_in_terminal

SCISSORS = "# ------------------------ >8 ------------------------"
EDITOR_NOTE = f"{SCISSORS}\n# Write the text above this line. What is below it, with the line itself, is left out.\n"
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_-]*)\}")
"""`{NAME}` of a template; doubled braces stand for themselves."""


def text_from(words: str | None, file: str | None, *, environ: Mapping[str, str], draft: str = "") -> str:
    """The text, checked: it can be delivered as it is. The editor opens with `draft`."""
    if words is not None and file is not None:
        raise InvalidUsageError("the text is given twice", "give either the text or a file")
    if words == "-" or file == "-":
        text = _decode(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")
    elif file is not None:
        text = _from_file(file)
    elif words is not None:
        text = words
    else:
        text = _from_editor(environ, draft)
    check_text(text)
    return text


def plan_text(file: str) -> str:
    """All of a plan, however long, with the line ends of any system. Its texts are checked one by one."""
    text = _decode(sys.stdin.buffer.read(), "standard input") if file == "-" else _from_file(file, -1)
    return text.replace("\r\n", "\n")


def task_text(environ: Mapping[str, str], templates: str, args: Namespace, words: str | None, file: str | None) -> str:
    """The text of a task: given once, in one of the ways there are. `templates` is the directory of these."""
    given = [text for text in (args.source, words, file, args.template) if text is not None]
    if len(given) > 1:
        raise InvalidUsageError("the task is given twice", "give it once: the text alone, a file, a template or -")
    if args.set and args.template is None:
        raise InvalidUsageError("--set fills in a template, and there is none", "name it with --template NAME")
    if args.template is not None:
        return from_template(templates, args.template, args.set)
    return text_from(args.source or words, file, environ=environ)


def _from_file(file: str, most: int = MAX_BYTES + 1) -> str:
    path = Path(os.path.expanduser(file))
    if not path.is_file():
        raise LlmcError(f"there is no file {file}", "check the path")
    with path.open("rb") as content:
        return _decode(content.read(most), file)


def _decode(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise LlmcError(f"{where} is not UTF-8 (byte {wrong.start})", "save it as UTF-8 and try again") from None


def _from_editor(environ: Mapping[str, str], begun: str) -> str:
    if not sys.stdin.isatty():
        raise InvalidUsageError(
            "there is no text", "give it in quotes, in a file, or by - on standard input: see --help"
        )
    editor = editor_words(environ)
    fd, name = tempfile.mkstemp(prefix="llmc-", suffix=".md")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as draft:
            draft.write(f"{begun}\n\n{EDITOR_NOTE}")
        if run_in_terminal([*editor, name]) != 0:
            raise LlmcError(f"{editor[0]} ended with a failure", "nothing was sent")
        written = _from_file(name)
    finally:
        _drafts.append(name)
    text = written.partition(SCISSORS)[0].strip()
    if not text:
        forget_drafts()
    return text


_drafts: list[str] = []


@atexit.register
def _tell_of_drafts() -> None:
    for name in _drafts:
        sys.stderr.write(f"what you wrote is kept in {name}\n")


def forget_drafts() -> None:
    """The agent has the text, or there was none."""
    for name in _drafts:
        Path(name).unlink(missing_ok=True)
    _drafts.clear()


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
        known = ", ".join(templates_in(directory)) or "none"
        raise LlmcError(f"there is no template {name!r}", f"the templates in {directory}: {known}")
    text = _from_file(str(path))
    values = dict(_setting(each) for each in settings)
    wanted = placeholders(text)
    if unknown := [key for key in values if key not in wanted]:
        raise InvalidUsageError(f"the template {name} has no {{{unknown[0]}}}", f"see {path}")
    if missing := [key for key in wanted if key not in values]:
        words = " ".join(f"--set {key}=..." for key in missing)
        raise InvalidUsageError(f"the template {name} is not filled in: {', '.join(missing)}", f"add {words}")
    text = PLACEHOLDER.sub(lambda found: values[found[1]] if found[1] else found[0][0], text)
    check_text(text)
    return text


def _setting(words: str) -> tuple[str, str]:
    key, equals, value = words.partition("=")
    if not equals:
        raise InvalidUsageError(f"--set {words!r} has no value", "say --set NAME=VALUE")
    return key, value


def placeholders(text: str) -> list[str]:
    """The names that a template leaves open, each once."""
    return list(dict.fromkeys(found[1] for found in PLACEHOLDER.finditer(text) if found[1]))


def templates_in(directory: str) -> dict[str, str]:
    """The text of each, by its name."""
    files = sorted(file for file in Path(directory).glob("*.md") if file.is_file())
    return {file.stem: file.read_text("utf-8", "replace") for file in files}
