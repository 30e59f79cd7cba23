"""Work of machines beside work that is here: one train, terminals, and a machine that goes and comes back."""

from __future__ import annotations

from llmc.fleet.terminals import terminal_elsewhere
from testing.machines_here import add_machine, cut, heal, machine, machine_root, task, wait_for, worker
from testing.story import Story, script


def test_the_train_takes_work_from_everywhere_and_a_machine_lands_nothing_itself(story: Story) -> None:
    story.begin("here", repo__validate='["test ! -e bad.txt"]')
    add_machine(story, "n1")
    story.up()
    for name in ("adam", "baker"):
        story.llmc("add", name, "--agent", "demo", "--machine", "n1")
        wait_for(story, name, status="idle", machine="n1")
    files = {"here": "here.txt", "adam": "adam.txt", "baker": "bad.txt"}
    for name, path in files.items():
        story.llmc("start", "--worker", name, "--prompt", script(f"write {path} x", f"commit note of {name}"))
    for name in files:
        wait_for(story, name, status="needs_review")
        story.llmc("review", name)

    own_root = Story(story.place)
    refused = own_root.try_llmc("--root", machine_root(story, "n1").path, "accept", "adam")
    assert (refused.code, "of a hub" in refused.err) == (1, True)

    said = {each["worker"]: each for each in story.json("accept", "adam", "here", "baker", code=1)}
    assert (said["adam"]["commit"], said["here"]["commit"]) != ("", "")
    assert said["baker"]["state"] == "sent back"
    assert sorted(story.subjects()[1:]) == ["note of adam", "note of here"]
    wait_for(story, "adam", status="idle", task=None)
    assert {task(story, each)["state"] for each in ("t1", "t2")} == {"landed"}
    wait_for(story, "baker", status="needs_review")  # it has the output of the check, and has done nothing about it

    terminal = terminal_elsewhere(story.site, "adam")
    assert terminal is not None
    frame = terminal.look()
    terminal.type(b"typed from afar")
    while frame is None or not any("typed from afar" in row for row in frame.rows):
        frame = terminal.look()
    terminal.close()


def test_a_machine_that_is_given_up_frees_its_task_and_brings_its_work_when_it_is_back(story: Story) -> None:
    story.begin("here")
    add_machine(story, "n1")
    story.up()
    story.llmc("add", "adam", "--agent", "demo", "--machine", "n1")
    wait_for(story, "adam", status="idle")
    story.llmc("start", "--worker", "adam", "--prompt", script("write a.txt mine", "commit unfinished", "hang"))
    story.until(lambda: worker(story, "adam")["commit_sha"] is not None or worker(story, "adam")["work"] == "working")
    cut(story, "n1")
    story.until(lambda: machine(story, "n1")["state"] == "unreachable")
    assert "machine-silent" in story.try_llmc("doctor").out
    assert "unreachable" in story.llmc("status").out
    assert "pass --yes" in story.llmc("machine", "lost", "n1", code=1).err
    assert story.json("machine", "lost", "n1", "--yes")["freed"] == ["t1"]
    story.until(lambda: worker(story, "here")["task"] == "t1")
    assert "given up" in story.llmc("message", "adam", "hello", code=1).err
    heal(story, "n1")
    story.until(lambda: machine(story, "n1")["state"] == "ok")
    wait_for(story, "adam", status="idle", task=None)
    assert [each["worker"] for each in story.json("undo", "adam", "--list")] == ["adam"]
    assert "is back" in story.llmc("events").out
    assert worker(story, "here")["task"] == "t1"
