"""What the demo agent does in a real repository, without its terminal."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.demo.__main__ import Words, read_words
from llmc.demo.dialog import NO, YES, Answer
from llmc.demo.rebase import keep_both
from llmc.demo.requests import Ask, Crashed, Ending, FailedTurn, GitCall, Pause, Reply, Request, SpoolReport, TurnOver
from llmc.demo.shell import Finished, Running, git_environment
from llmc.demo.spool import Spool
from llmc.demo.work import work

Run = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A repository with one commit, as the current directory, without anybody's configuration."""
    for name in [name for name in os.environ if name.startswith("GIT_") or name == "EMAIL"]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def run(*args: str) -> str:
        done = subprocess.run(["git", *args], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    run("init", "-q", "-b", "main")
    run("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-q", "--allow-empty", "-m", "base")
    return run


def finished(request: GitCall) -> Finished:
    running = Running(("git", *request.args), git_environment(request.env))
    while True:
        for pipe in select.select(list(running.pipes), [], [], 0.01)[0]:
            running.read(pipe)
        if done := running.collect():
            return done


def done(prompt: str, *answers: Answer) -> tuple[Ending, list[Request]]:
    """Plays the host: git is real, time does not pass, answers come from the test."""
    doing, waiting, seen = work(prompt, 0.1), list(answers), []
    reply: Reply = None
    try:
        while True:
            request = doing.send(reply)
            seen.append(request)
            reply = (
                finished(request)
                if isinstance(request, GitCall)
                else waiting.pop(0)
                if isinstance(request, Ask)
                else None
            )
    except StopIteration as over:
        return over.value, seen


def ending(prompt: str, *answers: Answer) -> Ending:
    return done(prompt, *answers)[0]


def events(seen: list[Request]) -> list[tuple[str, str]]:
    return [(each.event, each.fields.get("phase", "")) for each in seen if isinstance(each, SpoolReport)]


def conflicted(git: Run, theirs: str, own: str, base: str = "top\nmiddle\nend\n") -> None:
    """A rebase that has stopped: `own` on a branch, `theirs` on main, both from `base`."""
    git("config", "user.name", "Ann")
    git("config", "user.email", "ann@example.com")
    ending(f"demo:write f.txt {base!r}".replace("'", "") + "\ndemo:commit base file")
    git("checkout", "-q", "-b", "topic")
    ending(own)
    git("checkout", "-q", "main")
    ending(theirs)
    git("checkout", "-q", "topic")
    with pytest.raises(subprocess.CalledProcessError):
        git("rebase", "main")


@pytest.mark.usefixtures("git")
def test_files_are_changed() -> None:
    prompt = """
        demo:write a/b.txt one\\ntwo
        demo:append a/b.txt three
        demo:replace a/b.txt two => zwei
        demo:write gone.txt x
        demo:delete gone.txt"""
    assert ending(prompt) == TurnOver("Deleted gone.txt")
    assert Path("a/b.txt").read_text() == "one\nzwei\nthree\n"
    assert not Path("gone.txt").exists()


@pytest.mark.usefixtures("git")
def test_appending_ends_an_open_line() -> None:
    Path("open.txt").write_text("no end")
    ending("demo:append open.txt more\ndemo:append new.txt first")
    assert Path("open.txt").read_text() == "no end\nmore\n"
    assert Path("new.txt").read_text() == "first\n"


def test_a_commit_carries_trailers_and_the_fallback_identity(git: Run) -> None:
    assert isinstance(ending("demo:write a.txt x\ndemo:commit Add a\\n\\nBecause"), TurnOver)
    assert git("log", "-1", "--format=%an <%ae> %cn") == "LLMC demo agent <demo@localhost> LLMC demo agent"
    assert git("log", "-1", "--format=%B").splitlines()[::2] == [
        "Add a",
        "Because",
        "🤖 Generated with LLMC demo agent",
        "Co-Authored-By: Demo Agent <demo@localhost>",
    ]
    assert git("status", "--porcelain") == ""


def test_a_configured_identity_and_plain_messages_are_kept(git: Run) -> None:
    git("config", "user.name", "Bea")
    git("config", "user.email", "bea@example.com")
    ending("demo:plain-messages\ndemo:write a.txt x\ndemo:commit Add a\ndemo:append a.txt y\ndemo:amend Add more")
    assert git("log", "-1", "--format=%an <%ae>|%B") == "Bea <bea@example.com>|Add more"
    assert git("rev-list", "--count", "HEAD") == "2"


def test_an_amendment_without_words_keeps_the_message(git: Run) -> None:
    ending("demo:write a.txt x\ndemo:commit Add a\ndemo:write b.txt x\ndemo:amend")
    assert git("log", "-1", "--format=%s") == "Add a"
    assert git("show", "--name-only", "--format=").split() == ["a.txt", "b.txt"]


def test_a_prompt_without_a_script_becomes_a_committed_note(git: Run) -> None:
    for _ in range(2):
        assert isinstance(ending("Improve the parser.\n\nIt is slow."), TurnOver)
    assert Path("notes/improve-the-parser.md").read_text() == "Improve the parser.\nImprove the parser.\n"
    assert git("log", "--format=%s").splitlines() == ["Add a note on Improve the parser"] * 2 + ["base"]


@pytest.mark.usefixtures("git")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("demo:replace a.txt x => y", "No such file"),
        ("demo:write a.txt x\ndemo:replace a.txt y => z", "does not contain `y`"),
        ("demo:commit nothing", "nothing to commit"),
        ("demo:dance", "no such verb"),
        ("demo:abort-rebase", "No rebase in progress"),
    ],
)
def test_a_step_that_fails_ends_the_turn_and_says_why(line: str, why: str) -> None:
    over = ending(f"{line}\ndemo:write never.txt x")
    assert isinstance(over, TurnOver)
    assert why in over.last_message
    assert not Path("never.txt").exists()


