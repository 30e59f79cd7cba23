"""Screen packs: how each CLI looks, as data."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from llmc.core.classify import ComposerShape, Cue, Pack
from llmc.errors import LlmcError


class PackError(LlmcError):
    """A pack file that cannot be used."""


@cache
def load_pack(name: str) -> Pack:
    """A built-in pack by its name, or a pack file by its path."""
    if "/" in name or name.endswith(".toml"):
        path = Path(name).expanduser()
        if not path.is_file():
            raise PackError(f"the pack file {name} is not there", "check `pack` in config.toml")
        return parse_pack(path.read_text(encoding="utf-8"), name)
    resource = files(__name__) / f"{name}.toml"
    if not resource.is_file():
        raise PackError(f"there is no pack named {name!r}", "give the path of a pack file, with a slash in it")
    return parse_pack(resource.read_text(encoding="utf-8"), f"{name}.toml")


def parse_pack(text: str, where: str) -> Pack:
    try:
        data = tomllib.loads(text)
        return Pack(
            name=data["name"],
            composer=_composer(data["composer"]) if "composer" in data else None,
            dialogs=_cues(data.get("dialog", [])),
            busy=_cues(data.get("busy", [])),
            errors=_cues(data.get("error", [])),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as wrong:
        raise PackError(
            f"{where}: {type(wrong).__name__}: {wrong}", "see docs/agents.md for the form of a pack"
        ) from None


def _composer(data: dict[str, str]) -> ComposerShape:
    compiled = {key: re.compile(pattern) for key, pattern in data.items()}
    return ComposerShape(**compiled)


def _cues(rows: list[dict[str, Any]]) -> tuple[Cue, ...]:
    return tuple(_cue(row) for row in rows)


def _cue(row: dict[str, Any]) -> Cue:
    return Cue(
        row["name"],
        re.compile(row["pattern"]),
        row.get("kind", ""),
        tuple(row.get("pass", ())),
        row.get("advice", ""),
        MappingProxyType({choice: tuple(keys) for choice, keys in row.get("answers", {}).items()}),
    )
