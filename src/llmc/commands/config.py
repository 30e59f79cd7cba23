"""`llmc config`: reads, changes and checks the settings."""

from __future__ import annotations

import json
import os
from argparse import Namespace

from llmc.agents.packs import broken_packs
from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.config.keys import split_key
from llmc.config.load import load_config
from llmc.config.prices import price_book
from llmc.config.settings import Config, find_option
from llmc.errors import InvalidUsageError, LlmcError
from llmc.root import Root
from llmc.roots import repository_of
from llmc.store.config_file import all_values, get_value, set_value
from llmc.store.state_file import StateFile

FORMS = {"list": "list", "get": "get K", "set": "set K V", "path": "path", "check": "check"}


def run(app: App, args: Namespace) -> Result:
    _check_words(args)
    root = app.root()
    if args.action == "path":
        return Result(root.config_file, {"path": root.config_file})
    if args.action == "check":
        _check_packs(root, load_config(root.config_file))
        price_book(root.prices)
        return Result(f"{root.config_file} is fine", {"path": root.config_file, "ok": True})
    if args.action == "list":
        return _list(root)
    if args.action == "get":
        return _get(root, args.key)
    return _set(root, args.key, args.value)


def _check_words(args: Namespace) -> None:
    given = sum(word is not None for word in (args.key, args.value))
    wanted = len(FORMS[args.action].split()) - 1
    if given != wanted:
        amount = "missing" if given < wanted else "too many"
        raise InvalidUsageError(f"a word is {amount}", f"say `llmc config {FORMS[args.action]}`")


def _check_packs(root: Root, config: Config) -> None:
    for wrong in broken_packs(root.packs, config.agents.values()):
        raise wrong


def _list(root: Root) -> Result:
    settings = all_values(root.config_file)
    lines = [f"{each.key} = {json.dumps(each.value, ensure_ascii=False)}  ({each.source})" for each in settings]
    data = [{"key": each.key, "value": each.value, "source": each.source} for each in settings]
    return Result("\n".join(lines), {"path": root.config_file, "settings": data})


def _get(root: Root, key: str) -> Result:
    value = get_value(root.config_file, key)
    if value is None:
        return Result(f"not set: {_what_holds(key)}", {"key": key, "value": None})
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Result(text, {"key": key, "value": value})


def _what_holds(key: str) -> str:
    table, *_, name = split_key(key)
    # What a worker has by the defaults is told already: nothing is set there either.
    about = find_option(("defaults", name) if table == "workers" else split_key(key))
    return about.when_unset if about is not None else ""


def _set(root: Root, key: str, text: str) -> Result:
    _require_worker(root, key)
    if key == "repo.source" and repository_of(os.path.expanduser(text)) is None:
        raise LlmcError(f"{text} is not a git repository", "give the path of one; nothing was changed")
    before = get_value(root.config_file, key)
    value = set_value(root.config_file, key, text)
    said = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    if key == "defaults.agent" and value != before:
        said += _of_the_agent_before(root, str(value))
    return Result(said, {"key": key, "value": value})


def _require_worker(root: Root, key: str) -> None:
    """A table for nobody would be read by nobody."""
    table, name, *_ = (*split_key(key), "", "")
    workers = StateFile(root.path).load().workers if table == "workers" else {}
    if table == "workers" and name not in workers:
        known = ", ".join(workers) or "there are none"
        raise LlmcError(f"there is no worker {name!r}", f"the workers: {known}; `llmc add {name}` makes it")


def _of_the_agent_before(root: Root, agent: str) -> str:
    """A model means nothing to another agent, and may keep it from starting."""
    model = get_value(root.config_file, "defaults.model")
    if not model:
        return ""
    return f'\nnote: defaults.model is still {model!r}; `llmc config set defaults.model ""` lets {agent} choose'
