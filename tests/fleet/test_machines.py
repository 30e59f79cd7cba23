"""A hub with machines: the same words, wherever a worker is."""

from __future__ import annotations

import json
import shlex
import sys

from llmc import __version__
from testing.machines_here import add_machine, machine, task, wait_for, worker
from testing.story import Story, script


def test_a_worker_on_a_machine_from_the_first_word_to_the_landing(story: Story) -> None:
    """One machine is called `hub`, which must mean nothing to anybody."""
    story.begin("here")
    add_machine(story, "hub", "--labels", "gpu", "--slots", "2")
    story.up()
    words = ("--agent", "demo", "--machine", "gpu", "--sandbox", "off", "--exclude-from-pool")
    assert story.json("add", "adam", *words)["machine"] == "hub"
    assert 'sandbox = "off"' in next((story.place / "hub").glob("llmc-*/*/config.toml")).read_text()
    assert "cannot be a supervisor" in story.llmc("add", "boss", *words, "--role", "supervisor", code=1).err
    wait_for(story, "adam", status="idle", machine="hub")
    assert [each["name"] for each in story.json("machine", "list")["machines"]] == ["hub"]
    assert machine(story, "hub")["state"] == "ok"

    receipt = story.json("start", "--worker", "adam", "--prompt", script("write a.txt one\\n", "commit a note"))
    assert (receipt["outcome"], receipt["task"], receipt["machine"]) == ("delivered", "t1", "hub")
    wait_for(story, "adam", status="needs_review", task="t1")
    assert task(story, "t1")["state"] == "review"
    assert "demo agent" in story.llmc("peek", "adam").out
    assert "needs_review" in story.llmc("explain", "adam").out

    story.commit_upstream("other.txt", "by hand\n", "a commit by hand")
    assert "+one" in story.llmc("review").out
    story.llmc("reject", "adam", script("write a.txt two", "commit better"))
    wait_for(story, "adam", status="needs_review")
    assert "+two" in story.llmc("review", "adam").out
    landed = story.json("accept")
    assert (landed["worker"], landed["machine"], landed["reviewed"]) == ("adam", "hub", True)
    assert len(story.subjects()) == 3
    assert (story.repository / "a.txt").read_text() == "two\n"
    wait_for(story, "adam", status="idle", task=None)
    assert (task(story, "t1")["state"], task(story, "t1")["landed_sha"]) == ("landed", landed["commit"])

    assert json.loads(story.llmc("message", "adam", "hello", "--json").out)["outcome"] == "delivered"
    refused = story.llmc("machine", "remove", "hub", code=1)
    assert "adam" in refused.err
    wait_for(story, "adam", status="needs_review")
    assert story.json("nuke", "adam", "here", "--yes")["removed"] == ["here", "adam"]
    story.llmc("machine", "remove", "hub")
    assert story.json("status")["machines"] == []
    assert list((story.place / "hub").glob("llmc-*")) == []


def test_the_queue_gives_tasks_to_machines_by_label_and_room(story: Story) -> None:
    story.begin("here")
    add_machine(story, "n1", "--labels", "gpu", "--slots", "1")
    story.up()
    for name in ("adam", "baker"):
        story.llmc("add", name, "--agent", "demo", "--machine", "n1")
        wait_for(story, name, status="idle")
    for number in (1, 2):
        text = script(f"write {number}.txt x", f"commit number {number}")
        story.llmc("task", "add", text, "--machine", "gpu")
    story.until(lambda: task(story, "t1")["state"] == "review")
    waiting = task(story, "t2")
    assert (waiting["state"], worker(story, "here")["task"]) == ("queued", None)
    assert "slots are taken" in waiting["reason"]
    story.llmc("accept", task(story, "t1")["worker"])
    story.until(lambda: task(story, "t2")["state"] == "review")
    assert task(story, "t2")["attempts"] == 1


def test_a_machine_without_llmc_gets_this_one(story: Story) -> None:
    """All that it has is git, tmux and a Python."""
    story.begin()
    home = story.place / "bare"
    home.mkdir()
    path = f"{sys.base_prefix}/bin:/usr/bin:/bin"
    prefix = shlex.join(["env", "-i", f"HOME={home}", f"PATH={path}", "sh", "-c"])
    refused = story.llmc("machine", "add", "bare", "--command", prefix, "--program", "llmc-of-nobody", code=1)
    assert "it has no llmc" in refused.err
    assert list(home.iterdir()) == []
    story.llmc("machine", "add", "bare", "--command", prefix, "--program", "llmc-of-nobody", "--install")
    assert f"llmc {__version__}" in story.llmc("machine", "check", "bare").out
    story.llmc("machine", "remove", "bare")
