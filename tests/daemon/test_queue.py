"""The daemon gives tasks out: at once, in an order that is allowed, each once, whatever becomes of the daemon."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llmc.core.lifecycle.events import TaskGiven
from llmc.core.tasks.task import Standing
from llmc.model import Session, Work
from testing.story import Story, end_abruptly, script

WORKERS = ("adam", "baker", "clark", "dora", "eve")


def tasks(story: Story) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in story.json("task", "list", "--all")["tasks"]}


def adds(number: int) -> str:
    return script(f"write f{number}.txt {number}", f"commit Task {number}")


def test_a_task_goes_to_whoever_is_free_and_the_next_one_when_it_has_landed(story: Story) -> None:
    story.begin("adam").up()
    story.llmc("task", "add", adds(1))
    story.llmc("task", "add", adds(2))
    story.wait("adam", Work.NEEDS_REVIEW)
    assert {key: each["state"] for key, each in tasks(story).items()} == {"t1": "review", "t2": "queued"}
    assert tasks(story)["t2"]["reason"] == "nobody is free: adam waits for review"
    story.llmc("accept", "adam")
    story.until(lambda: story.worker("adam").task == "t2" and story.worker("adam").work is Work.NEEDS_REVIEW)
    first = story.json("task", "show", "t1")
    assert (first["state"], first["worker"], first["attempts"]) == ("landed", "adam", 1)
    assert first["landed_sha"] == story.git("rev-parse", "main")
    kinds = [each["kind"] for each in first["history"]]
    assert (kinds[0], kinds[-1]) == ("added", "landed")
    assert {"given", "receipt", "needs_review"} <= {*kinds}
    assert first["receipts"][0]["data"]["outcome"] == "delivered"
    told = story.llmc("task", "show", "t1").out
    assert "receipt adam: delivered (hook)\n" in told
    assert " (hook.turn_end)\n" in told


def test_a_worker_that_is_not_fit_gets_nothing_and_the_task_says_why(story: Story) -> None:
    story.begin("adam").up()
    Path(story.worker("adam").worktree_path, "left.txt").write_text("x")
    story.llmc("task", "add", adds(1))
    story.until(lambda: "left.txt" in (story.json("status")["tasks"][0]["reason"] or ""))
    assert story.worker("adam").task == ""
    story.llmc("reset", "adam", "--yes")
    story.wait("adam", Work.NEEDS_REVIEW)


def test_a_task_waits_for_files_that_somebody_changes(story: Story) -> None:
    story.begin("adam", "baker").up()
    story.llmc("start", "--worker", "adam", script("write shared.txt x", "commit Change shared"))
    story.wait("adam", Work.NEEDS_REVIEW)
    touched = Path(story.root.touched_file)
    story.until(lambda: touched.exists() and "shared.txt" in touched.read_text())
    story.llmc("task", "add", adds(2), "--touches", "shared.txt")
    story.until(lambda: story.json("status")["tasks"][0]["reason"] == "t1 (adam) is at shared.txt")
    assert story.worker("baker").task == ""
    story.llmc("accept", "adam")
    story.until(lambda: tasks(story)["t2"]["state"] == "review")


def test_a_running_daemon_and_starts_by_hand_do_not_get_in_each_others_way(story: Story) -> None:
    story.begin("adam", "baker").up()
    for number in range(1, 5):
        story.llmc("task", "add", adds(number))
    said = [story.try_llmc("start", adds(10 + n), "--queue", "--json") for n in range(2)]
    assert [each.code for each in said] == [0, 0], said
    story.until(lambda: accept_all(story) == 6)
    assert sorted(story.subjects()[-6:]) == sorted(f"Task {n}" for n in (1, 2, 3, 4, 10, 11))


def accept_all(story: Story) -> int:
    """Accepts whatever waits for it. How many tasks have landed by then, whoever did it."""
    for name, worker in story.site.ledger.load().workers.items():
        if worker.work is Work.NEEDS_REVIEW and not worker.pending:
            story.try_llmc("accept", name)
    return sum(task.standing is Standing.LANDED for task in story.site.ledger.tasks.all())


def test_the_agent_gets_the_title_of_a_task_too(story: Story) -> None:
    story.begin("adam").up()
    story.llmc("task", "add", f"With a form.\n{adds(1)}", "--title", "Add a login page")
    worker = story.wait("adam", Work.NEEDS_REVIEW)
    assert worker.current_prompt.startswith("Add a login page\n\nWith a form.")


# --- a plan of thirty -------------------------------------------------------------------------------


def plan_of(count: int, place: Path) -> dict[str, list[str]]:
    """Tasks of which many come after others; what each comes after."""
    after = {
        f"Task {n}": [f"Task {n // 2}"] * (n > 1) + [f"Task {n - 5}"] * (n > 5 and n % 3 == 0)
        for n in range(1, count + 1)
    }
    parts = [
        f"## {title}\nafter: {', '.join(dict.fromkeys(others))}\n\n{adds(int(title.split()[1]))}\n"
        for title, others in after.items()
    ]
    place.write_text("\n".join(parts))
    return after


def assert_landed_in_order(story: Story, after: dict[str, list[str]]) -> None:
    """One commit for each, and none before those that it comes after."""
    order = [subject for subject in story.subjects() if subject.startswith("Task ")]
    assert sorted(order) == sorted(after)
    for title, others in after.items():
        assert all(order.index(other) < order.index(title) for other in others), order
    assert all(each["state"] == "landed" for each in tasks(story).values())
    landed = [each["landed_sha"] for each in tasks(story).values()]
    assert len({*landed}) == len(after)


def test_thirty_tasks_of_a_plan_land_in_an_allowed_order(story: Story) -> None:
    story.begin(*WORKERS).up()
    plan = story.place / "plan.md"
    after = plan_of(30, plan)
    story.llmc("task", "import", str(plan))
    deadline = time.monotonic() + 400
    while accept_all(story) < len(after):
        assert time.monotonic() < deadline, story.account()
    assert_landed_in_order(story, after)


def test_tasks_land_once_each_though_the_daemon_is_killed_again_and_again(story: Story) -> None:
    land_with_kills(story, 8, WORKERS[:3])


@pytest.mark.hazard
def test_thirty_tasks_land_once_each_though_the_daemon_is_killed_again_and_again(story: Story) -> None:
    """`make queue` runs this one."""
    land_with_kills(story, 30, WORKERS)


def land_with_kills(story: Story, count: int, workers: tuple[str, ...]) -> None:
    story.begin(*workers).up()
    plan = story.place / "plan.md"
    after = plan_of(count, plan)
    story.llmc("task", "import", str(plan))
    deadline = time.monotonic() + 60 * count
    while (landed := accept_all(story)) < len(after):
        assert time.monotonic() < deadline, story.account()
        story.until(lambda landed=landed: accept_all(story) > landed or _stuck(story))
        _answer_for(story)
        end_abruptly(story.daemon())
        accept_all(story)
        story.up()
    assert_landed_in_order(story, after)


def test_what_a_killed_daemon_has_left_in_the_input_line_is_nobodys_draft(story: Story) -> None:
    """Killed between typing the agent's own command for a new conversation and the Enter."""
    story.begin("adam").up()
    end_abruptly(story.daemon())
    given = story.site.ledger.apply("adam", TaskGiven(time.time(), adds(1), adds(1))).worker
    _, clear, text = given.pending
    story.rewrite("adam", pending=(replace(clear, begun=True), text))
    story.site.tmux.type_text(story.pane("adam").id, "/clear")
    story.until(lambda: "/clear" in story.screen("adam").partition("demo agent")[0])
    story.up()
    story.wait("adam", Work.NEEDS_REVIEW)
    assert (tasks(story)["t1"]["attempts"], story.prompts("adam")) == (1, 1)


