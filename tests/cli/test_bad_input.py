"""Words that make no sense, texts that no agent may get, and text that must not reach a terminal as it is."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from llmc.core.delivery.texts import MAX_BYTES
from llmc.git.runner import Git
from llmc.host.local import LocalHost
from llmc.root import Root
from llmc.store.event_log import EventLog, LoggedEvent
from testing.commands import wrong_about
from testing.roots import own_environment

LONG = "x" * 300
NO_TEXT = os.fsdecode(b"\xff")
ODD_NAMES = ("a/b", "a b", "..", "../../x", "ü", "a\x1b[31mb", "a\nb", "", "-x", LONG, "all", NO_TEXT)


# --- names ------------------------------------------------------------------------------------------


def test_names_that_no_worker_can_have(place):
    place.refuses([["add", name, "--agent", "demo"] for name in ODD_NAMES], 2)


def test_workers_that_cannot_be_added(place):
    said = place.refuses(
        [["add", "adam"], ["add", "carl", "--agent", "nonsense"], ["add", "carl", "--agent", "a\x1b[31mb"]], 1
    )
    assert "there is a worker named adam already" in said["add adam"].err
    unfit = (["--agent", ""], ["--model", "a\x1bb"], ["--role-prompt", "a\x01b"], ["--role-prompt", NO_TEXT])
    place.refuses([["add", "carl", *words] for words in unfit], 2)


def test_workers_that_nobody_knows(place):
    verbs = (
        "nuke",
        "restart",
        "interrupt",
        "attach",
        "peek",
        "review",
        "accept",
        "rebase",
        "reset",
        "undo",
        "explain",
        "events",
    )
    lines = [[verb, "nobody"] for verb in (*verbs, "logs")]
    texts = (
        ["message", "nobody", "hello"],
        ["reject", "nobody", "no"],
        ["comment", "nobody", "README:1", "no"],
        ["comment", "nobody", "--list"],
        ["start", "--worker", "nobody", "--prompt", "x"],
    )
    said = place.refuses([*lines, *texts, ["undo", "nobody", "--list"], ["nuke", "baker", "nobody", "--yes"]], 1)
    assert {each.err for each in said.values()} == {
        "error: there is no worker named 'nobody'\nhint: the workers are: adam, baker\n"
    }


@pytest.mark.parametrize("name", ["", "-x", NO_TEXT])
def test_names_that_are_no_word(place, name):
    place.refuses([["peek", name], ["events", name], ["review", name], ["start", "--worker", name, "--prompt", "x"]], 2)


def test_names_that_lead_elsewhere(place):
    names = ("../../x", "a\x1b[31mb", LONG, "adam/", "ADAM")
    place.refuses([["logs", name] for name in names], 1)


def test_the_work_of_a_worker_that_was_removed(place):
    place.llmc.run("nuke", "adam", "--yes")
    said = place.refuses([["undo", "adam"]], 1)
    assert "`llmc add adam` makes it again" in said["undo adam"].err


# --- texts ------------------------------------------------------------------------------------------

UNFIT = {
    "empty": b"",
    "blank": b" \n\t\n",
    "escape": b"one\x1b[31mtwo",
    "nul": b"one\0two",
    "bell": b"one\a",
    "c1": "one\x9b31m".encode(),
    "large": b"x" * (10 << 20),
}


def test_texts_that_no_agent_may_get(place, tmp_path):
    for name, content in UNFIT.items():
        (tmp_path / name).write_bytes(content)
    files = [["start", "--worker", "baker", "--prompt-file", str(tmp_path / name)] for name in UNFIT]
    words = [UNFIT[name].decode() for name in ("empty", "escape", "c1")]
    said = place.refuses(
        [
            *files,
            *(["message", "baker", text] for text in words),
            ["reject", "adam", "a\x1bb"],
            ["comment", "adam", "README:1", "a\x1bb"],
            ["comment", "adam", "README:1", ""],
            ["comment", "adam", f"{NO_TEXT}:1", "x"],
            ["comment", "adam", "--remove", "-1"],
            ["accept", "adam", "--message", "a\x1bb"],
            ["accept", "adam", "--message", ""],
            ["start", "--worker", "baker", "--prompt", NO_TEXT],
        ],
        2,
    )
    assert f"more than {MAX_BYTES:,}" in said[" ".join(files[-1])].err


def test_files_that_are_no_text(place, tmp_path):
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    names = [str(tmp_path / "latin"), str(tmp_path / "missing"), str(tmp_path), "/dev/null", "~nobody-of-that-name/x"]
    said = place.refuses([["message", "baker", "--file", name] for name in names], 1)
    assert "is not UTF-8 (byte 3)" in said[f"message baker --file {names[0]}"].err
    assert wrong_about(place.llmc.run("message", "baker", "-", stdin=b"\xff", check=False), 1) == []
    assert wrong_about(place.llmc.run("start", "-", "--worker", "baker", stdin=UNFIT["large"], check=False), 2) == []


def test_texts_that_are_given_twice_or_not_at_all(place):
    start = ["start", "--worker", "baker"]
    place.refuses(
        [
            start,
            [*start, "--prompt", "x", "--prompt-file", "y"],
            [*start, "-", "--prompt", "x"],
            [*start, "--prompt", "x", "--template", "bug"],
            [*start, "--prompt", "x", "--set", "a=b"],
            ["message", "baker"],
            ["message", "baker", "x", "--file", "y"],
            ["reject", "adam"],
            ["reject", "adam", "one", "two"],
            ["comment", "adam", "README:1"],
            ["comment", "adam", "README:1", "x", "--file", "y"],
            ["comment", "adam"],
        ],
        2,
    )


def test_templates(place):
    templates = place.root / "templates"
    (templates / "bug.md").write_text("Mend {what}.\n")
    (templates / "latin.md").write_bytes(b"caf\xe9")
    (templates / "folder.md").mkdir()
    start = ["start", "--worker", "baker", "--template"]
    said = place.refuses([[*start, name] for name in ("none", "../bug", "folder", "latin", "a\x1b[31mb", LONG)], 1)
    assert f"the templates in {templates}: bug, latin" in said["start --worker baker --template none"].err
    settings = ("nonsense", "", "=", "who=me", "what=a\x1bb", f"what={NO_TEXT}")
    place.refuses([[*start, ""], *([*start, "bug", "--set", setting] for setting in settings)], 2)


EDITORS = {
    "false": "ended with a failure",
    "no-editor-of-that-name": "is not installed",
    "'": "names no program",
    " ": "names no program",
    "true": "the text is empty",
    """sh -c 'printf "\\377" >"$1"' sh""": "is not UTF-8",
}


@pytest.mark.parametrize("editor", EDITORS)
def test_editors_that_bring_no_text(place, editor):
    person, terminal = os.openpty()
    try:
        done = subprocess.run(
            place.llmc.command("message", "baker"),
            env=place.llmc.environment({"EDITOR": editor}),
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        os.close(person)
        os.close(terminal)
    assert done.returncode in (1, 2)
    assert EDITORS[editor] in done.stderr
    assert done.stderr.startswith("error: ")


# --- other words ------------------------------------------------------------------------------------


def test_words_that_make_no_sense(place):
    lines = (
        [],
        ["nonsense"],
        ["--nonsense"],
        ["status", "nonsense"],
        ["status", "--nonsense"],
        ["--root"],
        ["--root", "", "status"],
        ["status", "--root", ""],
        ["init", "--source", ""],
        ["init", "--target", ""],
        ["init", "--branch", ""],
        ["events", "-n", "0"],
        ["events", "-n", "9" * 30],
        ["logs", "adam", "-n", "-1"],
        ["peek", "adam", "-n", "many"],
        ["review", "adam", "--interface", "nonsense"],
        ["undo", "--backup", "nonsense"],
        ["undo", "adam", "--backup", ""],
        ["nuke"],
        ["nuke", "adam", "--all"],
        ["completion", "tcsh"],
        ["completion"],
        ["message"],
    )
    place.refuses(lines, 2)


def test_settings_that_make_no_sense(place):
    place.refuses(
        [
            ["config", *words]
            for words in (
                ["nonsense"],
                ["get"],
                ["get", ""],
                ["get", "nonsense"],
                ["get", "repo"],
                ["get", "a\x1b[31mb"],
                ["get", "repo.branch", "main"],
                ["path", "nonsense"],
                ["set", "repo.branch"],
                ["set", "nonsense", "x"],
                ["set", "repo.branch", "a..b"],
                ["set", "policy.autonomy", "nonsense"],
                ["set", "policy.commit_grace_secs", "soon"],
                ["set", "defaults.model", "a\x1bb"],
                ["set", "defaults.model", NO_TEXT],
                ["set", "workers.a/b.model", "x"],
            )
        ],
        2,
    )


def test_nobody_is_asked_where_nobody_can_answer(place):
    for verb in ("nuke", "reset"):
        said = place.llmc.run(verb, "adam", stdin=b"y\n", check=False)
        assert wrong_about(said, 1) == []
        assert "adam has commits that are not merged; nothing was" in said.err
        assert "pass --yes" in said.err


# --- text that a terminal would act upon ------------------------------------------------------------

HOSTILE = "one\x1b]0;owned\x07 \x1b[8mhidden\x1b[0m \x9b31m \u202e two"
ACTED_UPON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PASSES_ON = "#!/bin/sh\nexec cat\n"
SHOWS_FILE = '#!/bin/sh\nexec cat "$5"\n'


@pytest.fixture
def hostile(place):
    """A root where every text that comes from elsewhere is hostile, and a terminal that shows such text."""
    commit_hostile_work(place)
    state_file = place.root / "state.json"
    state = json.loads(state_file.read_text())
    state["workers"]["adam"] |= {
        "current_prompt": HOSTILE,
        "commit_sha": git_in(place, place.root, "rev-parse", "llmc/adam"),
        "session": "up",
        "evidence": {"signal": "hook.question", "at_unix": 1.0, "detail": HOSTILE},
    }
    state_file.write_text(json.dumps(state))
    (place.root / "logs" / "adam.log").write_text(f"{HOSTILE}\n" + json.dumps({"detail": HOSTILE}) + "\n")
    (place.root / "run" / "attention" / "adam.json").write_text(json.dumps({"state": "BUSY", "detail": HOSTILE}))
    (place.root / ".git" / "refs" / "remotes" / "origin" / "HEAD").write_text(f"ref: refs/remotes/origin/{HOSTILE}\n")
    with EventLog(place.root / "status.db") as events:
        events.append(LoggedEvent(1.0, "adam", HOSTILE, HOSTILE, detail=HOSTILE))
    server = Root(str(place.root)).tmux_socket
    program = ["sh", "-c", 'printf "%s\\n" "$1"; exec sleep 120', "sh", HOSTILE]
    tmux = ["tmux", "-L", server]
    subprocess.run(
        [*tmux, "-f", "/dev/null", "new-session", "-d", "-s", "llmc-adam", "-x", "80", "-y", "24", *program],
        env=place.llmc.environment(),
        check=True,
    )
    yield place
    subprocess.run([*tmux, "kill-server"], env=place.llmc.environment(), check=True)


def git_in(place, where, *words):
    with own_environment(place.llmc.home):
        return Git(LocalHost(), as_agents=True).text(str(where), *words)


def commit_hostile_work(place):
    worktree = place.root / ".worktrees" / "adam"
    (worktree / "note.md").write_text(f"{HOSTILE}\n")
    (worktree / f"name{HOSTILE.replace('/', '')}").write_text("x\n")
    for words in (("add", "--all"), ("commit", "--quiet", "-m", HOSTILE)):
        git_in(place, worktree, *words)


def test_no_hostile_text_reaches_the_terminal(hostile, path_of):
    env = {"PATH": path_of("delta", "difft", delta=PASSES_ON, difft=SHOWS_FILE)}
    shows = (["status"], ["status", "--short"], ["events"], ["logs", "adam"], ["peek", "adam"], ["explain", "adam"])
    reviews = [["review", "adam", "--interface", how] for how in ("diff", "stat", "delta", "difftastic")]
    said = {}
    for words in (*shows, *([*words, "--json"] for words in shows), *reviews, [*reviews[0], "--json"]):
        said[" ".join(words)] = hostile.llmc.run(*words, check=False, env=env)
    assert {words: each.words for words, each in said.items() if each.code != 0} == {}
    assert {words: found for words, each in said.items() if (found := ACTED_UPON.findall(each.words))} == {}
    for words in ("status", "events", "logs adam", "peek adam", "review adam --interface delta"):
        assert "two" in said[words].out
    # A script gets it exactly.
    assert json.loads(said["status --json"].out)["workers"][0]["current_prompt"] == HOSTILE
    assert json.loads(said["logs adam --json"].out) == [{"text": HOSTILE}, {"detail": HOSTILE}]


def test_hostile_words_in_errors(place):
    lines = [["peek", HOSTILE], [HOSTILE], ["--root", f"/{HOSTILE}", "status"], ["config", "get", HOSTILE]]
    files = [["init", "--source", f"/{HOSTILE}"], ["message", "baker", "--file", HOSTILE]]
    place.refuses([*lines, *files])


def test_a_state_of_the_wrong_types_is_explained(place):
    state = json.loads((place.root / "state.json").read_text())
    state["workers"]["adam"] |= {"work": 5, "current_prompt": ["x"], "last_activity_unix": "soon"}
    (place.root / "state.json").write_text(json.dumps(state))
    said = place.refuses([["status"], ["status", "--watch"]], 1)
    assert "does not make sense: worker adam:" in said["status"].err


def test_readings_that_make_no_sense_are_no_readings(place):
    readings = Path(place.root, "run", "attention")
    for content in ("[]", "3", "{", '{"at_unix": "soon"}'):
        (readings / "adam.json").write_text(content)
        worker = json.loads(place.llmc.run("status", "--json").out)["workers"][0]
        assert worker["attention"]["state"] == "UNKNOWN"
