"""The board's texts. Whatever an agent, a repository or a person wrote is made harmless here, and is never markup."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from llmc.core.board.shapes import Board, Card, Column, Head
from llmc.core.display import age, counted, one_line, plain, some, spent_words
from llmc.ui.keys import Key
from llmc.ui.palette import COLUMN_STYLES, STYLES

NAME_WIDTH, AGE_WIDTH = 11, 5
WIDE_ROW = 100
FACT_WIDTH = 9
CHECK_MARKS = {"passed": ("✓", "review"), "failed": ("✗", "broken"), "running": ("…", "busy")}
USUAL = {
    "needs_you": ("needs_input",),
    "review": ("needs_review",),
    "working": ("working",),
    "queued": ("queued",),
    "landing": ("needs_review",),
    "idle": ("idle",),
}
"""States that the heading says already."""


def safe(text: str, meaning: str = "text", width: int = 0) -> Text:
    """One line of it; cut to, or filled up to, the width where that is given."""
    line = " ".join(plain(text).split("\n")).replace("\t", "    ")
    return Text(cut(line, width) if width else line, STYLES[meaning], no_wrap=True, end="")


def cut(line: str, width: int) -> str:
    if cell_len(line) > width:
        line = set_cell_size(line, max(width - 1, 0)).rstrip() + "…"
    return set_cell_size(line, width)


def joined(*parts: Text) -> Text:
    return Text("", no_wrap=True, end="").join(parts) if parts else Text("")


def matches(card: Card, words: str) -> bool:
    """Every one of the words is somewhere in what the card shows."""
    shown = " ".join(str(card[field] or "") for field in ("worker", "task", "title", "does", "status", "agent"))
    return all(word in shown.casefold() for word in words.casefold().split())


# --- lines of the list ------------------------------------------------------------------------------


def heading(column: Column, count: int, width: int) -> Text:
    style = COLUMN_STYLES[column["name"]]
    rule = "─" * max(0, width - len(column["label"]) - len(str(count)) - 5)
    return joined(
        Text(f" {column['label']}", STYLES[style] + Style(bold=True)),
        Text(f"  {count} ", STYLES["quiet"]),
        Text(rule, Style(color="#2b323c")),
    )


def card_row(card: Card, now: float, width: int) -> Text:
    """Who, what it is about, what it does, for how long."""
    style = COLUMN_STYLES[card["column"]]
    is_broken = card["state"] in ("error", "failed") or (card["column"] == "needs_you" and card["state"] == "offline")
    does = _does(card)
    marks = _marks(card)
    room = max(10, width - NAME_WIDTH - AGE_WIDTH - cell_len(marks.plain) - 6)
    title = one_line(card["title"], 300)
    meaning = "broken" if is_broken else style if card["column"] in ("needs_you", "review") else "faint"
    if not title or (card["column"] == "needs_you" and width < WIDE_ROW):
        middle = safe(does or title, meaning if does else "text", room)
    elif not does or width < WIDE_ROW:
        middle = safe(title, "text", room)
    else:
        left = min(max(30, room * 45 // 100), room - 20)
        middle = joined(safe(title, "text", left), Text("  "), safe(does, meaning, room - left - 2))
    return joined(
        Text(" ● " if card["asked"] else " · ", STYLES["broken" if is_broken else style]),
        safe(card["worker"] or card["task"] or "", "strong" if card["kind"] == "worker" else "faint", NAME_WIDTH),
        Text(" "),
        middle,
        marks,
        Text(shown_age(card, now).rjust(AGE_WIDTH) + " ", STYLES["faint"]),
    )


def _does(card: Card) -> str:
    hidden = "" if card["state"] in USUAL[card["column"]] and "(" not in card["status"] else card["status"]
    said = card["does"].replace("_", " ") if card["does"] == card["state"] else card["does"]
    return f"{hidden.replace('_', ' ')}: {said}" if hidden and said else hidden.replace("_", " ") or said


def _marks(card: Card) -> Text:
    mark, style = CHECK_MARKS.get(card["checks"], ("", "faint"))
    conflict = Text(" ≠", STYLES["waits"]) if card["conflicts"] else Text("")
    return joined(Text(f" {mark}" if mark else "", STYLES[style]), conflict)


def shown_age(card: Card, now: float) -> str:
    return age(now - card["since_unix"]) if card["since_unix"] else ""


# --- above and below --------------------------------------------------------------------------------


def head_text(board: Board | None, width: int, *, only_waiting: bool = False, search: str = "") -> Text:
    if board is None:
        return safe(" LLMC  reading the board …", "faint")
    head = board["head"]
    parts = [Text(" LLMC ", STYLES["strong"])]
    filters = " · ".join(filter(None, ("only who waits" if only_waiting else "", f"/{search}" if search else "")))
    waiting = head["waiting"]
    said = f"{waiting} wait{'s' if waiting == 1 else ''} for you" if waiting else "nobody waits for you"
    warnings = list(_warnings(head))
    room = max(0, width - len(said) - len(filters) - sum(len(each) + 3 for each in warnings) - 26)
    parts.append(safe(f" {head['root'][-room:] if room > 8 else ''}  {head['branch'] or ''}  ", "faint"))
    parts.append(safe(said, "waits" if waiting else "faint"))
    parts += [joined(Text("   "), safe(each, "broken")) for each in warnings]
    parts += [joined(Text("   "), safe(filters, "key"))] if filters else []
    return joined(*parts)


def _warnings(head: Head) -> Iterator[str]:
    if not head["daemon"]:
        yield "no daemon: `llmc up --detach`"
    if head["train_paused"]:
        yield "train paused"
    if head["landings"]:
        yield f"{counted(len(head['landings']), 'landing')} cut short: `llmc doctor`"


def keys_text(keys: Sequence[Key], offered: Collection[str] | None, width: int) -> Text:
    """What can be pressed now; a click does the same."""
    shown: list[Text] = []
    used = 1
    fitting = [key for key in keys if key.hint and (not key.needs or offered is None or key.needs in offered)]
    kept = [key for key in fitting if key.hint in ("keys", "quit", "back")]
    reserve = sum(len(key.name) + len(key.hint) + 3 for key in kept)
    for key in fitting:
        size = len(key.name) + len(key.hint) + 3
        if key not in kept and used + size + reserve > width:
            continue
        used += 0 if key in kept else size
        action = Style(meta={"@click": f"screen.{key.action}"}) if "(" not in key.action else Style.null()
        action = Style.null() if key.action == "answer" else action
        name = key.name.split(" ")[0]
        shown.append(joined(Text(f" {name}", STYLES["key"] + action), Text(f" {key.hint} ", STYLES["faint"] + action)))
    return joined(*shown)


# --- all that is known of one card ------------------------------------------------------------------


def card_details(card: Card, now: float, width: int, receipt: Text | None) -> list[Text]:
    """The most important first: there may be room for a few lines only."""
    who = card["worker"] or card["task"] or ""
    about = " · ".join(filter(None, (card["task"] if card["worker"] else "", card["agent"], card["machine"])))
    style = COLUMN_STYLES[card["column"]]
    words = card["status"].replace("_", " ")
    since = f" for {shown_age(card, now)}" if card["since_unix"] else ""
    lines = [
        joined(safe(who, "strong"), Text("  "), safe(words + since, style), Text("  "), safe(about, "faint")),
        *asked_lines(card, width),
    ]
    lines += [receipt] if receipt is not None else []
    if not card["asked"] and card["does"]:
        lines.append(_fact("now", card["does"]))
    if card["title"]:
        lines.append(_fact("task", card["title"]))
    if card["checks"]:
        mark, checks_style = CHECK_MARKS[card["checks"]]
        lines.append(_fact("checks", f"{mark} {card['checks']}", checks_style))
    for conflict in card["conflicts"]:
        lines.append(_fact("conflict", f"with {conflict['with']} in {some(conflict['files'], 3)}", "waits"))
    lines += [_fact("trouble", each, "waits") for each in card["troubles"]]
    if spent := spent_words(card["usage"]):
        lines.append(_fact("spent", spent))
    if card["last_words"] and card["last_words"] not in card["does"]:
        lines.append(_fact("said", one_line(card["last_words"], 1000)))
    return [line for text in lines for line in folded(text, width)]


def asked_lines(card: Card, width: int) -> list[Text]:
    asked = card["asked"]
    if not asked:
        return []
    question = [safe(line, "waits") for line in str(asked["text"] or "").split("\n") if line.strip()][-4:]
    options = [
        joined(
            Text(f" {n} ", STYLES["key"] + Style(meta={"@click": f"screen.answer({n})"})),
            Text(" ").join([safe("", "text"), safe(words, "text")]),
        )
        for n, words in enumerate(asked["options"][:9], 1)
    ]
    if sum(cell_len(each.plain) + 2 for each in options) <= width:
        options = [joined(*(part for each in options for part in (each, Text("  "))))] if options else []
    return question + options


def _fact(name: str, words: str, meaning: str = "text") -> Text:
    return joined(safe(name.ljust(FACT_WIDTH), "quiet"), safe(words, meaning))


def folded(text: Text, width: int, most: int = 3) -> list[Text]:
    """In as many lines as it takes, within reason; what follows a name stands below its words."""
    if cell_len(text.plain) <= width:
        return [text]
    from rich.console import Console

    indent = FACT_WIDTH if text.plain[:FACT_WIDTH].endswith(" ") and text.plain[:1] != " " else 0
    room = max(width - indent, 10)
    head, rest = text[:indent], text[indent:]
    lines = list(rest.wrap(Console(width=room, color_system=None), room, no_wrap=False))
    if len(lines) > most:
        lines[most - 1].append(" …")
    return [joined(head if not n else Text(" " * indent), line) for n, line in enumerate(lines[:most])]