def _stuck(story: Story) -> bool:
    """A text of which it is not known whether it has arrived is for a person to look at."""
    return any(worker.work is Work.NEEDS_INPUT for worker in story.site.ledger.load().workers.values())


def _answer_for(story: Story) -> None:
    for name, worker in story.site.ledger.load().workers.items():
        if worker.work is Work.NEEDS_INPUT:
            story.try_llmc("message", name, worker.current_prompt)


# --- trying again -----------------------------------------------------------------------------------

AUTO = {"policy__autonomy": "auto", "policy__restart_backoff_secs": "0.1", "policy__crash_limit": "1"}


def test_an_agent_that_stops_without_a_commit_is_told_to_go_on(story: Story) -> None:
    story.begin("adam", **AUTO).up()
    story.llmc("task", "add", script("say I have looked around."))
    story.wait("adam", Work.NEEDS_REVIEW)
    shown = story.json("task", "show", "t1")
    retried = [each["detail"] for each in shown["history"] if each["kind"] == "retried"]
    assert retried == ["stopped without a commit: I have looked around."]
    assert [each["data"]["purpose"] for each in shown["receipts"]] == ["task", "message"]
    assert (shown["worker"], shown["attempts"]) == ("adam", 2)
    assert not any("waits for you" in each.detail for each in story.events("adam", "notice"))


