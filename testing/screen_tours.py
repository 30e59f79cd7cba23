"""The tours on which screens are recorded: which states of which CLI, and how to get there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from testing.interrupt_tours import INTERRUPTIONS
from testing.models.steps import Ask, Drop, Fail, Hang, Plan, Run, Step, Text, Write
from testing.real_clis import merge_settings, offer_codex_update
from testing.record_screens import Tour
from testing.tour_steps import (
    ASKING,
    PLAIN,
    SLEEP,
    SLOW,
    accepted,
    acting,
    ask_permission,
    asking,
    interrupt,
    wait_for_dialog,
)

PLANNING: Mapping[str, tuple[str, ...]] = {
    "claude": ("claude", "--permission-mode", "plan"),
    "gemini": ("gemini", "--approval-mode", "plan"),
    "qwen": ("qwen", "--approval-mode", "plan"),
}
LEAVING = dict.fromkeys(("codex", "gemini", "qwen", "pi", "cline"), "/quit")
"""What ends it, where that is not /exit."""
LOGGED_OUT: Mapping[str, tuple[str, ...]] = {
    "qwen": ("env", "-u", "OPENAI_API_KEY", "-u", "OPENAI_BASE_URL", "-u", "OPENAI_MODEL", "qwen"),
    "copilot": ("env", "-u", "COPILOT_OFFLINE", "-u", "COPILOT_PROVIDER_BASE_URL", "-u", "COPILOT_MODEL", "copilot"),
    "kimi": ("kimi",),
}

QUESTION = "There are two ways to store the settings, and both are small.\n\nWhich of them should I build?"
WAITING = "The migration is written and tried on a copy. Let me know when the backup is there, then I go on."
LIST = """\
This is what I did:

1. Yes, the parser skips blank lines.
2. No other file was touched.
3. The tests pass.

Finished."""
QUOTES = """\
The recordings end like this:

```
❯ 1. Yes
  2. No, and tell Claude what to do differently (esc)
Do you want to proceed? (y/N)
› 1. Yes, proceed (y)
  Press enter to confirm or esc to cancel
│ ● 1. Allow once
┃  △ Permission required
✻ Thinking… (12s · esc to interrupt)
■ stream disconnected before completion
API Error: 500 Internal server error
Traceback (most recent call last):
ValueError: not enough values
```

