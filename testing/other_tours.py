"""The tours of the other CLIs, as in testing/screen_tours.py: which states they have, and how to get there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from testing.models.steps import Drop, Fail, Run, Step, Text, Write
from testing.real_clis import merge_settings
from testing.record_screens import Tour
from testing.screen_tours import QUOTES, answers, ask_question, end, left, stream, think, work
from testing.tour_steps import COMMAND, PLAIN, SLOW, acting, interrupt

SETTINGS = "import os\n\nPATH = os.environ['DEMO']\n"
FAILURES: tuple[tuple[str, Step], ...] = (
    ("failing", Fail(500)),
    ("limited", Fail(429)),
    ("dropped", Drop(halfway=False)),
)


def work_and_question(tour: Tour) -> None:
    work(tour)
    ask_question(tour)


def talk(tour: Tour) -> None:
    """It has no tools."""
    acting(tour)
    think(tour)
    stream(tour)


# --- failures -------------------------------------------------------------------------------------


def errors(tour: Tour) -> None:
    """What cannot be helped ends the turn; the rest is tried again for a while."""
    acting(tour)
    for scenario, status, detail in (("not-logged-in", 401, "auth"), ("refused", 400, "api")):
        tour.say(f"Please do the {scenario} one", Fail(status))
        tour.wait_until_quiet(9)
        tour.frame("ERROR", scenario, detail)
    for scenario, step in FAILURES:
        tour.start(*tour.machine.agent.argv)
        tour.say(f"Please do the {scenario} one", step)
        time.sleep(1.5)
        tour.frame("BUSY", scenario, "retrying", alt="ERROR")
    tour.start(*tour.machine.agent.argv)
    tour.say("Please do the shaky one", Fail(500, times=1), Text("It went well in the end. Finished."))
    tour.wait_for("Finished.")
    time.sleep(2)
    tour.frame("READY", "recovered")


def everything_of_kilo(tour: Tour) -> None:
    """In one go: it takes long to start, and what it shows is opencode's, of which there is more."""
    settings = tour.machine.home / ".config" / "kilo" / "config.json"
    merge_settings(settings, {"permission": {"bash": "ask", "edit": "ask"}})
    answers(tour)
    tour.press("C-u", "Escape")
    _permission_of_kilo(tour)
    think(tour)
    _stream_of_kilo(tour)
    ask_question(tour)
    _errors_of_kilo(tour)


def _stream_of_kilo(tour: Tour) -> None:
    tour.say("Walk me through the parser", SLOW)
    tour.frames_over((1, 4), "BUSY", "stream")
    tour.type("and the changelog too")
    tour.frame("BUSY", "typing")
    tour.press("C-u")
    interrupt(tour)


def _errors_of_kilo(tour: Tour) -> None:
    """It gives up only what it is sure of."""
    tour.say("Please do the not-logged-in one", Fail(401))
    tour.wait_until_quiet(9)
    tour.frame("ERROR", "not-logged-in", "auth")
    for scenario, step in FAILURES:
        tour.say(f"Please do the {scenario} one", step)
        time.sleep(4)
        tour.frame("BUSY", scenario, "retrying", alt="ERROR")
        interrupt(tour)


def given_up(tour: Tour) -> None:
    acting(tour)
    tour.say("Please do the limited one", Fail(429))
    tour.wait_for("Retry failed", "Error: ")
    tour.wait_until_quiet(20)
    tour.frame("ERROR", "given-up", "rate_limit")


# --- dialogs --------------------------------------------------------------------------------------


def _permission_of_kilo(tour: Tour) -> None:
    tour.say("Install it", Run(COMMAND), Text(PLAIN))
    tour.wait_for("Allow always")
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.press("Right")
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.press("Escape")
    tour.wait_for("Reject permission")
    tour.frame("NEEDS_CONFIRMATION", "permission-refusing", "permission")
    tour.press("Enter")
    time.sleep(6)
    interrupt(tour)
    tour.say("Write the settings", Write("settings.py", SETTINGS), Text(PLAIN))
    tour.wait_for("Allow always")
    tour.frame("NEEDS_CONFIRMATION", "permission-write", "permission")
    tour.press("Enter")
    tour.wait_for("Finished.")
    tour.wait_until_quiet(3)


