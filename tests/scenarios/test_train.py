"""The merge train on real git and real checks: what lands, what is found out about the rest, what comes in between."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.core.tasks.train import EntryState
from llmc.host.faults import VARIABLE, Moment
from llmc.host.locks import FileLock
from llmc.model import Turn, Work
from testing.story import Story
from testing.world import Template, World

FOUR = ("adam", "baker", "carol", "dora")


@pytest.fixture(scope="module")
def _yard(tmp_path_factory: pytest.TempPathFactory) -> Template:
    def more(world: World) -> None:
        for name in FOUR[2:]:
            world.story.llmc("add", name, "--agent", "demo")

    return Template(tmp_path_factory.mktemp("train"), more)


@pytest.fixture
def story(_yard: Template) -> Iterator[Story]:
    told = _yard.world().story
    yield told
    told.finish()


def ready(story: Story, name: str, path: str = "", content: str = "x\n") -> str:
    sha = story.commit_as(name, path or f"{name}.txt", content, f"Work of {name}")
    story.rewrite(name, work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    return sha


def checks(story: Story, *commands: str, jobs: int = 2) -> None:
    story.llmc("config", "set", "repo.validate", json.dumps(commands))
    story.llmc("config", "set", "repo.validate_jobs", str(jobs))


def waits_for(file: Path) -> str:
    return f"while ! test -e {file}; do sleep 0.05; done"


def killed_at(story: Story, moment: Moment, *words: str) -> None:
    os.environ[VARIABLE] = moment
    try:
        assert story.spawn(*words).wait() == -signal.SIGKILL, f"it does not come by {moment}"
    finally:
        del os.environ[VARIABLE]


def landed(story: Story) -> list[str]:
    """Whose work has landed, in order; the branch is straight, and the checkout where it is."""
    assert story.git("rev-list", "--count", "--merges", "main") == "0"
    assert story.git("status", "--porcelain") == ""
    return [each.removeprefix("Work of ") for each in story.subjects() if each.startswith("Work of ")]


def left_behind(story: Story) -> str:
    return story.git("for-each-ref", "refs/llmc/train", cwd=story.root.path)


@pytest.mark.lesson(56, "a merge train moves references only, decides by itself, and tries a flake once more")
def test_all_good_works_land_in_the_order_of_their_names(story: Story) -> None:
    checks(story, "test -f README")
    for name in FOUR:
        ready(story, name)
    said = story.llmc("accept", "carol", "adam", "dora", "baker")
    assert landed(story) == ["carol", "adam", "dora", "baker"]
    lines = [line for line in said.out.splitlines() if "accepted as" in line]
    assert [line.partition(":")[0] for line in lines] == ["carol", "adam", "dora", "baker"]
    assert "4 of 4 landed" in said.out
    assert left_behind(story) == ""
    assert {story.worker(name).work for name in FOUR} == {Work.IDLE}


def test_without_checks_they_land_too(story: Story) -> None:
    for name in FOUR:
        ready(story, name)
    said = story.json("accept", *FOUR)
    assert landed(story) == [*FOUR]
    assert [each["commit"] for each in said] == story.git("rev-list", "--reverse", "-4", "main").split()


@pytest.mark.lesson(56, "a merge train moves references only, decides by itself, and tries a flake once more")
def test_one_bad_work_is_found_and_the_others_land(story: Story) -> None:
    checks(story, "echo looked; ! grep -qs bad *.txt")
    for name in FOUR:
        ready(story, name, content="bad\n" if name == "baker" else "good\n")
    said = story.llmc("accept", *FOUR, "--json", code=1)
    assert landed(story) == ["adam", "carol", "dora"]
    found = json.loads(said.out)
    assert [each["worker"] for each in found] == [*FOUR]
    assert "failed with exit code 1 on this work by itself" in found[1]["refusal"]["what"]
    assert "its session is down" in found[1]["refusal"]["hint"]
    assert story.worker("baker").work is Work.NEEDS_REVIEW
    assert left_behind(story) == ""


def test_nobody_is_blamed_for_a_branch_that_fails_by_itself(story: Story) -> None:
    checks(story, "test -f never-there")
    ready(story, "adam")
    ready(story, "baker")
    found = story.json("accept", "adam", "baker", code=1)
    assert landed(story) == []
    assert all("on your branch without this work, too" in each["refusal"]["what"] for each in found)
    assert all("fix the branch or the check" in each["refusal"]["hint"] for each in found)
    assert story.json("train")["ended"][0]["state"] == "left"


def test_works_that_fail_only_together_are_named(story: Story) -> None:
    checks(story, "! { test -f adam.txt && test -f carol.txt; }")
    for name in FOUR:
        ready(story, name)
    said = story.llmc("accept", *FOUR, code=1)
    assert landed(story) == ["adam", "baker", "dora"]
    assert "together with that of adam, and passes without" in said.out


def test_a_flake_is_told_and_lands(story: Story, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    checks(story, f"! test -f baker.txt || test -e {seen} || {{ touch {seen}; exit 1; }}", jobs=1)
    for name in FOUR[:2]:
        ready(story, name)
    said = story.llmc("accept", *FOUR[:2])
    assert landed(story) == ["adam", "baker"]
    assert "is a flake: it failed, and passed on the same tree at the second try" in said.out
    assert any("is a flake" in each.detail for each in story.events("baker", "train"))


def test_what_conflicts_waits_for_what_it_conflicts_with_and_is_refused_then(story: Story) -> None:
    ready(story, "adam", "same.txt", "adam\n")
    ready(story, "baker", "same.txt", "baker\n")
    ready(story, "carol")
    said = story.llmc("accept", "adam", "baker", "carol", "--json", code=1)
    assert landed(story) == ["adam", "carol"]
    assert "baker's work conflicts with main in same.txt" in json.loads(said.out)[1]["refusal"]["what"]


def test_what_conflicts_with_a_bad_work_lands_without_it(story: Story) -> None:
    checks(story, "! grep -qs bad *.txt")
    ready(story, "adam", "same.txt", "bad\n")
    ready(story, "baker", "same.txt", "good\n")
    story.llmc("accept", "adam", "baker", code=1)
    assert landed(story) == ["baker"]


def test_all_of_them_go_with_the_fewest_conflicts_first(story: Story) -> None:
    """What adam and baker each have in common with carol keeps only carol from landing."""
    ready(story, "carol", "a.txt", "carol\n")
    sha = story.commit_as("carol", "b.txt", "carol\n", "More of carol")
    story.rewrite("carol", commit_sha=sha)
    ready(story, "adam", "a.txt", "adam\n")
    ready(story, "baker", "b.txt", "baker\n")
    for name in FOUR[:3]:
        story.llmc("review", name)
    story.llmc("accept", "--all", code=1)
    assert sorted(landed(story)) == ["adam", "baker"]


def test_what_accept_would_refuse_does_not_come_in(story: Story) -> None:
    ready(story, "adam")
    ready(story, "baker")
    Path(story.worker("baker").worktree_path, "half.txt").write_text("half\n")
    ready(story, "carol")
    story.llmc("review", "carol")
    ready(story, "carol", "later.txt")
    said = story.llmc("accept", "adam", "baker", "carol", "dora", "--queue", "--json", code=1)
    found = {each["worker"]: each for each in json.loads(said.out)}
    assert found["adam"] == {"worker": "adam", "queued": True, "place": 1}
    assert "uncommitted changes in half.txt" in found["baker"]["refusal"]["what"]
    assert "changed since its review" in found["carol"]["refusal"]["what"]
    assert "dora is idle" in found["dora"]["refusal"]["what"]
    assert "has the tree" in story.llmc("accept", "adam", "--queue", "--tree", "a" * 40, code=1).out


def test_work_that_nobody_reviewed_lands_as_it_was_accepted(story: Story) -> None:
    ready(story, "adam")
    story.llmc("accept", "adam", "--queue")
    ready(story, "adam", "later.txt")
    ready(story, "baker")
    story.llmc("accept", "baker", "--queue")
    ready(story, "carol")
    ready(story, "dora")
    story.llmc("accept", "carol", "dora")
    assert landed(story) == ["baker", "carol", "dora"]
    (adam,) = [each for each in story.json("train")["ended"] if each["worker"] == "adam"]
    assert (adam["state"], "has the tree" in adam["detail"]) == ("left", True)


@pytest.mark.parametrize("words", [(), ("--changed",)])
def test_what_was_reviewed_again_meanwhile_needs_another_accept(story: Story, words: tuple[str, ...]) -> None:
    """Nobody has accepted what the agent made of it since, whoever has looked at that."""
    ready(story, "adam")
    story.llmc("review", "adam", "--interface", "stat")
    story.llmc("accept", "adam", "--queue", *words)
    ready(story, "adam", "later.txt")
    story.llmc("review", "adam", "--interface", "stat")
    ready(story, "baker")
    ready(story, "carol")
    story.llmc("accept", "baker", "carol")
    assert landed(story) == ["baker", "carol"]
    (adam,) = [each for each in story.json("train")["ended"] if each["worker"] == "adam"]
    assert (adam["state"], "has the tree" in adam["detail"]) == ("left", True)


def test_a_mere_rebase_since_needs_none(story: Story) -> None:
    ready(story, "adam")
    story.llmc("review", "adam", "--interface", "stat")
    story.llmc("accept", "adam", "--queue")
    story.commit_upstream("hand.txt", "h\n", "By hand")
    story.llmc("rebase", "adam")
    ready(story, "baker")
    ready(story, "carol")
    story.llmc("accept", "baker", "carol")
    assert landed(story) == ["adam", "baker", "carol"]


def test_the_last_word_about_an_entry_holds(story: Story) -> None:
    ready(story, "adam")
    story.llmc("accept", "adam", "--queue")
    story.llmc("accept", "adam", "--queue", "--message", "In other words")
    ready(story, "baker")
    ready(story, "carol")
    story.llmc("accept", "baker", "carol")
    assert story.subjects()[-3:] == ["In other words", "Work of baker", "Work of carol"]


def test_what_a_killed_train_was_about_to_land_can_be_dropped(story: Story) -> None:
    ready(story, "adam")
    ready(story, "baker")
    killed_at(story, Moment.TRAIN_BEGUN, "accept", "adam", "baker")
    story.llmc("train", "drop", "adam")
    assert [each["worker"] for each in story.json("train")["entries"]] == ["baker"]


@pytest.mark.parametrize("moment", [Moment.ACCEPT_DECIDED, Moment.ACCEPT_NOTED, Moment.ACCEPT_JOURNALED])
def test_nobody_goes_on_with_a_landing_that_was_dropped(story: Story, moment: Moment) -> None:
    """The worker's record has it, too: whoever looks after the worker next must not find it there."""
    ready(story, "adam")
    ready(story, "baker")
    killed_at(story, moment, "accept", "adam", "baker")
    story.llmc("train", "drop", "adam")
    assert story.worker("adam").pending == ()
    ready(story, "carol")
    story.llmc("accept", "baker", "carol")
    story.llmc("review", "adam")
    assert landed(story) == ["baker", "carol"]
    assert story.worker("adam").work is Work.NEEDS_REVIEW
    story.llmc("accept", "adam")
    assert landed(story) == ["baker", "carol", "adam"]


