"""The keys of every screen, in one table: they are bound, shown at the bottom, listed by `?` and documented from it."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from llmc.values import Value


class Key(Value):
    keys: str
    """As Textual has them, several with commas."""
    action: str
    words: str
    shown: str = ""
    """How people write it; as `keys` has it where empty."""
    hint: str = ""
    """A word for the line at the bottom; none there where empty."""
    needs: str = ""
    """The card's action without which the hint is not shown."""

    @property
    def name(self) -> str:
        return self.shown or self.keys


MOVES = (
    Key("up,k", "lines.move(-1)", "the line above", "↑ k"),
    Key("down,j", "lines.move(1)", "the line below", "↓ j"),
    Key("pageup", "lines.page(-1)", "a screen up", "PgUp"),
    Key("pagedown", "lines.page(1)", "a screen down", "PgDn"),
    Key("home,g", "lines.edge(-1)", "the first line", "Home g"),
    Key("end,G", "lines.edge(1)", "the last line", "End G"),
)
"""Of every list."""

BOARD_KEYS = (
    Key("1,2,3,4,5,6,7,8,9", "answer", "answer the open dialog with that option", "1-9", "answer", "answer"),
    Key("enter", "attach", "open its terminal; Ctrl-b d comes back", "Enter", "terminal", "attach"),
    Key(
        "space",
        "prompt",
        "send it a text, or your own answer to its dialog",
        "Space",
        "text",
        "text",
    ),
    Key("r", "review", "review the work", hint="review", needs="review"),
    Key("c", "comment", "comment on lines, in the review", hint="comment", needs="comment"),
    Key("a", "accept", "accept what this screen has shown; else the review opens first", hint="accept", needs="accept"),
    Key("x", "reject", "send the work back, with the open comments and a text", hint="send back", needs="reject"),
    Key("h", "release", "let it go on: a task that is held, or whose budget is spent", hint="release", needs="release"),
    Key("i", "interrupt", "end the running turn", hint="interrupt", needs="interrupt"),
    Key("R", "restart", "start the agent again; its work stays", hint="restart", needs="restart"),
    Key("e", "explain", "why it is in its state, and what comes next", hint="explain"),
    Key("n", "new_task", "a new task", hint="new task"),
    Key("w", "only_waiting", "only those that wait for you, or all", hint="waiting"),
    Key("slash", "search", "search; Esc shows all again", "/", "search"),
    Key("escape", "show_all", "show all again", "Esc"),
    Key("t", "tasks", "tasks, and what comes after what", hint="tasks"),
    Key("T,m", "train", "the merge train", "T m", "train"),
    Key("E,v", "events", "what happened", "E v", "events"),
    Key("question_mark", "help", "the keys of this screen", "?", "keys"),
    Key("q", "quit_ui", "quit; agents go on", hint="quit"),
)
REVIEW_KEYS = (
    Key("c", "comment", "comment on the line, or on the range", hint="comment"),
    Key("V", "mark", "begin or end a range of lines", hint="range"),
    Key("a", "accept", "accept exactly what is shown", hint="accept"),
    Key("x", "reject", "send it back, with the open comments and a text", hint="send back"),
    Key("l", "since_last", "only what changed since the last round, or all", hint="since last"),
    Key("s", "side_by_side", "side by side, or inline", hint="sides"),
    Key("right_square_bracket,n", "file(1)", "the next file", "] n", "next file"),
    Key("left_square_bracket,p", "file(-1)", "the file before", "[ p"),
    Key("o", "checks", "the output of the checks", hint="checks"),
    Key("u", "remove_comment", "take back the open comment on this line", hint="uncomment"),
    Key("R", "load", "load it again", hint="reload"),
    Key("shift+up", "extend(-1)", "the range, a line more above", "Shift-↑"),
    Key("shift+down", "extend(1)", "the range, a line more below", "Shift-↓"),
    Key("right", "shift(8)", "long lines: further right", "→"),
    Key("left", "shift(-8)", "long lines: further left", "←"),
    Key("tab", "other_pane", "files, or the diff", "Tab"),
    Key("question_mark", "help", "the keys of this screen", "?", "keys"),
    Key("escape,q", "back", "back to the board", "Esc q", "back"),
)
TASK_KEYS = (
    Key("enter", "details", "all that is known of the task", "Enter", "details"),
    Key("n", "new_task", "a new task", hint="new task"),
    Key("h", "hold", "hold it, or release it", hint="hold/release"),
    Key("d", "cancel", "cancel it", hint="cancel"),
    Key("y", "retry", "queue a failed or cancelled one again", hint="retry"),
    Key("o", "graph", "what comes after what", hint="graph"),
    Key("question_mark", "help", "the keys of this screen", "?", "keys"),
    Key("escape,q,t", "back", "back to the board", "Esc q", "back"),
)
TRAIN_KEYS = (
    Key("d", "drop", "take the work out of the train; it waits for review as before", hint="take out"),
    Key("p", "pause", "let the train stand still, or go on", hint="pause/resume"),
    Key("question_mark", "help", "the keys of this screen", "?", "keys"),
    Key("escape,q", "back", "back to the board", "Esc q", "back"),
)
TEXT_KEYS = (Key("escape,q,enter,question_mark", "back", "back", "Esc q", "back"),)

SCREENS = {
    "The board": BOARD_KEYS,
    "Review": REVIEW_KEYS,
    "Tasks": TASK_KEYS,
    "Merge train": TRAIN_KEYS,
    "Events, explanations, help": TEXT_KEYS,
}


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """`answer` is told which key it was."""
    found: list[BindingType] = []
    for key in keys:
        for each in key.keys.split(","):
            action = f"answer({each})" if key.action == "answer" else key.action
            found.append(Binding(each, action, key.words, show=False))
    return found


def help_lines(keys: tuple[Key, ...]) -> list[tuple[str, str]]:
    """The key, and what it does."""
    return [(key.name, key.words) for key in (*keys, *MOVES)]


def keys_page() -> str:
    """For the documentation."""
    parts = []
    for screen, keys in {**SCREENS, "Every list": MOVES}.items():
        rows = "\n".join(f"| {_quoted(key.name)} | {key.words} |" for key in keys)
        parts.append(f"**{screen}**\n\n| key | what it does |\n| --- | --- |\n{rows}")
    return "\n\n".join(parts)


def _quoted(names: str) -> str:
    return " ".join(f"`{name}`" for name in names.split(" "))