def test_without_tries_left_a_person_is_called(story: Story) -> None:
    story.begin("adam", **AUTO, tasks__retries="0").up()
    story.llmc("task", "add", script("say I have looked around."))
    story.wait("adam", Work.NEEDS_INPUT)
    story.until(lambda: any("waits for you" in each.detail for each in story.events("adam", "notice")))
    assert (tasks(story)["t1"]["state"], tasks(story)["t1"]["attempts"]) == ("needs_you", 1)


def test_a_task_that_its_agent_crashes_at_goes_to_somebody_else_and_then_to_a_person(story: Story) -> None:
    story.begin("adam", "baker", **AUTO).up()
    story.llmc("task", "add", script("sleep 1", "crash 3"))
    story.until(lambda: tasks(story)["t1"]["attempts"] == 2 and tasks(story)["t1"]["state"] == "needs_you")
    shown = story.json("task", "show", "t1")
    first, second = (each["worker"] for each in shown["history"] if each["kind"] == "given")
    assert {first, second} == {"adam", "baker"}
    assert "this task was given to a worker before and came to nothing" in shown["more"]
    assert story.worker(first).work is Work.IDLE
    assert story.worker(second).work is Work.ERROR
    assert "came to nothing" in story.worker(second).current_prompt


def test_without_auto_nothing_is_tried_again(story: Story) -> None:
    story.begin("adam").up()
    story.llmc("task", "add", script("say Nothing to do."))
    story.wait("adam", Work.NEEDS_INPUT)
    story.llmc("reset", "adam", "--yes")
    story.until(lambda: tasks(story)["t1"]["state"] == "failed")
    story.wait("adam", Work.IDLE, Session.UP)
    assert story.site.ledger.tasks.task("t1").standing is Standing.FAILED
    story.llmc("task", "retry", "t1", script("write a.txt a", "commit Add a"))
    story.wait("adam", Work.NEEDS_REVIEW)
    assert tasks(story)["t1"]["attempts"] == 2


@pytest.mark.parametrize("words", [("say Which one do you want?",), ("ask Which one?", "write a.txt a", "commit A")])
def test_an_agent_that_asks_is_left_to_a_person(story: Story, words: tuple[str, ...]) -> None:
    story.begin("adam", **AUTO).up()
    story.llmc("task", "add", script(*words))
    story.wait("adam", Work.NEEDS_INPUT)
    story.llmc("patrol")
    assert (tasks(story)["t1"]["state"], tasks(story)["t1"]["attempts"]) == ("needs_you", 1)
