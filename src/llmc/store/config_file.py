"""Reads and changes single settings in `config.toml`, for `llmc config`, `llmc init`, `llmc add` and `llmc nuke`."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from llmc.config.edit import changed, value_at, with_table, with_value, without_table
from llmc.config.keys import dotted, split_key
from llmc.config.literals import literal
from llmc.config.load import decode, parse_config, read_text
from llmc.config.rules import examine
from llmc.config.sections import CLI_AGENTS
from llmc.config.settings import all_options, find_option, options_inside
from llmc.config.suggest import advice_for, known_beside
from llmc.config.value_types import typed
from llmc.core.setting import Setting
from llmc.errors import InvalidUsageError
from llmc.host.files import disk_errors, write_atomically
from llmc.host.locks import FileLock
from llmc.model import Json
from llmc.store.json_values import json_value
from llmc.values import Value

_DEFAULT_TEXT = """\
# The settings of this LLMC directory. What is commented out is the default.
# Change them here or by `llmc config set KEY VALUE`; `llmc config check` tells what is wrong.
# Every option is described in LLMC's docs/configuration.md.

[repo]
source = {source}  # the repository that accepted work goes to
branch = {branch}  # the branch that workers start from
# validate = []  # commands that must succeed before work is accepted, such as ["make lint", "make test"]
# copy = []  # ignored files that every worktree needs, such as [".env", "data/*.csv"]

[defaults]
agent = "claude"  # or {agents}, or your own: see [agents.NAME]
model = "opus"  # of the workers that run this agent; without this line the agent chooses
# skip_permissions = true  # agents do not ask before they run tools; false: they ask
# sound_on_review = true
# role_prompt = ""

[policy]
# autonomy = "manual"  # "manual" only shows problems, "assist" also calls you, "auto" also recovers by itself

[notify]
# bell = true
# desktop = false
# command = ""  # a shell command to run

# Settings of one worker, over the defaults. `llmc add` writes such a table:
#
# [workers.adam]
# model = "sonnet"
# role_prompt = \"\"\"
# You are Adam. You prefer simple, direct solutions.
# \"\"\"
# excluded_from_pool = true  # only gets the tasks that name it
"""


def default_config_text(source: str, branch: str) -> str:
    """What `llmc init` writes."""
    return _DEFAULT_TEXT.format(source=literal(source), branch=literal(branch), agents=", ".join(CLI_AGENTS[1:]))


def get_value(path: Path | str, name: str) -> Json:
    """What the file says, as it says it; what holds otherwise when it does not. None: the agent decides."""
    key, about = _find(name)
    text = read_text(path)
    config = parse_config(text, str(path))
    given = value_at(decode(text, str(path)), key)
    if given is None:
        given = getattr(config.worker(key[1]), key[2]) if key[0] == "workers" else about.default
    return json_value(given)


class SettingInForce(Value):
    key: str
    value: Json
    source: str
    """`config.toml`, or what holds without it."""


def all_values(path: Path | str) -> list[SettingInForce]:
    """Every setting with what holds; of workers and agents those that the file speaks of."""
    text = read_text(path)
    parse_config(text, str(path))
    raw = decode(text, str(path))
    return [_in_force(raw, key, about) for key, about in _every_key(raw)]


def _every_key(raw: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], Setting]]:
    for key, about in all_options():
        if len(key) == 2:
            yield key, about
            continue
        table = raw.get(key[0])
        for name, own in table.items() if isinstance(table, dict) else ():
            if isinstance(own, dict) and key[2] in own:
                yield (key[0], name, key[2]), about


def _in_force(raw: Mapping[str, object], key: tuple[str, ...], about: Setting) -> SettingInForce:
    given = value_at(raw, key)
    if given is not None:
        return SettingInForce(dotted(key), json_value(given), "config.toml")
    return SettingInForce(dotted(key), json_value(about.default), about.when_unset or "default")


def set_value(path: Path | str, name: str, text: str) -> Json:
    """Takes the value as the user typed it. Nothing is written when anything about it is wrong."""
    key, about = _find(name)
    value = typed(about.takes, text)

    def edit(old: str) -> str:
        raw = decode(old, str(path))
        _refuse_new_problems(raw, changed(raw, key, value), key)
        return with_value(old, key, value)

    _change(path, edit)
    return json_value(value)


def set_worker_table(
    path: Path | str,
    name: str,
    *,
    agent: str | None = None,
    model: str | None = None,
    role_prompt: str | None = None,
    role: str | None = None,
    excluded: bool = False,
    sandbox: str | None = None,
) -> None:
    """Writes `[workers.NAME]`. What is not given stays as it was."""
    given: dict[str, object] = {"agent": agent, "model": model, "role_prompt": role_prompt, "role": role}
    given |= {"excluded_from_pool": excluded or None, "sandbox": sandbox}
    set_table(path, ("workers", name), {option: value for option, value in given.items() if value is not None})


def set_table(path: Path | str, key: tuple[str, str], values: Mapping[str, object]) -> None:
    """Writes the table of that name. What is not given stays as it was."""

    def edit(old: str) -> str:
        raw = decode(old, str(path))
        had = value_at(raw, key)
        _refuse_new_problems(raw, changed(raw, key, {**(had if isinstance(had, dict) else {}), **values}), key)
        return with_table(old, key, values)

    _change(path, edit)


def remove_worker_table(path: Path | str, name: str) -> None:
    remove_table(path, ("workers", name))


def remove_table(path: Path | str, key: tuple[str, str]) -> None:
    """Takes the table out of the file, if it is there."""

    def edit(old: str) -> str:
        decode(old, str(path))
        return without_table(old, key)

    _change(path, edit)


def _find(name: str) -> tuple[tuple[str, ...], Setting]:
    key = split_key(name)
    about = find_option(key)
    if about is not None:
        return key, about
    inside = options_inside(key)
    if inside:
        raise InvalidUsageError(f"`{dotted(key)}` is a table of options", f"name one of them: {', '.join(inside)}")
    raise InvalidUsageError(f"there is no option `{dotted(key)}`", advice_for(key, known_beside(key)))


def _refuse_new_problems(before: Mapping[str, object], after: Mapping[str, object], key: tuple[str, ...]) -> None:
    """A file that is wrong elsewhere can still be fixed key by key."""
    old = examine(before)[1]
    for problem in examine(after)[1]:
        if problem not in old or problem.key[: len(key)] == key:
            raise InvalidUsageError(f"{problem.what}; nothing was changed", problem.advice)


def _change(path: Path | str, edit: Callable[[str], str]) -> None:
    """One change at a time, across processes: two `llmc add` at once must both be in the file."""
    path = Path(path)
    read_text(path)  # leaves no lock file where there are no settings
    with FileLock(path.with_name("config.lock"), name="the settings file"):
        old = read_text(path)
        new = edit(old)
        if new != old:
            with disk_errors(path):
                # A link to a file that is kept elsewhere stays a link.
                _replace(path.resolve(), new.encode())


def _replace(path: Path, content: bytes) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is protected from writing")
    write_atomically(path, content, durable=True, mode=stat.S_IMODE(path.stat().st_mode))
