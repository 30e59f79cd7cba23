"""With `validate_on = "review"` work is checked as soon as it waits, and whoever has to know is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from llmc.host.processes import is_running
from llmc.model import Work
from testing.story import Story, end_abruptly
from testing.waiting import wait_until


def begin(story: Story, *commands: str, **settings: str) -> None:
    story.begin("adam", repo__validate=json.dumps(commands), repo__validate_on="review", **settings)
    story.up()


def checks(story: Story) -> dict[str, Any]:
    (worker,) = story.json("status", "--json")["workers"]
    found: dict[str, Any] = worker["checks"]
    return found


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_work_is_checked_as_soon_as_it_waits_and_accept_runs_nothing(story: Story, tmp_path: Path) -> None:
    begin(story, f"echo ran >> {tmp_path}/log; test -f a.txt")
    assert checks(story) == {"state": "none", "failed": None, "at_unix": None}
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: checks(story)["state"] == "passed")
    assert "passed" in story.llmc("explain", "adam").out
    shown = story.llmc("review", "adam").out
    assert "ago on this very tree: `echo ran" in shown
    told = story.json("review", "adam", "--json")["checks"]
    assert (told["state"], told["failed"], len(told["results"])) == ("passed", None, 1)
    story.llmc("accept", "adam")
    assert lines(tmp_path / "log") == ["ran"]
    assert checks(story)["state"] == "none"


def test_a_failure_reaches_the_person_everywhere(story: Story) -> None:
    begin(story, "echo the reason; exit 3")
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: checks(story)["state"] == "failed")
    assert checks(story)["failed"] == "echo the reason; exit 3"
    failed = "`echo the reason; exit 3` failed with exit code 3"
    assert story.worker("adam").evidence.detail == failed
    assert story.worker("adam").work is Work.NEEDS_REVIEW
    story.until(lambda: any(failed in event.detail for event in story.events("adam") if event.kind == "notice"))
    assert failed in story.llmc("explain", "adam").out
    shown = story.llmc("review", "adam").out
    assert failed in shown
    assert shown.endswith('its checks fail: send it back with `llmc reject adam "..."`\n')
    assert "its checks fail: `llmc reject adam ...` sends it back" in story.llmc("explain", "adam").out
    assert "the reason\n" in shown
    assert story.json("review", "adam", "--json")["checks"]["results"][0]["output"] == "the reason\n"
    history = story.site.ledger.tasks.history(story.worker("adam").task)
    assert [event.detail for event in history if event.kind == "checked"] == [failed]
    assert [each["detail"] for each in story.json("task", "show", "t1")["checks"]] == [failed]


def test_a_clean_rebase_is_checked_like_any_other_work(story: Story, tmp_path: Path) -> None:
    begin(story, f"ls >> {tmp_path}/log; test ! -e b.txt")
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: checks(story)["state"] == "passed")
    story.commit_upstream("b.txt", "b\n", "Meanwhile")
    story.until(lambda: checks(story)["state"] == "failed")
    assert lines(tmp_path / "log") == ["README", "a.txt", "README", "a.txt", "b.txt"]


def test_what_one_run_found_is_in_the_history_once(story: Story) -> None:
    begin(story, "test -f a.txt")
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: checks(story)["state"] == "passed")
    story.commit_upstream("b.txt", "b\n", "Meanwhile")
    tasks, task = story.site.ledger.tasks, story.worker("adam").task

    def checked() -> list[object]:
        return [event.data["tree"] for event in tasks.history(task) if event.kind == "checked"]

    story.until(lambda: len(checked()) == 2)
    story.llmc("rebase", "adam")  # another commit, with the tree that was checked
    story.until(lambda: checks(story)["state"] == "passed")
    assert len(checked()) == 2


def test_with_auto_the_agent_gets_what_failed_once_for_each_tree(story: Story, tmp_path: Path) -> None:
    # What the check says is what the scripted agent reads in its request, and does.
    check = "! test -e a.txt || test -e mended.txt || { echo demo:write mended.txt x; echo demo:commit Mend; exit 1; }"
    begin(story, check, policy__autonomy="auto")
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: checks(story)["state"] == "passed")
    branch = ("log", "--format=%s", "origin/main..llmc/adam")
    assert story.git(*branch, cwd=story.root.path).splitlines() == ["Mend", "Add a"]
    assert len(story.events("adam", "command.reject")) == 1


def test_what_is_not_mended_is_left_to_the_person(story: Story) -> None:
    begin(story, "echo no good; ! test -e a.txt", policy__autonomy="auto")
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: len(story.events("adam", "checks")) == 2 and checks(story)["state"] == "failed")
    assert story.worker("adam").work is Work.NEEDS_REVIEW
    assert len(story.events("adam", "command.reject")) == 1


def test_a_daemon_that_ends_ends_its_checks_and_the_next_one_begins_them_again(story: Story, tmp_path: Path) -> None:
    begin(story, f"echo $$ >> {tmp_path}/pids; test -e {tmp_path}/go || exec sleep 1000")
    story.work("adam", "write a.txt x", "commit Add a")
    wait_until(lambda: lines(tmp_path / "pids"))
    assert checks(story)["state"] == "running"
    story.llmc("down")
    assert not is_running(int(lines(tmp_path / "pids")[0]))
    assert checks(story)["state"] == "none"
    story.up()
    wait_until(lambda: len(lines(tmp_path / "pids")) == 2)
    (tmp_path / "go").touch()
    end_abruptly(story.daemon())
    story.up()
    story.until(lambda: checks(story)["state"] == "passed")
    assert not is_running(int(lines(tmp_path / "pids")[1]))


def test_the_check_of_a_worker_that_is_removed_ends(story: Story, tmp_path: Path) -> None:
    begin(story, f"echo $$ >> {tmp_path}/pids; exec sleep 1000")
    story.work("adam", "write a.txt x", "commit Add a")
    wait_until(lambda: lines(tmp_path / "pids"))
    story.llmc("nuke", "adam", "--yes")
    wait_until(lambda: not is_running(int(lines(tmp_path / "pids")[0])))
    assert not Path(story.root.checks_file("adam")).exists()


def test_a_long_check_keeps_nobody_waiting(story: Story, tmp_path: Path) -> None:
    begin(story, f"while ! test -e {tmp_path}/go; do sleep 0.1; done", repo__validate_jobs="1")
    story.llmc("add", "bea", "--agent", "demo")
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: checks_of(story, "adam")["state"] == "running")
    assert "no result for this tree yet" in story.llmc("review", "adam").out
    story.work("bea", "write b.txt x", "commit Add b")
    assert checks_of(story, "bea")["state"] == "none"
    (tmp_path / "go").touch()
    story.until(lambda: {checks_of(story, name)["state"] for name in ("adam", "bea")} == {"passed"})


def checks_of(story: Story, name: str) -> dict[str, Any]:
    workers = story.json("status", "--json")["workers"]
    found: dict[str, Any] = next(each["checks"] for each in workers if each["name"] == name)
    return found


def test_checks_that_cannot_run_say_why(story: Story) -> None:
    begin(story, "true")
    story.llmc("config", "set", "repo.setup", '["echo no network; false"]')
    story.rewrite("adam", set_up=True)
    story.work("adam", "write a.txt x", "commit Add a")
    story.until(lambda: "could not be set up" in story.llmc("explain", "adam").out)
    story.until(lambda: checks(story)["state"] == "none")  # it may be tried again in this very moment
