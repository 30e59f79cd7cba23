"""Cline: directories of the worker's own, without which all of them share one daemon that outlives the terminals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import CommandOption, launch_of, option
from llmc.agents.packs import load_pack

OWN = frozenset({"data", "rules"})
"""What the worker has instead of the person's."""


def launch(order: LaunchOrder) -> Launch:
    config, data = f"{order.settings_dir}/config", f"{order.settings_dir}/data"
    files = _rules(Path(order.home, ".cline", "rules"), config)
    if order.role_prompt:
        files[f"{config}/rules/llmc.md"] = order.role_prompt
    # Or the first start shows an advertisement, whose Enter opens a browser.
    env = {"CLINE_DISABLE_CLINE_PASS_NOTICE": "1"}
    options, links = _options(order, config, data), _links(order, config, data)
    return launch_of(order.program, ("cline",), options, env=env, files=files, links=links)


def _options(order: LaunchOrder, config: str, data: str) -> Iterator[CommandOption]:
    yield option("--config", config, lost="its role prompt")
    yield option("--data-dir", data, lost="it shares a daemon with others, which outlives its terminal")
    if order.skip_permissions is not None:
        answer = "true" if order.skip_permissions else "false"
        yield option("--auto-approve", answer, lost="whether it asks is as its own settings say")
    yield option("--model", order.model, lost="the model that the settings name")


def _links(order: LaunchOrder, config: str, data: str) -> dict[str, str]:
    """The person's login, and everything else in ~/.cline that is no state of a running program."""
    own = Path(order.home, ".cline")
    login = own / "data" / "settings"
    links = {f"{data}/settings": str(login)} if login.is_dir() else {}
    return links | {f"{config}/{entry.name}": str(entry) for entry in _entries(own) if entry.name not in OWN}


def _rules(directory: Path, config: str) -> dict[str, str]:
    """Copies of the person's: it reads no rules through links."""
    rules = [entry for entry in _entries(directory) if entry.suffix in (".md", ".txt") and entry.is_file()]
    return {f"{config}/rules/{entry.name}": entry.read_text("utf-8", errors="replace") for entry in rules}


def _entries(directory: Path) -> list[Path]:
    return sorted(directory.iterdir()) if directory.is_dir() else []


def agent() -> Agent:
    return Agent("cline", launch, load_pack("cline"), install="npm install -g cline", own_commands="/")