def test_what_has_landed_already_cannot_be_dropped(story: Story) -> None:
    ready(story, "adam")
    ready(story, "baker")
    killed_at(story, Moment.ACCEPT_LANDED, "accept", "adam", "baker")
    assert "adam's work has landed already" in story.llmc("train", "drop", "adam", code=1).err
    ready(story, "carol")
    story.llmc("accept", "carol", "baker")
    assert landed(story) == ["adam", "baker", "carol"]
    ended = {each["worker"]: each["state"] for each in story.json("train")["ended"]}
    assert ended == dict.fromkeys(FOUR[:3], "landed")


def test_a_work_that_a_killed_command_left_in_a_rebase_is_gone_on_with(story: Story) -> None:
    ready(story, "adam")
    ready(story, "baker")
    story.commit_upstream("hand.txt", "h\n", "By hand")
    killed_at(story, Moment.REBASE_DECIDED, "rebase", "adam")
    story.try_llmc("accept", "baker", "adam")
    assert "baker" in landed(story)
    assert story.json("train")["entries"] == []


def test_a_message_goes_with_its_work(story: Story) -> None:
    ready(story, "adam")
    story.llmc("accept", "adam", "--queue", "--message", "In other words")
    ready(story, "baker")
    ready(story, "carol")
    story.llmc("accept", "baker", "carol")
    assert story.subjects()[-3:] == ["In other words", "Work of baker", "Work of carol"]


