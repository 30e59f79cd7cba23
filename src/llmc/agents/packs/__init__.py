"""Screen packs: how each CLI looks, as data. The root's own `packs/` directory comes before what LLMC brings along."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from llmc.agents.packs.examples import wrong_examples
from llmc.agents.packs.parse import PackError as PackError
from llmc.agents.packs.parse import parse_pack
from llmc.config.sections import AgentOptions
from llmc.core.screen.classify import Pack
from llmc.core.screen.cues import Cue

COMMON = "common"
"""Cues that packs include; not a CLI of its own."""
FALLBACK = "generic"
ALSO_KNOWN_AS = {**dict.fromkeys(("bash", "zsh", "fish", "sh", "dash", "ksh"), "shell"), "python3": "python"}


def load_pack(name: str, directory: str = "") -> Pack:
    """A pack by its name, from this directory or built in, or a pack file by its path.

    `claude@2.0` is the pack for that version of Claude Code: `claude.toml` or another that begins with `claude-`.
    """
    if _is_path(name):
        return _from_file(os.path.expanduser(name))
    if "@" in name:
        cli, _, version = name.partition("@")
        return _for_version(cli, version, directory)
    own = os.path.join(directory, f"{name}.toml") if directory else ""
    if own and os.path.exists(own):
        return _from_file(own)
    return _built_in(ALSO_KNOWN_AS.get(name, name))


def _for_version(name: str, version: str, directory: str) -> Pack:
    names = [each for each in pack_names(directory) if each == name or each.startswith(f"{name}-")]
    packs = [load_pack(each, directory) for each in names]
    for pack in packs:
        if pack.covers(version):
            return pack
    known = ", ".join(pack.label for pack in packs) or "none of that name"
    raise PackError(
        f"there is no pack for {name} {version}", f"the packs are {known}; docs/packs.md tells how to add one"
    )


def pack_names(directory: str = "") -> list[str]:
    built_in = {entry.name.removesuffix(".toml") for entry in files(__name__).iterdir() if entry.name.endswith(".toml")}
    return sorted((built_in | set(own_packs(directory))) - {COMMON})


def own_packs(directory: str) -> list[str]:
    """The names of the packs in the root's own directory."""
    try:
        return sorted(name.removesuffix(".toml") for name in os.listdir(directory) if name.endswith(".toml"))
    except OSError:
        return []


def broken_packs(directory: str, agents: Iterable[AgentOptions] = ()) -> list[PackError]:
    """What is wrong with the user's own packs: those of the directory, and those that the settings name."""
    files = [os.path.join(directory, f"{name}.toml") for name in own_packs(directory)]
    named = [options.pack for options in agents if options.pack]
    return [wrong for name in (*files, *named) if (wrong := _what_is_wrong(name, directory))]


def _what_is_wrong(name: str, directory: str) -> PackError | None:
    try:
        pack = load_pack(name, directory)
        beside = os.path.dirname(name) if _is_path(name) else ""
        wrong = next(wrong_examples(pack, os.path.expanduser(beside)), "") if beside else ""
    except PackError as broken:
        return broken
    return (
        PackError(f"{name}: {wrong}", "record the screen again, or fix the cue: see docs/packs.md") if wrong else None
    )


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith(".toml")


def pack_for_command(command: str, directory: str = "") -> Pack:
    """The pack of the CLI that runs under this process name; the generic one when nobody claims it."""
    process = command.removeprefix("-")
    for name in pack_names(directory):
        with suppress(PackError):  # a broken pack is no reason to leave the others unread
            pack = load_pack(name, directory)
            if process in pack.process_names:
                return pack
    return load_pack(FALLBACK)


def _from_file(path: str) -> Pack:
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError:
        raise PackError(f"the pack file {path} is not there", "check `pack` in config.toml") from None
    return _read_file(path, changed)


@lru_cache(maxsize=64)
def _read_file(path: str, changed: int) -> Pack:
    """`changed` keeps what was read of an older file from being used for the new one."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as unreadable:
        raise PackError(f"{path} cannot be read: {unreadable}", "a pack is a text file in TOML") from None
    return parse_pack(text, path, _common)


@cache
def _built_in(name: str) -> Pack:
    resource = files(__name__) / f"{name}.toml"
    if not resource.is_file():
        raise PackError(
            f"there is no pack named {name!r}",
            f"the packs are {', '.join(pack_names())}; or give the path of a pack file, with a slash in it",
        )
    return parse_pack(resource.read_text(encoding="utf-8"), f"{name}.toml", _common)


def _common(name: str) -> tuple[Cue, ...]:
    return _built_in(name).cues
