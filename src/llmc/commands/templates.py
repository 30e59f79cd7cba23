"""`llmc templates`: the templates for tasks, and what each leaves open."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import placeholders, templates_in
from llmc.core.display import one_line


def run(app: App, args: Namespace) -> Result:
    directory = app.root().inside("templates")
    found = templates_in(directory)
    data = [{"name": name, "text": text, "placeholders": placeholders(text)} for name, text in found.items()]
    lines = [_line(name, text) for name, text in found.items()]
    nothing = f"no templates yet: {directory}/NAME.md is one, and `llmc start --template NAME` uses it"
    return Result("\n".join(lines) or nothing, {"directory": directory, "templates": data})


def _line(name: str, text: str) -> str:
    settings = "".join(f" --set {key}=..." for key in placeholders(text))
    return f"{name}{settings}: {one_line(text)}"
