"""Dialogs of every shape, read off a screen, and which option an answer means."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmc.agents.packs import load_pack
from llmc.agents.packs.examples import recorded_screen
from llmc.config.sections import CLI_AGENTS
from llmc.core.dialogs.choosing import Goal, NoSuchAnswerError, Ways, goal_for
from llmc.core.dialogs.dialog import Dialog, Option
from llmc.core.dialogs.reading import read_choice, read_dialog, read_notice, read_prompt
from llmc.core.screen.classify import read_screen
from llmc.core.screen.patterns import safe_pattern
from llmc.core.screen.screen import lines_of, screen_of

SCREENS = Path(__file__).parent.parent / "screens"
TRUST = """\
────────────────────────────────────────
 Accessing workspace:

 Is this a project you created or one you trust?

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel
"""
PERMISSION = """\
● Bash(make install)
  ⎿  Waiting…
────────────────────────────────────────
 Bash command

   make install
   Run the command

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and don’t ask again for: make install *
   3. No

 Esc to cancel · Tab to amend
"""


def read(text: str) -> Dialog:
    screen = screen_of(text)
    dialog = read_dialog(lines_of(screen.text), screen.styled)
    assert dialog is not None
    return dialog


def words(dialog: Dialog) -> list[str]:
    return [option.words for option in dialog.options]


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_options_without_numbers_and_the_mark_on_the_refusal() -> None:
    dialog = read(TRUST)
    assert words(dialog) == ["No, exit", "Yes, I trust this folder"]
    assert (dialog.marked, dialog.dismiss) == (0, "Escape")
    assert dialog.question.endswith("Is this a project you created or one you trust?")


def test_numbers_a_mark_and_what_is_asked() -> None:
    dialog = read(PERMISSION)
    assert words(dialog) == ["Yes", "Yes, and don’t ask again for: make install *", "No"]
    assert dialog.question == "Bash command\nmake install\nRun the command\nDo you want to proceed?"


def test_words_that_were_broken_belong_together_and_remarks_do_not() -> None:
    dialog = read(
        "Which one?\n\n"
        "❯ 1. A rather long option that does not fit\n"
        "     into one line of the terminal\n"
        "  2. Short\n"
        "     what it means\n"
        "  3. Type something.\n\n"
        "Enter to select · Esc to cancel"
    )
    assert words(dialog) == [
        "A rather long option that does not fit into one line of the terminal",
        "Short",
        "Type something.",
    ]
    assert dialog.options[1].about == "what it means"


def test_options_without_numbers_whose_words_were_broken() -> None:
    dialog = read(
        "Go on?\n\n"
        " ❯ Yes, and please do not ever ask me\n"
        "   again for this kind of thing\n"
        "   No\n\n"
        " Enter to confirm · Esc to leave"
    )
    assert words(dialog) == ["Yes, and please do not ever ask me again for this kind of thing", "No"]


def test_in_a_frame_with_a_frame_in_it() -> None:
    dialog = read(
        "✦ Some words\n"
        "╭──────────────────────────╮\n"
        "│ ? Shell  make            │\n"
        "│ ╭──────────────────────╮ │\n"
        "│ │ make install         │ │\n"
        "│ ╰──────────────────────╯ │\n"
        "│ Allow execution?         │\n"
        "│                          │\n"
        "│   1. Allow once          │\n"
        "│ ● 2. No (esc)            │\n"
        "╰──────────────────────────╯"
    )
    assert (words(dialog), dialog.marked, dialog.dismiss) == (["Allow once", "No (esc)"], 1, "Escape")
    assert dialog.question == "? Shell  make\nmake install\nAllow execution?"


@pytest.mark.parametrize(("marked", "at"), [("Allow once", 0), ("Allow always", 1), ("Reject", 2)])
def test_side_by_side_the_colour_is_the_mark(marked: str, at: int) -> None:
    line = "   ".join(
        f"\x1b[48;5;3m{name}\x1b[48;5;1m" if name == marked else name
        for name in ("Allow once", "Allow always", "Reject")
    )
    dialog = read(f"\x1b[48;5;1m  ┃  △ Permission required\n  ┃\n  ┃   {line}      ⇆ select  enter confirm\n  ┃")
    assert (words(dialog), dialog.marked, dialog.across) == (["Allow once", "Allow always", "Reject"], at, True)


def test_two_side_by_side_stand_out_from_the_ground() -> None:
    dialog = read("Delete it?\n\n  Cancel   \x1b[7mDelete\x1b[0m      ←/→ choose  enter confirm")
    assert (words(dialog), dialog.marked) == (["Cancel", "Delete"], 1)


def test_numbers_in_brackets() -> None:
    dialog = read(
        " ? Which approach?\n\n"
        "     [1] Reuse what is there\n"
        "         what it means\n"
        "   → [2] Write a new one\n"
        "     [3] Other\n\n"
        "   ↑↓ select  1-3 / ↵ choose  esc cancel"
    )
    assert (words(dialog), dialog.marked) == (["Reuse what is there", "Write a new one", "Other"], 1)
    assert (dialog.options[0].about, dialog.dismiss) == ("what it means", "Escape")


@pytest.mark.parametrize("marked", [0, 1, 2])
def test_words_that_were_broken_and_go_on_below_the_number(marked: int) -> None:
    marks = ["❯" if n == marked else " " for n in range(3)]
    dialog = read(
        "╭─────────────────────────────────╮\n"
        "│ Run it?                         │\n"
        "│                                 │\n"
        f"│ {marks[0]} 1. Yes                        │\n"
        f"│ {marks[1]} 2. Yes, and for `make` in     │\n"
        "│   (~/a/long/place)              │\n"
        f"│ {marks[2]} 3. No, and tell it what (Esc  │\n"
        "│   stops)                        │\n"
        "│                                 │\n"
        "│ enter to select · esc to cancel │\n"
        "╰─────────────────────────────────╯"
    )
    assert words(dialog) == ["Yes", "Yes, and for `make` in (~/a/long/place)", "No, and tell it what (Esc stops)"]
    assert dialog.marked == marked


@pytest.mark.parametrize("marked", [0, 1])
def test_paragraphs_to_choose_from_with_the_keys_below_the_title(marked: int) -> None:
    marks = ["❯" if n == marked else " " for n in range(2)]
    dialog = read(
        "────────────────────────────\n"
        " Trust this folder?\n"
        " ↑↓ navigate · Enter select · Esc exit\n\n"
        f"  {marks[0]} Trust this folder\n"
        "    It is remembered.\n\n"
        f"  {marks[1]} Don't trust\n"
        "    It ends. You are asked\n"
        "    again.\n\n"
        "────────────────────────────"
    )
    assert (words(dialog), dialog.marked, dialog.dismiss) == (["Trust this folder", "Don't trust"], marked, "Escape")
    assert dialog.options[1].about == "It ends. You are asked again."


def test_where_a_dialog_is_known_to_be_a_mark_is_enough() -> None:
    lines = [
        "Which approach should we use?",
        "",
        "   Reuse it",
        " > Write a new one",
        "   Type a response...",
        "",
        " scripted  $0.00",
    ]
    assert read_dialog(lines) is None
    dialog = read_choice(lines)
    assert dialog is not None
    assert (words(dialog), dialog.marked) == (["Reuse it", "Write a new one", "Type a response..."], 1)
    assert dialog.question == "Which approach should we use?"


def test_letters_in_brackets_are_keys() -> None:
    dialog = read("Run `make`?\n\n[y] Approve   [n] Deny")
    assert [(option.words, option.key) for option in dialog.options] == [("Approve", "y"), ("Deny", "n")]
    assert dialog.question == "Run `make`?"


def test_a_notice_names_the_keys_that_lead_on() -> None:
    notice = read_notice(
        ["Auto mode can't check actions", "", "Enter to stay in auto mode · shift+Tab to leave · Esc to cancel"]
    )
    assert notice is not None
    assert [(option.key, option.words) for option in notice.options] == [
        ("Enter", "stay in auto mode"),
        ("BTab", "leave"),
        ("Escape", "cancel"),
    ]


@pytest.mark.parametrize("line", ["Overwrite it? [y/N]", "Overwrite it? (yes/no)", "Overwrite it? (Y)es/(N)o [Yes]:"])
def test_a_line_that_takes_yes_or_no(line: str) -> None:
    prompt = read_prompt([line])
    assert prompt is not None
    assert (prompt.question, prompt.typed, words(prompt)) == ("Overwrite it?", True, ["yes", "no"])


def test_a_line_that_a_narrow_terminal_breaks() -> None:
    prompt = read_prompt(["Overwrite the file that is there? (Y)es/(N)o [Ye", "s]:"])
    assert prompt is not None
    assert (prompt.question, words(prompt)) == ("Overwrite the file that is there?", ["yes", "no"])


@pytest.mark.lesson(18, "dialogs come before prompts, and only the live part of the screen counts")
@pytest.mark.parametrize(
    "text",
    [
        PERMISSION + "\n● That is what it looked like.\n",
        PERMISSION + "\n❯ \n",
        "❯ 1. Yes\n  2. No\n\n$ ",
        "● Bash(sleep 6)\n  ⎿  14 passed\n\n✻ Thinking… (esc to interrupt)",
        "● one thing\n  another thing\n",
        "> 1. quoted\n> 2. quoted too\n",
        "1. first\n2. second\n3. third",
        "",
        "❯",
    ],
)
def test_what_is_quoted_or_said_is_no_dialog(text: str) -> None:
    assert read_dialog(lines_of(text)) is None


NO_CHOICE = (
    "opencode/NEEDS_CONFIRMATION/permission-refusing",
    "kilo/NEEDS_CONFIRMATION/permission-refusing",
    "codex/NEEDS_CONFIRMATION/login-60x20",
    "claude/NEEDS_CONFIRMATION/auto-mode-v325-60x20",
    "copilot/NEEDS_CONFIRMATION/login",
    "kimi/NEEDS_CONFIRMATION/login",
    "cline/NEEDS_CONFIRMATION/login",
    "cline/NEEDS_CONFIRMATION/advertisement-100x30",
)
"""They take a reason, typed; too small to show the first option; too small to show the keys; an input line that says
that nobody is logged in; boxes whose mark is an arrow at their right; an overlay, with the input line around it."""
DIALOGS = [
    path
    for path in sorted(SCREENS.glob("*/NEEDS_CONFIRMATION/*.txt"))
    if path.parent.parent.name in CLI_AGENTS and not path.relative_to(SCREENS).as_posix().startswith(NO_CHOICE)
]


@pytest.mark.parametrize("path", DIALOGS, ids=lambda path: path.relative_to(SCREENS).as_posix())
def test_every_recorded_dialog_has_its_options(path: Path) -> None:
    screen = recorded_screen(path)
    dialog = read_screen(load_pack(path.parent.parent.name), screen).dialog
    assert dialog is not None
    assert dialog.options
    if screen.styled is not None:
        assert dialog.marked is not None or dialog.options[0].key


@pytest.mark.parametrize(
    "path",
    sorted({path for label in ("READY", "BUSY", "EXITED", "ERROR") for path in SCREENS.glob(f"*/{label}/*.txt")}),
    ids=lambda path: path.relative_to(SCREENS).as_posix(),
)
def test_no_other_screen_has_a_dialog(path: Path) -> None:
    screen = recorded_screen(path)
    assert read_dialog(lines_of(screen.text), screen.styled) is None


@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
def test_its_id_does_not_depend_on_the_mark_and_the_width() -> None:
    moved = PERMISSION.replace("❯ 1.", "  1.").replace("  3. No", "❯ 3. No")
    assert read(PERMISSION).id == read(moved).id
    wide = PERMISSION.replace("   make install\n   Run", "   make install   \n   Run")
    assert read(wide).id == read(PERMISSION).id
    assert read(PERMISSION.replace("make install", "rm -r /")).id != read(PERMISSION).id


# --- answers --------------------------------------------------------------------------------------


def taken(dialog: Dialog, choice: str, ways: Ways | None = None) -> str:
    goal = goal_for(dialog, choice, ways) if ways else goal_for(dialog, choice)
    return goal.key if goal.option is None else dialog.options[goal.option].words


@pytest.mark.parametrize(
    ("choice", "option"),
    [
        ("1", "Yes"),
        ("2", "Yes, and don’t ask again for: make install *"),
        ("3", "No"),
        ("yes", "Yes"),
        ("Y", "Yes"),
        ("no", "No"),
        ("deny", "No"),
        ("don't ask again", "Yes, and don’t ask again for: make install *"),
        ("yes, and", "Yes, and don’t ask again for: make install *"),
    ],
)
def test_an_answer_by_number_or_words(choice: str, option: str) -> None:
    assert taken(read(PERMISSION), choice) == option


@pytest.mark.parametrize(
    ("choice", "option"),
    [
        ("1", "No, exit"),
        ("2", "Yes, I trust this folder"),
        ("yes", "Yes, I trust this folder"),
        ("no", "No, exit"),
        ("trust", "Yes, I trust this folder"),
    ],
)
def test_options_without_numbers_are_counted(choice: str, option: str) -> None:
    assert taken(read(TRUST), choice) == option


@pytest.mark.parametrize("choice", ["4", "0", "99", "perhaps", "ye"])
def test_what_is_not_there_is_refused_with_the_options(choice: str) -> None:
    with pytest.raises(NoSuchAnswerError) as refused:
        goal_for(read(PERMISSION), choice)
    assert "1 Yes; 2 Yes, and don’t ask again for: make install *; 3 No" in refused.value.hint


def test_yes_and_no_are_not_guessed_where_the_options_say_neither() -> None:
    question = read("Which approach?\n\n❯ 1. Reuse what is there\n  2. Write a new one\n  3. Type something.\n")
    for choice in ("yes", "no"):
        with pytest.raises(NoSuchAnswerError):
            goal_for(question, choice)
    assert goal_for(question, "no", Ways(refuse="Escape")) == Goal(question, key="Escape")
    assert taken(question, "yes", Ways(yes=safe_pattern("^Reuse"))) == "Reuse what is there"


def test_a_text_of_ones_own_goes_to_the_option_that_takes_one() -> None:
    question = read("Which approach?\n\n❯ 1. Reuse what is there\n  2. Write a new one\n  3. Type something.\n")
    goal = goal_for(question, "Neither, use the old helper")
    assert (goal.option, goal.text) == (2, "Neither, use the old helper")


def test_words_that_several_options_have_are_refused() -> None:
    dialog = read("Which?\n\n❯ 1. Use the old file\n  2. Use the old name\n  3. No\n")
    with pytest.raises(NoSuchAnswerError, match="could be each of: 1 Use the old file, 2 Use the old name"):
        goal_for(dialog, "the old")


def test_yes_never_takes_more_than_this_once() -> None:
    dialog = read(
        "Allow?\n\n❯ 1. Allow for this session\n  2. Allow once\n  3. Always allow\n  4. No, suggest changes\n"
    )
    assert taken(dialog, "yes") == "Allow once"
    assert taken(dialog, "no") == "No, suggest changes"


def numbered(*options: str, keys: str = "") -> Dialog:
    marks = "❯" + " " * len(options)
    return read(
        "\n".join(["Do it?", "", *(f"{marks[n]} {n + 1}. {words}" for n, words in enumerate(options)), "", keys])
    )


@pytest.mark.parametrize(
    "dialog",
    [
        numbered("Yes, and don't ask again", "No"),
        numbered("Allow forever", "Deny"),
        numbered("Yes, for this project", "No"),
        numbered("Allow    for every command from now on", "Deny"),
        Dialog("Run it?", (Option("always allow", key="Enter"), Option("cancel", key="Escape")), dismiss="Escape"),
        Dialog("( ) Once\n(•) Always", (Option("confirm", key="Enter"), Option("cancel", key="Escape"))),
    ],
)
def test_yes_takes_nothing_that_holds_for_longer_or_that_nobody_sees(dialog: Dialog) -> None:
    with pytest.raises(NoSuchAnswerError):
        goal_for(dialog, "yes")


@pytest.mark.parametrize(
    "options",
    [
        ("Yes", "Don't ask again", "Back"),
        ("Yes", "Never ask me again"),
        ("Stop asking", "Go back"),
        ("Workspace only", "No sandbox"),
        ("Exit plan mode and start coding", "Keep planning"),
    ],
)
def test_no_takes_nothing_that_gives_more_freedom(options: tuple[str, ...]) -> None:
    with pytest.raises(NoSuchAnswerError):
        goal_for(numbered(*options), "no")


@pytest.mark.parametrize(
    "refusal", ["No", "No thanks", "No (esc)", "Not now", "Never mind", "Don't allow", "Cancel all"]
)
def test_no_takes_what_refuses(refusal: str) -> None:
    assert taken(numbered("Yes", refusal), "no") == refusal


def test_an_escape_that_agrees_is_no_refusal() -> None:
    dialog = numbered("Yes", "Later", keys=" Enter to confirm · Esc to accept defaults")
    with pytest.raises(NoSuchAnswerError):
        goal_for(dialog, "no")


def test_a_key_takes_no_text() -> None:
    dialog = Dialog("Run it?", (Option("Yes", key="y"), Option("Tell it what to do", key="t")))
    with pytest.raises(NoSuchAnswerError):
        goal_for(dialog, "use the other one")


def test_its_id_does_not_depend_on_a_clock_in_its_question() -> None:
    asked = [Dialog(f"⠋ Run it? {clock}", (Option("Yes"), Option("No"))) for clock in ("(2s)", "(1m 12s)", "in 9 s")]
    assert len({dialog.id for dialog in asked}) == 1
    assert Dialog("Run 2?", asked[0].options).id != Dialog("Run 3?", asked[0].options).id


@pytest.mark.parametrize(
    "text",
    [
        "? Install it? (Use arrow keys)\n❯ Yes\n  No\n",
        "? Install it?\n> Yes\n  No\n\n Enter to select · Esc to cancel\n",
    ],
)
def test_keys_that_are_named_make_a_dialog_of_a_list(text: str) -> None:
    assert (words(read(text)), read(text).marked) == (["Yes", "No"], 0)
