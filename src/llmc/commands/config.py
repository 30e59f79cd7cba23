"""`llmc config`: reads, changes and checks the settings."""

from __future__ import annotations

import json
from argparse import Namespace

from llmc.app import App
from llmc.commands.result import Result
from llmc.config import load_config
from llmc.errors import WrongWordsError
from llmc.root import Root
from llmc.store.config_file import get_value, set_value


def run(app: App, args: Namespace) -> Result:
    root = app.root()
    if args.action == "path":
        return Result(root.config_file, {"path": root.config_file})
    if args.action == "check":
        load_config(root.config_file)
        return Result(f"{root.config_file} is fine", {"path": root.config_file, "ok": True})
    if args.action == "get":
        return _get(root, _required(args.key, "get K"))
    return _set(root, _required(args.key, "set K V"), _required(args.value, "set K V"))


def _required(word: str | None, form: str) -> str:
    if word is None:
        raise WrongWordsError("a word is missing", f"say `llmc config {form}`")
    return word


def _get(root: Root, key: str) -> Result:
    value = get_value(root.config_file, key)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Result(text, {"key": key, "value": value})


def _set(root: Root, key: str, text: str) -> Result:
    value = set_value(root.config_file, key, text)
    return Result(f"{key} = {json.dumps(value, ensure_ascii=False)}", {"key": key, "value": value})
