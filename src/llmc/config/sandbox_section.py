"""`[sandbox]`: what the fence around an agent lets through."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from llmc.config.value_types import string
from llmc.core.schema import MismatchError, ValueType, choice
from llmc.core.setting import option
from llmc.core.text_checks import absolute_path
from llmc.values import Value

MODES = ("off", "bwrap")
_ADDRESS = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|(?:\*\.)?[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?):([0-9]{1,5})")
_ONE_PATH = string("", "", absolute_path)


def _paths(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise MismatchError
    try:
        found = tuple(str(Path(_ONE_PATH.read(one)).expanduser()) for one in value)
    except RuntimeError as homeless:
        raise MismatchError from homeless
    if any(".." in path.split("/") for path in found):
        raise MismatchError
    return found


def _paths_but_the_root(value: object) -> tuple[str, ...]:
    found = _paths(value)
    if any(not path.strip("/") for path in found):
        raise MismatchError
    return found


def _network(value: object) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(one, str) and _is_address(one) for one in value):
        raise MismatchError
    return tuple(value)


def _is_address(text: str) -> bool:
    found = _ADDRESS.fullmatch(text)
    return found is not None and 0 < int(found[1]) < 65536


_PATHS = "a list of absolute paths, or such that begin with `~/`, without `..`"
_LIST = "list of paths"
PATHS = ValueType(_PATHS, _paths, '["~/datasets"]', _LIST)
INNER_PATHS = ValueType(f"{_PATHS}, and not the whole system", _paths_but_the_root, '["~/.cache/pip"]', _LIST)
NETWORK: ValueType[bool | tuple[str, ...]] = ValueType(
    'true, false, or a list of "host:port"', _network, '["api.example.org:443"]', "boolean or list of host:port"
)
MODE = replace(choice(MODES), example='"bwrap"', word="string")


class Sandbox(Value):
    mode: str = option(
        MODE,
        "off",
        "`bwrap` runs every agent, the setup of its worktree and the checks of its work in a fence of bubblewrap's",
    )
    writable: tuple[str, ...] = option(
        INNER_PATHS, (), "what else can be written from inside the fence, such as the caches of package managers"
    )
    readable: tuple[str, ...] = option(
        PATHS,
        (),
        "what else can be read from inside, such as data, tools in your home, or your checkout; known places of keys "
        "in it stay hidden unless they are named themselves",
    )
    hide: tuple[str, ...] = option(INNER_PATHS, (), "what cannot be seen from inside, whatever else says that it can")
    network: bool | tuple[str, ...] = option(
        NETWORK,
        True,
        "`true`: all of it; `false`: none; a list: only these, such as `api.anthropic.com:443` or "
        "`*.example.org:443`, through a proxy of LLMC's",
    )
