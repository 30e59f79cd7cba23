"""`llmc doctor --rebuild`: the state again, from what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmc.app import open_site
from llmc.cli.main import main
from llmc.core.lifecycle import events as ev
from llmc.model import Session, Work
from llmc.store.config_file import set_worker_table
from llmc.store.state_file import StateFile
from testing.damage import adam as adam
from testing.damage import commit, start_agent, start_conflict
from testing.damage import git as git
from testing.damage import root as root
from testing.damage import source as source
from testing.roots import add_worker, own_tmux


@pytest.fixture
def rebuilt(root, capsys):
    def run():
        for name in ("state.json", "state.json.bak"):
            Path(root.path, name).unlink(missing_ok=True)
        capsys.readouterr()
        assert main(["--root", root.path, "doctor", "--rebuild", "--yes", "--json"]) == 0
        known = {each["name"]: each["known_from"] for each in json.loads(capsys.readouterr().out)["workers"]}
        return StateFile(root.path).load().workers, known

    return run


def test_nobody_to_ask(root, adam, capsys):
    before = Path(root.path, "state.json").read_bytes()
    assert main(["--root", root.path, "doctor", "--rebuild"]) == 1
    said = capsys.readouterr()
    assert "adam: idle" in said.out
    assert "state.json is fine, though" in said.out
    assert "hint: pass --yes" in said.err
    assert Path(root.path, "state.json").read_bytes() == before


def test_what_was_there_is_kept_aside(root, adam, capsys):
    Path(root.path, "state.json").write_text("{ohoh")
    assert main(["--root", root.path, "doctor", "--rebuild", "--yes"]) == 0
    assert [each.read_text() for each in Path(root.path).glob("state.json.aside-*")] == ["{ohoh"]


def test_branches_decide(rebuilt, root, git):
    add_worker(root, "idle")
    done = add_worker(root, "done")
    sha = commit(git, done.worktree_path)
    add_worker(root, "draft")
    Path(root.worktree("draft"), "draft.txt").write_text("draft\n")
    found, known = rebuilt()
    assert {name: worker.work for name, worker in found.items()} == {
        "idle": Work.IDLE,
        "done": Work.NEEDS_REVIEW,
        "draft": Work.NEEDS_INPUT,
    }
    assert (found["done"].commit_sha, found["done"].base_sha) == (sha, done.base_sha)
    assert found["done"].status == "offline"
    assert known["done"]["work"] == "its branch has commits of its own"


def test_a_rebase_that_is_under_way(rebuilt, root, adam, git):
    start_conflict(git, adam.worktree_path)
    worker = rebuilt()[0]["adam"]
    assert (worker.work, worker.conflicted_files) == (Work.REBASING, ("README",))
    assert worker.rebase_started_at_unix is not None


def test_work_that_was_merged_elsewhere_is_no_work(rebuilt, root, adam, source, git):
    commit(git, adam.worktree_path)
    (source / "work.txt").write_text("work\n")
    git.run(str(source), "add", "--all")
    git.run(str(source), "commit", "--quiet", "-m", "the same by hand")
    git.run(root.path, "fetch", "--quiet", "origin")
    assert rebuilt()[0]["adam"].work is Work.IDLE


def test_the_log_knows_the_task_the_agent_and_the_rejection(rebuilt, root, git):
    adam = add_worker(root, "adam", session=Session.UP, agent="demo")
    site = open_site(root)
    with site.ledger.events:
        site.ledger.apply("adam", ev.TaskGiven(site.now(), "Add a login page", "text"))
        for _ in range(3):
            site.ledger.apply("adam", ev.StepFailed(site.now(), "none", ""))
    found, known = rebuilt()
    worker = found["adam"]
    assert (worker.work, worker.current_prompt, worker.agent) == (Work.NEEDS_INPUT, "Add a login page", "demo")
    assert worker.task == "t1"
    assert (worker.created_at_unix, worker.pending) == (adam.created_at_unix, ())
    assert known["adam"]["task"] == known["adam"]["agent"] == "the log of events"


def test_the_log_of_a_worker_that_had_the_name_before_says_nothing(rebuilt, root):
    add_worker(root, "adam", session=Session.UP, agent="demo")
    site = open_site(root)
    with site.ledger.events:
        site.ledger.apply("adam", ev.TaskGiven(site.now(), "Add a login page", "text"))
        site.ledger.remove("adam", site.now())
    assert main(["--root", root.path, "nuke", "--all"]) == 0
    worker = rebuilt()[0]["adam"]
    assert (worker.work, worker.current_prompt) == (Work.IDLE, "")


def test_the_settings_know_the_agent_and_terminals_who_is_up(rebuilt, root, adam):
    add_worker(root, "eve")
    set_worker_table(root.config_file, "eve", agent="codex")
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-adam", "sleep", "600")
        found, known = rebuilt()
    assert (found["adam"].session, found["eve"].session) == (Session.UP, Session.DOWN)
    assert (found["eve"].agent, known["eve"]["agent"]) == ("codex", "config.toml")


def test_a_long_task_is_kept_in_part(rebuilt, root):
    add_worker(root, "adam", session=Session.UP)
    site = open_site(root)
    with site.ledger.events:
        site.ledger.apply("adam", ev.TaskGiven(site.now(), "x" * 10**6, "text"))
    assert len(rebuilt()[0]["adam"].current_prompt) == 16 << 10


def test_no_workers_at_all(rebuilt):
    assert rebuilt() == ({}, {})