def test_each_tool_step_is_seen_for_a_while_and_reported() -> None:
    over, seen = done("demo:sleep 7\ndemo:say good\\nbye")
    assert over == TurnOver("good\nbye")
    assert [request.seconds for request in seen if isinstance(request, Pause)] == [0.1, 7, 0.1]
    assert events(seen) == [("activity", "start"), ("activity", "end")]


@pytest.mark.parametrize(
    ("prompt", "how"),
    [
        ("demo:nothing", TurnOver("There is nothing to do.")),
        ("demo:fail auth log in", FailedTurn("auth", "log in")),
        ("demo:crash 7", Crashed(7)),
    ],
)
def test_endings(prompt: str, how: Ending) -> None:
    assert ending(f"{prompt}\ndemo:ask never") == how


def test_yes_goes_on_and_no_stops() -> None:
    assert ending("demo:permit ls\ndemo:say on", Answer(YES)) == TurnOver("on")
    assert ending("demo:ask Go on?\ndemo:say on", Answer("no", typed=True)) == TurnOver("on")
    assert ending("demo:permit ls\ndemo:say on", Answer(NO)) != TurnOver("on")
    over, seen = done("demo:ask Go on?\ndemo:say on", Answer(NO))
    assert over != TurnOver("on")
    assert ("question", "") in events(seen)


def test_a_conflict_is_resolved_by_keeping_both_sides(git: Run) -> None:
    conflicted(
        git,
        "demo:replace f.txt middle => theirs\ndemo:commit theirs",
        "demo:replace f.txt middle => own\ndemo:commit own\ndemo:replace f.txt own => second\ndemo:commit second",
    )
    over = ending("Your rebase has a conflict in f.txt. Incorporate both.")
    assert isinstance(over, TurnOver)
    assert "Kept both sides in f.txt" in over.last_message
    assert Path("f.txt").read_text().startswith("top\ntheirs\n")
    assert "second\n" in Path("f.txt").read_text()
    assert "<<<<" not in Path("f.txt").read_text()
    assert git("log", "--format=%s", "main..").splitlines() == ["second", "own"]
    assert git("status", "--porcelain") == ""


@pytest.mark.parametrize("deleter", ["theirs", "own"])
def test_a_file_that_one_side_deleted_keeps_its_modification(git: Run, deleter: str) -> None:
    delete, modify = "demo:delete f.txt\ndemo:commit gone", "demo:replace f.txt middle => kept\ndemo:commit kept"
    conflicted(git, *((delete, modify) if deleter == "theirs" else (modify, delete)))
    assert isinstance(ending("demo:resolve"), TurnOver)
    assert Path("f.txt").read_text() == "top\nkept\nend\n"
    assert git("branch", "--show-current") == "topic"


def test_a_rebase_is_aborted(git: Run) -> None:
    conflicted(git, "demo:write f.txt theirs\ndemo:commit theirs", "demo:write f.txt own\ndemo:commit own")
    assert ending("demo:abort-rebase") == TurnOver("Aborted the rebase")
    assert Path("f.txt").read_text() == "own\n"


@pytest.mark.usefixtures("git")
def test_without_a_rebase_there_is_nothing_to_resolve() -> None:
    assert ending("demo:resolve") == TurnOver("No rebase is in progress: nothing to resolve")


def test_keeping_both_sides_drops_markers_and_the_ancestor() -> None:
    text = b"a\n<<<<<<< HEAD\nup\n||||||| base\nold\n=======\nown\n>>>>>>> topic\nb\n=======\nc"
    assert keep_both(text) == b"a\nup\nown\nb\n=======\nc"
    assert keep_both(b"plain\r\n") == b"plain\r\n"


def test_an_event_file_appears_complete_and_in_order(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    for text in ("first 世", "second \udcff"):
        spool.report("prompt", {"text": text})
    files = sorted(tmp_path.iterdir())
    assert [json.loads(file.read_text("utf-8"))["text"] for file in files] == ["first 世", "second ?"]
    assert all(file.suffix == ".json" for file in files)


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_a_running_command_can_be_ended_even_against_its_will(trap: str) -> None:
    running = Running(("sh", "-c", f"{trap}echo up; while :; do sleep 1; done"), git_environment({}))
    assert select.select(list(running.pipes), [], [], 10)[0]
    running.end()
    with pytest.raises(ProcessLookupError):
        os.kill(running.pid, 0)


def test_words_of_the_command_line() -> None:
    assert read_words([], "") == Words(0.15, True)
    assert read_words(["--no-events", "--pace", "2"], "") == Words(2, False)
    assert read_words(["--pace", "2"], "0.5").pace == 0.5
    for wrong in (["--pace"], ["--pace", "-1"], ["--pace", "nan"], ["fast"]):
        with pytest.raises(ValueError):
            read_words(wrong, "")