def permission_of_cline(tour: Tour) -> None:
    tour.start("cline", "--auto-approve", "false")
    tour.say("Why do the screen tests fail?", Text(QUOTES))
    tour.wait_for("Finished.")
    tour.wait_until_quiet(3)
    tour.frame("READY", "quotes-asking")
    tour.say("Install it", Run(COMMAND), Text(PLAIN))
    tour.wait_for("[y] Approve")
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.press("n")
    tour.wait_for("Finished.")
    tour.wait_until_quiet(3)
    tour.frame("READY", "refused")
    tour.say("Deploy it", Run("for host in a b c; do\n  echo $host\ndone\nsleep 8"), Text(PLAIN))
    tour.wait_for("[y] Approve")
    tour.frame("NEEDS_CONFIRMATION", "permission-long", "permission")
    tour.press("y")
    time.sleep(3)
    tour.frame("BUSY", "allowed", "tool")
    tour.start("cline", "--auto-approve", "false")
    tour.say("Write the settings", Write("settings.py", SETTINGS), Text(PLAIN))
    tour.wait_for("[y] Approve")
    tour.frame("NEEDS_CONFIRMATION", "permission-write", "permission")


def permission_of_aider(tour: Tour) -> None:
    asking = tuple(word for word in tour.machine.agent.argv if word != "--yes-always")
    tour.start(*asking)
    tour.say("Why do the screen tests fail?", Text(QUOTES))
    tour.wait_for("Finished.")
    tour.wait_for_prompt()
    tour.frame("READY", "quotes-asking")
    tour.say("Write the settings", Write("settings.py", SETTINGS))
    tour.wait_for("(Y)es/(N)o")
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.type("n")
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.press("Enter")
    tour.wait_for_prompt()
    tour.frame("READY", "refused")
    tour.say("Look again", Text("This is about what README says. Finished."))
    tour.wait_for("(Y)es/(N)o")
    tour.frame("NEEDS_CONFIRMATION", "permission-add", "permission")


# --- the start ------------------------------------------------------------------------------------


def start(tour: Tour) -> None:
    tour.start(*tour.machine.agent.argv, wait=False)
    time.sleep(0.2)
    tour.frame("BUSY", "starting", "starting")
    tour.wait_for_prompt()
    tour.frame("READY", "fresh-again")


def start_of_cline(tour: Tour) -> None:
    start(tour)
    tour.start("env", "--unset", "CLINE_DISABLE_CLINE_PASS_NOTICE", *tour.machine.agent.argv, wait=False)
    tour.wait_for("Press Enter to open")
    tour.frame("NEEDS_CONFIRMATION", "advertisement", "notice")
    (tour.machine.home / ".cline" / "data" / "settings" / "providers.json").unlink()
    tour.start(*tour.machine.agent.argv, wait=False)
    tour.wait_for("Bring your own")
    tour.frame("NEEDS_CONFIRMATION", "login", "login")


def start_of_aider(tour: Tour) -> None:
    start(tour)
    nobody = ("env", "--unset", "OPENAI_API_KEY", "--unset", "AIDER_MODEL")
    tour.start(*nobody, *(word for word in tour.machine.agent.argv if word != "--yes-always"), wait=False)
    tour.wait_for("(Y)es/(N)o")
    tour.frame("NEEDS_CONFIRMATION", "login", "login")


OTHER_TOURS: Mapping[str, Mapping[str, Callable[[Tour], None]]] = {
    "kilo": {"left": left, "everything": everything_of_kilo},
    "pi": {"answers": answers, "work": work, "errors": errors, "given-up": given_up, "start": start, "end": end},
    "cline": {
        "answers": answers,
        "work": work_and_question,
        "permission": permission_of_cline,
        "errors": errors,
        "start": start_of_cline,
        "end": end,
    },
    "aider": {
        "answers": answers,
        "work": talk,
        "permission": permission_of_aider,
        "errors": errors,
        "start": start_of_aider,
        "end": end,
    },
}
