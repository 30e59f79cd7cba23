"""Colours by what they mean: calm ones, and only for what matters."""

from __future__ import annotations

from rich.style import Style
from textual.theme import Theme

GROUND, RAISED, LINE = "#14171c", "#1b2027", "#2b323c"
TEXT, FAINT, QUIET = "#d3d9e2", "#818b99", "#59626e"
AMBER, GREEN, RED, TEAL, BLUE, VIOLET = "#e0b060", "#8cc084", "#e27d72", "#70b3c2", "#82a8dc", "#a797cf"

CURSOR = Style(bgcolor="#2a3542")
CURSOR_AWAY = Style(bgcolor="#20262e")
RANGE = Style(bgcolor="#3a3423")

STYLES = {
    "text": Style(color=TEXT),
    "faint": Style(color=FAINT),
    "quiet": Style(color=QUIET),
    "strong": Style(color=TEXT, bold=True),
    "key": Style(color=BLUE),
    "waits": Style(color=AMBER),
    "review": Style(color=GREEN),
    "broken": Style(color=RED),
    "busy": Style(color=TEAL),
    "queued": Style(color=VIOLET),
    "landing": Style(color=BLUE),
    "added": Style(color=GREEN),
    "removed": Style(color=RED),
    "added_ground": Style(color="#b7dcb0", bgcolor="#182a1d"),
    "removed_ground": Style(color="#ecb3ab", bgcolor="#321d1e"),
}
COLUMN_STYLES = {
    "needs_you": "waits",
    "review": "review",
    "working": "busy",
    "queued": "queued",
    "landing": "landing",
    "idle": "faint",
}
THEME = Theme(
    name="llmc",
    primary=BLUE,
    secondary=TEAL,
    accent=AMBER,
    warning=AMBER,
    error=RED,
    success=GREEN,
    foreground=TEXT,
    background=GROUND,
    surface=GROUND,
    panel=RAISED,
    dark=True,
    variables={
        "border": LINE,
        "border-blurred": LINE,
        "scrollbar": LINE,
        "scrollbar-hover": QUIET,
        "scrollbar-active": FAINT,
        "scrollbar-background": GROUND,
        "scrollbar-background-hover": GROUND,
        "scrollbar-background-active": GROUND,
        "scrollbar-corner-color": GROUND,
    },
)
CSS = """
Screen { background: $background; color: $foreground; }
#head { height: 1; background: $panel; }
#status { height: 1; padding: 0 1; background: $background; }
#status.hinted { height: 2; }
#keys { height: 1; background: $panel; }
#keys.two { height: 2; }
LineList { height: 1fr; scrollbar-size-vertical: 1; background: $background; }
#body { height: 1fr; }
#list { width: 1fr; }
#side { width: 6fr; display: none; border-left: solid $border; }
#below { height: 9; border-top: solid $border; padding: 0 1; }
#card { height: auto; max-height: 50%; min-height: 6; border-top: solid $border; padding: 0 1; }
#terminal { height: 1fr; padding: 0 1; }
BoardScreen.wide #side { display: block; }
BoardScreen.wide #list { width: 5fr; }
BoardScreen.wide #below { display: none; }
BoardScreen.low #below { height: 6; }
#search { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
#search.open { display: block; }
#facts { height: auto; max-height: 7; padding: 0 1; border-bottom: solid $border; }
#files { width: 30; border-right: solid $border; }
ReviewScreen.narrow #files { display: none; }
ModalScreen { align: center middle; background: $background 60%; }
.box { width: 90%; max-width: 96; height: auto; max-height: 90%; padding: 1 2; }
.box { background: $panel; border: round $border; }
.box Drawn { height: 1; background: $panel; }
.box TextArea { height: 6; border: none; background: $background; padding: 0 1; margin: 1 0; }
.box .field { height: 1; }
.box #hint { margin-top: 1; }
.box .field Drawn { width: 12; }
.box Input { height: 1; border: none; width: 1fr; background: $background; padding: 0 1; }
.box Input:focus, .box TextArea:focus { border: none; background: #0f1216; }
"""
