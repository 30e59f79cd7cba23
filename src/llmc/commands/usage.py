"""`llmc usage`: tokens and money, as the agents' own CLIs tell of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.core.usage.prices import PriceBook
from llmc.core.usage.sums import BY, COUNTED, UsageRow, usage_data
from llmc.errors import InvalidUsageError, LlmcError
from llmc.perform.metering import count_all, day_of, prices_of
from llmc.site import Site

HEADS = ("input", "output", "cache read", "cache write", "dollars")
NONE = {"task": "(no task)", "model": "(unknown)"}


def run(app: App, args: Namespace) -> Result:
    if args.json and args.csv:
        raise InvalidUsageError("--json and --csv are two forms of the same", "choose one of them")
    site = app.site()
    book, late = prices_of(site), _count(site)
    rows = site.usage.rows(since=_first_day(args.since, site.now()))
    data = usage_data(rows, book, args.by)
    if args.csv:
        return Result("\n".join(_csv(data)), data)
    shown = usage_data(rows, book, args.by or "task")
    return Result("\n".join([*_table(shown, args.by or "task"), *_notes(site, rows, book), *late]), data)


def _count(site: Site) -> list[str]:
    """What is known is shown all the same when the rest cannot be counted now."""
    try:
        count_all(site)
    except LlmcError as failure:
        return [f"what was spent since the last look could not be counted: {failure.what}"]
    return []


def _first_day(since: str | None, now: float) -> str:
    if since is None:
        return ""
    days = {"today": 0, "yesterday": 1}.get(since)
    if days is None and since.endswith("d"):
        days = int(since[:-1]) - 1
    return since if days is None else (date.fromisoformat(day_of(now)) - timedelta(days=days)).isoformat()


def _table(data: dict[str, Any], by: str) -> Iterator[str]:
    if not data["rows"]:
        yield "nothing is counted yet"
        return
    rows = [(each[by] or NONE.get(by, "?"), *_cells(each)) for each in data["rows"]]
    rows = [(by, *HEADS), *rows, ("total", *_cells(data["total"]))]
    widths = [max(len(row[cell]) for row in rows) for cell in range(len(HEADS) + 1)]
    for first, *others in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([f"{first:<{widths[0]}}", *cells])


def _cells(sums: dict[str, Any]) -> tuple[str, ...]:
    more = "+?" if sums["priced"] == "partly" else ""
    usd = "?" if sums["usd"] is None else f"{sums['usd']:,.2f}{more}"
    return (*(f"{sums[name]:,}" for name in COUNTED), usd)


def _notes(site: Site, rows: list[UsageRow], book: PriceBook) -> Iterator[str]:
    if not rows:
        return
    yield f"dollars: at API prices of {book.as_of}, whatever a subscription costs"
    unknown = sorted({row.model for row in rows if book.price(row.model, row.day, row.step) is None})
    if unknown:
        yield f"no price is known of {', '.join(name or NONE['model'] for name in unknown)}: see {site.root.prices}"


def _csv(data: dict[str, Any]) -> Iterator[str]:
    names = (*BY, *COUNTED, "usd", "priced")
    yield ",".join(names)
    for row in data["rows"]:
        yield ",".join(_quoted(row[name]) for name in names)


def _quoted(value: object) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set('",\r\n') else text
