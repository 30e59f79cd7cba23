"""From `config.toml` to Config, or to one error that tells everything that is wrong with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from llmc.config.layout import Lines
from llmc.config.problems import ConfigError, Problem
from llmc.config.rules import examine
from llmc.config.settings import Config
from llmc.core.names import shown

CONFIG_NAME = "config.toml"

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def load_config(path: Path | str) -> Config:
    """The settings of the root whose `config.toml` this is. Raises ConfigError."""
    return parse_config(read_text(path), str(path))


def parse_config(text: str, path: str = CONFIG_NAME) -> Config:
    config, problems = examine(decode(text, path))
    if problems:
        raise ConfigError(path, _by_line(problems, text))
    return config


def read_text(path: Path | str) -> str:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError as failed:
        advice = "run `llmc init` to make one, or name another directory by `--root`"
        raise _failure(path, "there is no such file", advice) from failed
    except OSError as failed:
        advice = "see that it is a file and that you may read it"
        raise _failure(path, f"it cannot be read: {failed.strerror}", advice) from failed
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as failed:
        line = content.count(b"\n", 0, failed.start) + 1
        raise _failure(path, "it is not UTF-8 text", "save the file as UTF-8", line) from failed


def decode(text: str, path: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as failed:
        raise _syntax_error(str(failed), text, path) from failed
    except RecursionError as failed:
        raise _syntax_error("brackets are nested too deeply", text, path) from failed


def _syntax_error(message: str, text: str, path: str) -> ConfigError:
    at = _AT.search(message)
    reason = shown(_AT.sub("", message), 200)
    if at is None:
        return _failure(path, f"it is not valid TOML: {reason}", "fix the file in an editor")
    line, column = (int(at[1]), f", column {at[2]}") if at[1] else (text.rstrip().count("\n") + 1, "")
    advice = f"fix line {line}{column}; text needs quotes, lists need brackets"
    return _failure(path, f"it is not valid TOML: {reason}", advice, line)


def _failure(path: Path | str, what: str, advice: str, line: int | None = None) -> ConfigError:
    return ConfigError(str(path), [Problem((), what, advice, line)])


def _by_line(problems: Sequence[Problem], text: str) -> list[Problem]:
    lines = Lines(text)
    located = [replace(problem, line=lines.line(problem.key)) for problem in problems]
    return sorted(located, key=lambda problem: problem.line or 0)