def test_a_branch_that_moves_underneath_is_stacked_upon_anew(story: Story, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    checks(story, f"touch {begun}; test -f hand.txt || {waits_for(tmp_path / 'go')}")
    for name in FOUR:
        ready(story, name)
    process = story.spawn("accept", *FOUR)
    story.until(begun.exists)
    story.commit_upstream("hand.txt", "h\n", "By hand")
    (tmp_path / "go").touch()
    assert process.wait() == 0, (story.place / "spawned.log").read_text()
    assert story.subjects()[-5:] == ["By hand", *(f"Work of {name}" for name in FOUR)]
    assert landed(story) == [*FOUR]


def test_a_person_accepts_one_of_them_in_between(story: Story, tmp_path: Path) -> None:
    checks(story, f"touch {tmp_path}/begun; ! test -f adam.txt || {waits_for(tmp_path / 'go')}", jobs=4)
    for name in FOUR[:3]:
        ready(story, name)
    process = story.spawn("accept", *FOUR[:3])
    story.until((tmp_path / "begun").exists)
    story.llmc("accept", "carol")
    assert landed(story) == ["carol"]
    (tmp_path / "go").touch()
    assert process.wait() == 0, (story.place / "spawned.log").read_text()
    assert landed(story) == ["carol", "adam", "baker"]
    assert [each["state"] for each in story.json("train")["ended"]] == ["landed"] * 3
    assert story.json("train")["entries"] == []
    empty, heading, *lately = story.llmc("train").out.splitlines()
    assert (empty, heading) == ("the merge train is empty", "landed or left lately:")
    assert [line.split()[1] for line in lately] == ["carol:", "baker:", "adam:"]


def test_ctrl_c_takes_out_what_has_not_landed(story: Story, tmp_path: Path) -> None:
    checks(story, f"touch {tmp_path}/begun; ! test -f baker.txt || sleep 1000", jobs=1)
    for name in FOUR[:2]:
        ready(story, name)
    process = story.spawn("accept", *FOUR[:2])
    story.until(lambda: landed(story) == ["adam"])
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert landed(story) == ["adam"]
    assert story.worker("baker").work is Work.NEEDS_REVIEW
    assert story.json("train")["entries"] == []


def test_a_paused_train_says_so(story: Story) -> None:
    ready(story, "adam")
    ready(story, "baker")
    assert "it is paused" in story.llmc("train", "pause").out
    refused = story.llmc("accept", "adam", "baker", code=1)
    assert "the merge train is paused; nothing was accepted" in refused.err
    assert "`llmc train resume`" in refused.err
    said = story.llmc("accept", "adam", "baker", "--queue")
    assert "note: the train is paused" in said.out
    assert "train (paused" in story.llmc("status").out
    assert story.json("status")["train"]["paused"] is True
    assert landed(story) == []
    assert "2 works in the merge train to main; nobody runs it" in story.llmc("train", "resume").out


def test_a_pause_ends_the_wait_and_keeps_the_entries(story: Story, tmp_path: Path) -> None:
    checks(story, f"touch {tmp_path}/begun; test -e {tmp_path}/go || sleep 1000")
    for name in FOUR[:2]:
        ready(story, name)
    process = story.spawn("accept", *FOUR[:2])
    story.until((tmp_path / "begun").exists)
    story.llmc("train", "pause")
    assert process.wait() == 1
    assert "adam, baker wait in it" in (story.place / "spawned.log").read_text()
    (tmp_path / "go").touch()
    story.llmc("train", "resume")
    ready(story, "carol")
    story.llmc("accept", "adam", "carol")
    assert landed(story)[0] == "adam"
    assert "carol" in landed(story)


def test_what_is_dropped_does_not_land(story: Story, tmp_path: Path) -> None:
    checks(story, f"touch {tmp_path}/begun; {waits_for(tmp_path / 'go')}")
    for name in FOUR[:3]:
        ready(story, name)
    process = story.spawn("accept", *FOUR[:3])
    story.until((tmp_path / "begun").exists)
    assert "out of the train" in story.llmc("train", "drop", "baker").out
    assert story.llmc("train", "drop", "baker", code=1).err.startswith("error: baker is not in the train")
    assert "there is no worker named 'nobody'" in story.llmc("train", "drop", "nobody", code=1).err
    story.llmc("train", "drop", code=2)
    story.llmc("train", "pause", "adam", code=2)
    (tmp_path / "go").touch()
    assert process.wait() == 1
    assert landed(story) == ["adam", "carol"]
    assert "baker: refused: taken out by" in (story.place / "spawned.log").read_text()


def test_nobody_runs_it_twice(story: Story) -> None:
    ready(story, "adam")
    ready(story, "baker")
    with FileLock(story.root.train_lock):
        process = story.spawn("accept", "adam", "baker")
        story.until(lambda: len(story.json("train")["entries"]) == 2)
        assert landed(story) == []
    assert process.wait() == 0
    assert landed(story) == ["adam", "baker"]


def test_works_in_the_train_are_not_rebased_for_those_before_them(story: Story) -> None:
    heads = {name: ready(story, name) for name in FOUR[:2]}
    story.llmc("accept", "baker", "--queue")
    story.llmc("accept", "adam")
    assert story.worker("baker").commit_sha == heads["baker"]
    story.llmc("train", "drop", "baker")
    ready(story, "carol")
    story.llmc("accept", "carol")
    assert story.worker("baker").commit_sha != heads["baker"]


def test_a_worker_that_went_on_leaves_the_train(story: Story) -> None:
    for name in FOUR[:3]:
        ready(story, name)
    story.llmc("accept", "adam", "--queue")
    story.llmc("reset", "adam", "--yes")
    story.llmc("accept", "baker", "carol")
    assert landed(story) == ["baker", "carol"]
    (adam,) = [each for each in story.json("train")["ended"] if each["worker"] == "adam"]
    assert "adam was reset" in adam["detail"]


def test_whoever_watches_sees_it_move(story: Story) -> None:
    log = story.place / "spawned.log"
    process = story.spawn("train", "--watch")
    story.until(lambda: log.exists() and "the merge train is empty" in log.read_text())
    ready(story, "adam")
    story.llmc("accept", "adam", "--queue")
    story.until(lambda: "1. adam: waiting" in log.read_text())
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130


def test_one_that_was_accepted_by_hand_is_out_of_it(story: Story) -> None:
    ready(story, "adam")
    story.llmc("accept", "adam", "--queue")
    story.llmc("accept", "adam")
    assert landed(story) == ["adam"]
    assert story.json("train")["entries"] == []


INSIDE = (Moment.ACCEPT_DECIDED, Moment.ACCEPT_BEGUN, Moment.ACCEPT_JOURNALED, Moment.ACCEPT_LANDED)
"""Of a landing; what follows it has moments of its own."""
OF_THE_TRAIN = [each for each in Moment if each.startswith("train.")]


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
@pytest.mark.parametrize("moment", [*OF_THE_TRAIN, *INSIDE, Moment.ACCEPT_RECORDED, Moment.RESET_CLEANED])
def test_a_train_goes_on_where_it_was_killed(story: Story, moment: Moment) -> None:
    """Nothing is lost, nothing lands twice, whoever comes next."""
    checks(story, "! grep -qs bad *.txt")
    for name in FOUR[:3]:
        ready(story, name, content="bad\n" if name == "baker" else "good\n")
    killed_at(story, moment, "accept", *FOUR[:3])
    goes_on(story)


def goes_on(story: Story) -> None:
    """With what was killed, one more, and the bad work mended: each lands once."""
    ready(story, "dora")
    ready(story, "baker", "mended.txt", "good\n")
    story.commit_as("baker", "baker.txt", "good\n", "Mend")
    story.llmc("train", "drop", "baker") if story.site.ledger.tasks.train.has("baker") else None
    story.llmc("explain", "baker")
    story.llmc("accept", "dora", "baker")
    assert sorted(landed(story)) == [*FOUR]
    assert {story.worker(name).work for name in FOUR} == {Work.IDLE}
    states = {each["worker"]: each["state"] for each in story.json("train")["ended"]}
    assert states == dict.fromkeys(FOUR, EntryState.LANDED.value)
    assert story.json("train")["entries"] == []
    assert left_behind(story) == ""
