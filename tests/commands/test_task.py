"""`llmc task`: every word of it, and what is refused. No agent runs here."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.commands.shared.task_words import table_of
from llmc.core.tasks.task import Standing, Task, TaskState, TaskView
from llmc.model import Work
from testing.disks import FULL, llmc_on_disk
from testing.story import Story


def states(story: Story, *words: str) -> dict[str, str]:
    return {each["id"]: each["state"] for each in story.json("task", "list", *words)["tasks"]}


def add(story: Story, *words: str) -> str:
    made: str = story.json("task", "add", *words)["id"]
    return made


def test_a_task_is_queued_listed_and_shown(story: Story) -> None:
    story.begin("adam")
    assert "no tasks wait" in story.llmc("task").out
    assert story.json("task") == story.json("task", "list") == {"schema": 1, "tasks": []}
    said = story.json("task", "add", "Add a page\n\nwith a form", "--touches", "src/a", "src/b", "--priority", "-2")
    assert (said["id"], said["title"], said["touches"], said["priority"]) == (
        "t1",
        "Add a page",
        ["src/a", "src/b"],
        -2,
    )
    assert add(story, "Test it", "--after", "t1", "--title", "Tests", "--worker", "adam", "--auto-accept") == "t2"
    assert add(story, "--after", "t1", "t2", "--after", "t1,t2", "And more", "--agent", "demo", "--hold") == "t3"
    first, second, third = story.json("task")["tasks"]
    assert json.loads(story.llmc("--json", "task", "list").out) == story.json("task")
    wanted = {"id", "title", "text", "state", "worker", "after", "priority", "attempts", "landed_sha", "reason"}
    assert wanted <= first.keys()
    assert (second["title"], second["after"], second["reason"]) == ("Tests", ["t1"], "t1 must land first")
    assert (third["after"], third["state"], third["reason"]) == (["t1", "t2"], "held", "held by you")
    shown = story.llmc("task", "show", "t2").out
    assert all(words in shown for words in ("t2 Tests", "state: queued", "after: t1", "only for: worker adam", "added"))
    whole = story.json("task", "show", "t1")
    assert (whole["text"], whole["usage"], whole["machine"], whole["receipts"]) == (
        "Add a page\n\nwith a form",
        None,
        None,
        [],
    )
    assert "2 queued, 1 held" in story.llmc("task", "list").out
    assert "no daemon runs" in story.llmc("task", "list").out


def test_a_text_comes_from_a_file_or_a_template(story: Story) -> None:
    story.begin()
    place = story.place / "task.md"
    place.write_text("From a file\n")
    templates = Path(story.root.inside("templates"))
    templates.mkdir(exist_ok=True)
    (templates / "fix.md").write_text("Fix {what}\n")
    add(story, "--file", str(place))
    add(story, "--template", "fix", "--set", "what=it")
    assert [each["text"] for each in story.json("task")["tasks"]] == ["From a file\n", "Fix it\n"]
    said = story.llmc("task", "add", "x", "--file", str(place), code=2)
    assert "given twice" in said.err
    assert "there is no text" in story.llmc("task", "add", code=2).err


def test_tasks_are_held_released_cancelled_and_tried_again(story: Story) -> None:
    story.begin()
    for n in range(3):
        add(story, f"Task {n}")
    story.llmc("task", "hold", "t1", "t2")
    assert states(story) == {"t1": "held", "t2": "held", "t3": "queued"}
    story.llmc("task", "release", "t1")
    story.llmc("task", "cancel", "t2", "t3")
    assert states(story) == {"t1": "queued"}
    assert states(story, "--all") == {"t1": "queued", "t2": "cancelled", "t3": "cancelled"}
    again = story.json("task", "retry", "t3", "Use the helper")
    assert (again["state"], again["more"]) == ("queued", "Use the helper")
    kinds = [each["kind"] for each in story.json("task", "show", "t3")["history"]]
    assert kinds == ["added", "cancelled", "retried"]


def test_a_task_is_edited_while_no_worker_has_it(story: Story) -> None:
    story.begin("adam")
    add(story, "Add a page", "--worker", "adam")
    said = story.json("task", "edit", "t1", "--text", "Add two pages", "--priority", "3", "--worker", "")
    assert (said["text"], said["title"], said["priority"]) == ("Add two pages", "Add two pages", 3)
    assert said["wants"]["worker"] is None
    story.rewrite("adam", task="t1", work=Work.WORKING, current_prompt="Add two pages")
    for words in (("edit", "t1", "--priority", "1"), ("cancel", "t1"), ("hold", "t1"), ("retry", "t1")):
        said = story.llmc("task", *words, code=1)
        assert " be " in said.err
        assert ": it is at adam\n" in said.err
        assert "adam has it: `llmc message adam ...` tells it more, `llmc reset adam` takes it away" in said.err
    assert story.json("task")["tasks"][0]["worker"] == "adam"
    said = story.llmc("explain", "t1", code=1).err
    assert "there is no worker named 't1'\nhint: the task t1 is with adam: `llmc explain adam`; the workers are" in said
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha="a" * 40)
    said = story.llmc("task", "cancel", "t1", code=1).err
    assert "t1 cannot be cancelled: it waits for your review at adam\n" in said
    assert "`llmc review adam` shows it" in said


def test_nothing_is_changed_when_one_of_several_cannot_be(story: Story) -> None:
    story.begin()
    add(story, "One")
    add(story, "Two", "--hold")
    refused = "t1 cannot be released: it is queued; none of these tasks was changed\n"
    assert refused in story.llmc("task", "release", "t2", "t1", code=1).err
    assert "there is no task 't9'" in story.llmc("task", "cancel", "t1", "t9", code=1).err
    assert states(story) == {"t1": "queued", "t2": "held"}


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("task", "show", "t9"), 1, "there is no task 't9'"),
        (("task", "show", "nine"), 2, "it must be the id of a task"),
        (("task", "cancel", "t01"), 1, "there is no task 't01'"),
        (("undo", "--landing", f"t{10**30}"), 1, "there is no task 't1000"),
        (("task", "add", "x", "--after", "t9"), 1, "there is no task t9"),
        (("task", "add", "x", "--worker", "eve"), 1, "there is no worker named 'eve'"),
        (("task", "add", "x", "--agent", "nobody"), 1, "nobody"),
        (("task", "add", "x", "--priority", "high"), 2, "it must be a whole number"),
        (("task", "add", "x", "--touches", "/etc"), 2, "inside the repository"),
        (("task", "add", "x", "--touches", "src,../x"), 2, "inside the repository"),
        (("task", "add", "x\x1b[31m"), 2, "control character"),
        (("task", "edit", "t1", "--after", "t2"), 1, "these tasks would wait for each other: t1 -> t2 -> t1"),
        (("task", "edit", "t1", "--after", "t1"), 1, "t1 -> t1"),
        (("task", "retry", "t1"), 1, "t1 cannot be tried again: it is queued"),
        (("task", "import", "missing.md"), 1, "there is no file missing.md"),
        (("task", "frob"), 2, "there is no command 'frob'"),
        (("task", "t1"), 2, "did you mean `llmc task show t1`?"),
        (("task", "run-next"), 1, "none of the tasks that wait can go to anybody now"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(story: Story, words, code, error) -> None:
    story.begin()
    add(story, "One")
    add(story, "Two", "--after", "t1")
    before = story.json("task", "list", "--all")
    said = story.llmc(*words, code=code)
    assert error in said.err
    assert "hint: " in said.err
    assert story.json("task", "list", "--all") == before


def test_a_plan_is_queued_whole_or_not_at_all(story: Story) -> None:
    story.begin("adam")
    plan = story.place / "plan.md"
    plan.write_text("## A\n\n## B\nafter: A\nworker: adam\n\n## C\nafter: A, B\n")
    made = story.json("task", "import", str(plan))["tasks"]
    assert [(each["id"], each["after"]) for each in made] == [("t1", []), ("t2", ["t1"]), ("t3", ["t1", "t2"])]
    for wrong in (
        "## D\n## E\nworker: eve\n",
        "## D\nafter: E\n## E\nafter: D\n",
        "## D\nafter: X\n",
    ):
        plan.write_text(wrong)
        assert "hint: " in story.llmc("task", "import", str(plan), code=1).err
    plan.write_text("## D\n\x1b[31m\n")
    assert "control character" in story.llmc("task", "import", str(plan), code=2).err
    assert list(states(story)) == ["t1", "t2", "t3"]
    plan.write_text("## D\nafter: t3\n")
    assert story.json("task", "import", str(plan))["tasks"][0]["after"] == ["t3"]


def test_a_plan_may_be_long_and_come_from_any_system(story: Story) -> None:
    story.begin()
    plan = story.place / "plan.md"
    text = "x" * 100_000
    plan.write_bytes("".join(f"## Task {n}\r\nfirst\r\n{text}\r\n" for n in range(12)).encode())
    made = story.json("task", "import", str(plan))["tasks"]
    assert [each["text"] for each in made] == [f"first\n{text}"] * 12
    plan.write_text("## Re\x1bd\n")
    assert "control character" in story.llmc("task", "import", str(plan), code=2).err


def test_the_graph_is_drawn_in_three_ways(story: Story) -> None:
    story.begin()
    add(story, 'A "first"')
    add(story, "B", "--after", "t1")
    add(story, "C", "--after", "t1,t2")
    assert story.llmc("task", "graph").out == ('t1 queued: A "first"\n  t2 queued: B\n  t3 queued: C (also after t2)\n')
    mermaid = story.llmc("task", "graph", "--format", "mermaid").out
    assert "graph TD\n  t1[\"t1: A 'first' (queued)\"]\n" in mermaid
    assert "  t1 --> t2\n" in mermaid
    assert "  t2 -> t3;\n" in story.llmc("task", "graph", "--format", "dot").out
    assert story.json("task", "graph")["edges"] == [["t1", "t2"], ["t1", "t3"], ["t2", "t3"]]


def test_status_has_what_waits_and_counts_the_rest(story: Story) -> None:
    story.begin("adam")
    document = story.json("status")
    assert (document["tasks"], set(document["task_counts"].values())) == ([], {0})
    assert document["machines"] == []
    assert all({"task", "machine", "asked", "last_words", "checks", "usage"} <= {*each} for each in document["workers"])
    for number in range(1, 7):
        add(story, f"Task {number}", "--priority", str(number))
    story.llmc("task", "hold", "t1")
    story.llmc("task", "cancel", "t2")
    store = story.site.ledger.tasks
    store.began("t3", "adam", 1.0)
    store.began("t4", "eve", 1.0)
    story.rewrite("adam", task="t3", work=Work.WORKING, current_prompt="Task 3")
    document = story.json("status")
    assert [(each["id"], each["state"]) for each in document["tasks"]] == [
        *(("t6", "queued"), ("t5", "queued"), ("t1", "held"), ("t4", "failed")),
    ]
    assert document["task_counts"] == {"queued": 2, "held": 1, "failed": 1, "cancelled": 1, "landed": 0}
    assert document["workers"][0]["task"] == "t3"
    words = "tasks: 2 queued, 1 held, 1 failed; t4 failed: eve had it, and its record names it no longer; `llmc task`"
    assert words in story.llmc("status").out
    story.rewrite("adam", task="t5")  # before anybody could note it
    assert story.json("status")["task_counts"]["queued"] == 1


def test_a_start_with_nobody_free_names_the_queue_and_may_use_it(story: Story) -> None:
    story.begin("adam")
    assert (
        "`llmc start --queue ...` or `llmc task add ...` queues the task"
        in story.llmc("start", "Add a page", code=1).err
    )
    assert story.json("start", "Add a page", "--queue")["id"] == "t1"
    assert story.json("start", "Another", "--queue", "--worker", "adam")["wants"]["worker"] == "adam"
    assert "--wait and --queue exclude each other" in story.llmc("start", "A", "--queue", "--wait", code=2).err
    assert states(story) == {"t1": "queued", "t2": "queued"}


# --- a database that cannot be used -----------------------------------------------------------------


def test_a_locked_database_is_told_and_nothing_is_changed(story: Story) -> None:
    story.begin()
    add(story, "One")
    with sqlite3.connect(story.root.tasks) as other:
        other.execute("BEGIN IMMEDIATE")
        said = story.llmc("task", "add", "Two", code=1)
    assert "database is locked" in said.err
    assert "another program holds it" in said.err
    assert list(states(story)) == ["t1"]


def test_a_damaged_database_is_told_and_kept(story: Story) -> None:
    story.begin()
    Path(story.root.tasks).write_bytes(b"no database at all" * 100)
    for words in (("task",), ("task", "add", "x"), ("task", "show", "t1")):
        assert "`llmc doctor --repair` sets it aside" in story.llmc(*words, code=1).err
    assert Path(story.root.tasks).read_bytes().startswith(b"no database")
    story.llmc("status")


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_what_stands_in_place_of_the_database_is_told_and_nothing_begins_anew(story: Story, kind: str) -> None:
    story.begin()
    add(story, "One")
    story.site.ledger.tasks.database.close()
    path, kept = Path(story.root.tasks), story.place / "kept.db"
    path.rename(kept)
    {"link": lambda: path.symlink_to(kept), "pipe": lambda: os.mkfifo(path), "directory": path.mkdir}[kind]()
    before = path.lstat()
    for words in (("task",), ("task", "add", "x"), ("task", "show", "t1")):
        assert "tasks.db cannot be used: it is " in story.llmc(*words, code=1).err
    assert path.lstat().st_ino == before.st_ino
    story.llmc("status")


def test_a_full_disk_is_told_and_nothing_is_half_done(story: Story) -> None:
    story.begin()
    add(story, "One")
    plan = story.place / "plan.md"
    plan.write_text("".join(f"## Task {n}\n{'x' * 4000}\n" for n in range(50)))
    said = llmc_on_disk(FULL, story.root.path, story.place, "task", "import", str(plan))
    assert said.returncode == 1, said
    assert "hint: " in said.stderr
    assert "full" in said.stderr
    assert json.loads(story.llmc("task", "--json").out)["tasks"][0]["title"] == "One"


def test_a_task_whose_start_was_cut_short_is_held_and_can_be_released(story: Story) -> None:
    story.begin()
    from llmc.core.tasks.task import Task
    from llmc.store.ledger import BEING_STARTED

    cut = Task("", "One", "One", 1.0, standing=Standing.HELD, reason=BEING_STARTED)
    story.site.ledger.tasks.add(cut, at=1.0)
    assert "the start was cut short" in story.llmc("task").out
    story.llmc("task", "release", "t1")
    assert states(story) == {"t1": "queued"}


def test_the_table_fits_the_terminal() -> None:
    task = Task("t10", "x", "A title that is " + "very " * 15 + "long", 0.0, priority=3)
    why = "nobody is free: adam, baker wait for review; carol asks"
    views = [TaskView(task, TaskState.QUEUED, reason=why), TaskView(replace(task, id="t9"), TaskState.REVIEW, "adam")]
    assert table_of(views, None)[0] == f"t10  queued        {task.title} (priority 3)  {why}"
    for columns in (60, 80, 120):
        assert all(len(line) <= columns for line in table_of(views, columns))
    assert [line[:18] for line in table_of(views, 80)] == ["t10  queued       ", "t9   review  adam "]
    assert why[:20] in table_of(views, 80)[0]