None of this happens now. Finished."""
SOME_WORDS = 20


def tours_of(cli: str) -> dict[str, Callable[[Tour], None]]:
    tours: dict[str, Callable[[Tour], None]] = {
        **INTERRUPTIONS,
        "answers": answers,
        "work": work,
        "permission": permission,
        "question": question,
        "errors": errors,
        "end": end,
        "start": start,
    }
    if cli in ("claude", "codex", "gemini", "qwen"):
        tours["plan"] = plan
    if cli == "codex":
        tours["update"] = update
    if cli == "claude":
        tours["auto-mode"] = auto_mode
    return tours


# --- idle -----------------------------------------------------------------------------------------


def answers(tour: Tour) -> None:
    acting(tour)
    tour.wait_until_still()
    tour.frame("READY", "fresh")
    for scenario, text, detail in (
        ("plain", PLAIN, None),
        ("asked", QUESTION, "asked"),
        ("waiting", WAITING, "asked"),
        ("list", LIST, None),
        ("quotes", QUOTES, None),
    ):
        tour.say(f"Tell me about the {scenario} part", Text(text))
        tour.wait_for(text.split()[-1])
        tour.wait_until_quiet(3)
        tour.wait_until_still()
        tour.frame("READY", scenario, detail)
    tour.type("Do you want to proceed? 1. Yes 2. No")
    tour.wait_until_still()
    tour.frame("READY", "draft", "draft")
    tour.press("C-u")
    tour.type("/")
    time.sleep(1)
    tour.frame("READY", "menu")


# --- at work --------------------------------------------------------------------------------------


def work(tour: Tour) -> None:
    acting(tour)
    think(tour)
    stream(tour)
    run_tools(tour)


def think(tour: Tour) -> None:
    tour.say("Think about the parser", Hang())
    tour.frames_over((0.5, 3), "BUSY", "think")
    interrupt(tour)
    tour.frame("READY", "interrupted", "interrupted")
    tour.press("C-u")  # some take an unanswered prompt back into the composer


def stream(tour: Tour) -> None:
    tour.say("Walk me through the parser", SLOW)
    tour.frames_over((1, 4, 4), "BUSY", "stream")
    tour.type("and the changelog too")
    tour.frame("BUSY", "typing")
    tour.press("Enter")
    time.sleep(1)
    tour.frame("BUSY", "queued")
    interrupt(tour)
    interrupt(tour)
    tour.start(*tour.machine.agent.argv)


def run_tools(tour: Tour) -> None:
    tour.say("Run the tests", Run(f"{SLEEP}; echo 14 passed"), Hang())
    tour.frames_over((2.5, 2), "BUSY", "tool", "tool")
    tour.wait_for("14 passed")
    tour.frames_over((2, 3), "BUSY", "between")
    interrupt(tour)
    noisy = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "case $i"; sleep 1; done'
    tour.start(*tour.machine.agent.argv)
    tour.say("Run the noisy tests", Run(noisy), Text(PLAIN))
    tour.frames_over((3, 4), "BUSY", "tool-output", "tool")
    tour.start(*tour.machine.agent.argv)


def question(tour: Tour) -> None:
    acting(tour)
    ask_question(tour)


def ask_question(tour: Tour) -> None:
    if tour.name == "codex":
        _plan_mode(tour)  # nothing else asks
    if tour.name == "kimi":
        tour.start(*ASKING["kimi"])  # the model cannot ask where it was told never to
    tour.say("Start with it", Ask())
    tour.wait_for("Which approach")
    wait_for_dialog(tour)
    tour.frame("NEEDS_CONFIRMATION", "question", "question")
    tour.press("Down")
    tour.frame("NEEDS_CONFIRMATION", "question", "question")
    tour.press("Escape")
    time.sleep(2)


# --- permissions ----------------------------------------------------------------------------------


def permission(tour: Tour) -> None:
    asking(tour)
    tour.say("Why do the screen tests fail?", Text(QUOTES))
    tour.wait_for("Finished.")
    tour.wait_until_quiet(3)
    tour.wait_until_still()
    tour.frame("READY", "quotes-asking")
    ask_permission(tour)
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.press("Down" if tour.name != "opencode" else "Right")
    tour.frame("NEEDS_CONFIRMATION", "permission", "permission")
    tour.press("Escape")
    tour.wait_until_still()
    if tour.name == "opencode":
        tour.frame("NEEDS_CONFIRMATION", "permission-refusing", "permission", alt="READY")
        tour.press("Enter")
    tour.start(*ASKING[tour.name])
    long = "cat > deploy.sh <<'EOT'\nset -e\nfor host in a b c; do\n  echo $host\ndone\nEOT\n"
    long += f"{SLEEP}; sh deploy.sh"
    tour.say("Deploy it", Run(long, outside_sandbox=True), Text(PLAIN))
    wait_for_dialog(tour)
    tour.frame("NEEDS_CONFIRMATION", "permission-long", "permission")
    tour.press("Enter")
    time.sleep(3)
    tour.frame("BUSY", "allowed", "tool")
    if tour.name not in ("codex", "kimi"):  # these write files of the worktree unasked
        tour.start(*ASKING[tour.name])
        tour.say("Write the settings", Write("settings.py", "import os\n\nPATH = os.environ['DEMO']\n"), Text(PLAIN))
        wait_for_dialog(tour)
        tour.frame("NEEDS_CONFIRMATION", "permission-write", "permission")


def plan(tour: Tour) -> None:
    accepted(tour).start(*PLANNING.get(tour.name, ASKING[tour.name]))
    if tour.name == "codex":
        _plan_mode(tour)
    tour.say("Plan it", Plan(), Plan())
    wait_for_dialog(tour)
    tour.frame("NEEDS_CONFIRMATION", "plan", "plan")


def _plan_mode(tour: Tour) -> None:
    """Codex does not take the key right after its start."""
    for _ in range(5):
        tour.press("BTab", pause=1.5)
        if "Plan mode" in tour.text():
            return


def auto_mode(tour: Tour) -> None:
    """Behind another address than its own, what it wants to do cannot be checked. Older versions ask for permission."""
    accepted(tour).start("claude")
    ask_permission(tour)
    if "Auto mode" in tour.text():
        tour.frame("NEEDS_CONFIRMATION", "auto-mode", "notice")


# --- failures -------------------------------------------------------------------------------------


def errors(tour: Tour) -> None:
    """opencode never gives up, but for what it is sure of; the others do after a few times."""
    accepted(tour).start("env", "CLAUDE_CODE_MAX_RETRIES=1", *tour.machine.agent.argv)
    final: list[tuple[str, Step, str]] = [("not-logged-in", Fail(401), "auth")]
    passing: list[tuple[str, Step]] = [("failing", Fail(500)), ("dropped", Drop(halfway=False))]
    if tour.name == "opencode":
        passing += [("refused", Fail(400)), ("limited", Fail(429))]
    else:
        final += [("refused", Fail(400), "api")]
    if tour.name in ("claude", "codex"):
        final += [("limited", Fail(429), "rate_limit")]
    if tour.name == "claude":
        final += [("unreachable", Drop(halfway=False), "network")]
    for scenario, step, detail in final:
        tour.say(f"Please do the {scenario} one", step)
        tour.wait_until_quiet(9)
        tour.frame("ERROR", scenario, detail)
    for scenario, step in passing:
        tour.start(*tour.machine.agent.argv)
        tour.say(f"Please do the {scenario} one", step)
        time.sleep(1.5)
        tour.frame("BUSY", scenario, "retrying", alt="ERROR")
    tour.start(*tour.machine.agent.argv)
    tour.say("Please do the shaky one", Fail(500, times=1), Text("It went well in the end. Finished."))
    tour.wait_for("Finished.")
    time.sleep(2)
    tour.frame("READY", "recovered")


# --- the end --------------------------------------------------------------------------------------


def end(tour: Tour) -> None:
    accepted(tour)
    left(tour)
    _back_in_the_shell(tour, "killed", _kill)
    tour.start(*tour.machine.agent.argv)
    tour.say("Walk me through it", SLOW)
    time.sleep(2)
    _kill_inside(tour, [_pid(tour), *_below(tour, _pid(tour))])
    time.sleep(3)
    if tour.text().strip():  # sooner or later tmux, as LLMC sets it up, puts aside what the terminal showed
        tour.frame("EXITED", "dead", "dead-pane")


def left(tour: Tour) -> None:
    _back_in_the_shell(tour, "left", _leave)


def _back_in_the_shell(tour: Tour, scenario: str, leave: Callable[[Tour], None]) -> None:
    tour.start("env", "PS1=dev@box:\\w\\$ ", "bash", "--noprofile", "--norc", "-i", wait=False)
    time.sleep(1)
    tour.type(" ".join(tour.machine.agent.argv))
    tour.press("Enter")
    tour.wait_for_prompt()
    leave(tour)
    time.sleep(3)
    tour.frame("EXITED", scenario)
    tour.type("ls -la")
    tour.press("Enter")
    tour.frame("EXITED", scenario)


def _leave(tour: Tour) -> None:
    tour.say("Tell me", Text(PLAIN))
    tour.wait_for("Finished.")
    tour.type(LEAVING.get(tour.name, "/exit"))
    time.sleep(1)
    tour.press("Enter")
    time.sleep(6)


def _kill(tour: Tour) -> None:
    tour.say("Walk me through it", SLOW)
    time.sleep(3)
    _kill_inside(tour, _below(tour, _pid(tour)))


def _pid(tour: Tour) -> int:
    return tour.tmux.panes()["tour"].pid


def _below(tour: Tour, pid: int) -> list[int]:
    """The processes that this one has started, and theirs. Their ids are those of the machine inside."""
    table = tour.machine.host.run(["ps", "-eo", "pid=,ppid="]).text
    rows = [tuple(map(int, line.split())) for line in table.splitlines()]
    children = [child for child, parent in rows if parent == pid]
    return [each for child in children for each in (child, *_below(tour, child))]


def _kill_inside(tour: Tour, pids: list[int]) -> None:
    tour.machine.host.run(["kill", "-9", *map(str, pids)])


# --- the start ------------------------------------------------------------------------------------


def update(tour: Tour) -> None:
    accepted(tour)
    offer_codex_update(tour.machine.home)
    tour.start("codex", "--no-daemon", wait=False)
    tour.wait_for("Update now")
    tour.frame("NEEDS_CONFIRMATION", "update", "notice")


def start(tour: Tour) -> None:
    if tour.name == "opencode":
        acting(tour)
        tour.frame("READY", "fresh-again")
        return
    if tour.name == "qwen":  # it asks for trust only when it is told to
        merge_settings(tour.machine.home / ".qwen" / "settings.json", {"security": {"folderTrust": {"enabled": True}}})
    tour.start(*tour.machine.agent.argv, wait=False)
    time.sleep(0.2)
    tour.frame("BUSY", "starting", "starting")
    tour.wait_for(*(("Trust folder",) if tour.name == "qwen" else ("trust", "Trust")))
    tour.wait_until_still()
    tour.frame("NEEDS_CONFIRMATION", "trust", "trust")
    if tour.name == "claude":
        tour.choose("Yes, I trust this folder")
        tour.wait_for("Bypass Permissions")
        tour.frame("NEEDS_CONFIRMATION", "bypass", "bypass")
    if tour.name == "codex":
        accepted(tour)
        config = tour.machine.home / ".codex" / "config.toml"
        config.write_text(config.read_text().replace('model = "gpt-6-sol"', 'model = "gpt-5.5"'))
        tour.start("codex", "--no-daemon", wait=False)
        tour.wait_for("new model")
        tour.frame("NEEDS_CONFIRMATION", "new-model", "notice")
        config.unlink()
        tour.start("codex", "--no-daemon", wait=False)
        tour.wait_for("Sign in")
        tour.frame("NEEDS_CONFIRMATION", "login", "login")
    if tour.name in LOGGED_OUT:
        for name in (".qwen/settings.json", ".kimi-code/config.toml"):
            (tour.machine.home / name).unlink(missing_ok=True)
        accepted(tour).start(*LOGGED_OUT[tour.name], wait=False)
        tour.wait(lambda: len(tour.text().split()) > SOME_WORDS, "nothing is drawn")
        tour.wait_until_quiet(10)
        tour.wait_until_still()
        tour.frame("NEEDS_CONFIRMATION", "login", "login")
    if tour.name == "gemini":
        settings = accepted(tour).machine.home / ".gemini" / "settings.json"
        merge_settings(settings, {"ui": {"theme": "No Such Theme"}})
        tour.start("gemini", wait=False)
        tour.wait_for("Select Theme")
        tour.frame("NEEDS_CONFIRMATION", "theme", "theme")
        settings.unlink()
        tour.start("gemini", wait=False)
        tour.wait_for("authenticate")
        tour.frame("NEEDS_CONFIRMATION", "login", "login")
