"""The lifecycle as a picture and a table for the docs, made from the table that the code runs on."""

from __future__ import annotations

from collections import defaultdict

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.table import TABLE, Rule
from llmc.model import Work

FAMILIES = {"what a user asks": ev.UserCommand, "what was observed": ev.Fact, "what came of an effect": ev.StepResult}


def diagram() -> str:
    """A Mermaid diagram of every move from one work to another."""
    arrows: dict[tuple[Work, Work], list[str]] = defaultdict(list)
    for rule in TABLE.values():
        for before, targets in rule.targets.items():
            for after in targets:
                if after is not before:
                    arrows[before, after].append(rule.signal)
    lines = [f"    {before} --> {after}: {_few(signals)}" for (before, after), signals in sorted(arrows.items())]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> idle", *lines, "```"])


def _few(signals: list[str], limit: int = 4) -> str:
    more = f" +{len(signals) - limit}" if len(signals) > limit else ""
    return ", ".join(sorted(signals)[:limit]) + more


def table() -> str:
    """Every event: from where it is taken, and where it may lead."""
    parts = []
    for family, base in FAMILIES.items():
        parts += [f"### {family.capitalize()}", "", "| signal | event | from | to |", "| --- | --- | --- | --- |"]
        for event, rule in TABLE.items():
            if issubclass(event, base):
                parts += _rows(event.__name__, rule)
        parts.append("")
    return "\n".join(parts).rstrip()


def _rows(name: str, rule: Rule) -> list[str]:
    """Works that lead to the same places share a row."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for before, targets in rule.targets.items():
        stays = targets == (before,)
        grouped["stays" if stays else ", ".join(targets)].append(before.value)
    return [f"| `{rule.signal}` | {name} | {_works(befores)} | {to} |" for to, befores in grouped.items()]


def _works(works: list[str]) -> str:
    return "any" if len(works) == len(Work) else ", ".join(works)
