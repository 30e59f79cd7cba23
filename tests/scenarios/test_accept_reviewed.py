"""A review binds: what lands is what was reviewed, or the person is shown what has changed since."""

from __future__ import annotations

import pytest

from testing.world import SOME, World

README = SOME["README"]
NEW = {"a.txt": "seen\n"}


def reviewed(w: World) -> dict[str, str]:
    w.work(NEW, "One")
    w.to_review()
    answer: dict[str, str] = w.story.json("review", "adam")
    return answer


def amend(w: World, files: dict[str, str]) -> None:
    w.work(files, "fixup! One")
    w.in_worktree("reset", "--quiet", "--soft", "HEAD~2")
    w.in_worktree("commit", "--quiet", "-m", "One")


def refused(w: World, *words: str) -> str:
    before = w.picture()
    said = w.story.llmc("accept", *words, code=1)
    after = w.picture()
    assert (after["source"], after["work"]) == (before["source"], before["work"])
    return said.err


def test_review_tells_what_it_showed(world: World) -> None:
    answer = reviewed(world)
    assert answer["reviewed_sha"] == world.in_worktree("rev-parse", "HEAD")
    assert answer["tree"] == world.in_worktree("rev-parse", "HEAD^{tree}")


def test_reviewed_work_lands(world: World) -> None:
    reviewed(world)
    assert world.story.json("accept")["reviewed"] is True
    assert world.in_source("show", "main:a.txt") == "seen"


def test_an_amend_after_the_review_is_refused_and_shown(world: World) -> None:
    reviewed(world)
    amend(world, {"a.txt": "seen\nunseen\n"})
    said = refused(world, "adam")
    assert "has changed since its review" in said
    assert "1 file changed, 1 insertion(+)" in said
    assert "+unseen" in said
    assert "-seen" not in said
    assert "hint: `llmc review adam` shows all of it; `llmc accept adam --changed` takes it as it is" in said


def test_whitespace_is_a_change_too(world: World) -> None:
    world.work({"a.py": "if x:\n    a()\nb()\n"}, "One")
    world.to_review()
    world.story.llmc("review", "adam")
    amend(world, {"a.py": "if x:\n    a()\n    b()\n"})
    assert "+    b()" in refused(world, "adam")


def test_a_check_cannot_put_another_commit_in_its_place(world: World) -> None:
    """Checks run what the agent has written, and LLMC's own names in the clone can be moved by it."""
    script = world.story.place / "check.sh"
    script.write_text(
        f"#!/bin/sh\nset -e\ncd {world.story.root.git_dir}\nref=refs/llmc/accept/adam/commit\n"
        'tree=$( (git ls-tree $ref; git ls-tree $ref README | sed "s/README/unseen.txt/") | git mktree)\n'
        "git update-ref $ref $(git commit-tree -p $ref~1 -m unseen $tree)\n"
    )
    script.chmod(0o755)
    world.config("repo.validate", f'["{script}"]')
    reviewed(world)
    made = world.story.json("accept", "adam")["commit"]
    assert world.in_source("rev-parse", "main") == made
    assert world.in_source("diff-tree", "-r", "--name-only", "main~1", "main") == "a.txt"


def test_changed_takes_it_all_the_same_and_says_so(world: World) -> None:
    reviewed(world)
    amend(world, {"a.txt": "unseen\n"})
    answer = world.story.json("accept", "adam", "--changed")
    assert answer["reviewed"] is False
    assert world.in_source("show", "main:a.txt") == "unseen"


def test_another_review_makes_it_acceptable(world: World) -> None:
    reviewed(world)
    amend(world, {"a.txt": "unseen\n"})
    refused(world, "adam")
    world.story.llmc("review", "adam")
    assert world.story.json("accept", "adam")["reviewed"] is True


def test_a_mere_rebase_is_no_change(world: World) -> None:
    reviewed(world)
    world.upstream({"hand.txt": "h\n"})
    world.story.llmc("rebase", "adam")
    world.upstream({"README": README.replace("line 20\n", "end\n")})
    assert world.story.json("accept", "adam")["reviewed"] is True


def test_what_others_did_is_not_part_of_the_difference(world: World) -> None:
    reviewed(world)
    world.upstream({"hand.txt": "h\n"})
    world.story.llmc("rebase", "adam")
    world.work({"more.txt": "more\n"}, "Two")
    said = refused(world, "adam")
    assert "more.txt" in said
    assert "hand.txt" not in said


def test_another_message_is_no_change_of_the_work(world: World) -> None:
    reviewed(world)
    world.in_worktree("commit", "--quiet", "--amend", "-m", "In other words")
    assert world.story.json("accept", "adam")["reviewed"] is True


def test_conflicts_that_were_resolved_since_are_shown(world: World) -> None:
    world.work({"README": README.replace("line 3\n", "worker\n")}, "One")
    world.to_review()
    world.story.llmc("review", "adam")
    world.upstream({"README": README.replace("line 3\n", "user\n")})
    world.story.fetch_upstream()
    world.in_worktree("reset", "--quiet", "--hard", "origin/main")
    world.work({"README": README.replace("line 3\n", "both\n")}, "One")
    world.to_review()
    assert "+both" in refused(world, "adam")


def test_a_named_worker_needs_no_review_and_the_answer_says_so(world: World) -> None:
    world.work(NEW, "One")
    world.to_review()
    assert "note: adam's work was accepted without a review" in world.story.llmc("accept", "adam").out


def test_without_a_name_only_reviewed_work_is_meant(world: World) -> None:
    reviewed(world)
    world.story.llmc("accept")
    world.work({"b.txt": "b\n"}, "Of the next task")
    world.to_review()
    assert "look at it first: `llmc review adam`" in refused(world)


def test_only_the_tree_that_was_named_is_accepted(world: World) -> None:
    tree = reviewed(world)["tree"]
    amend(world, {"a.txt": "unseen\n"})
    assert f"and not {tree[:12]}" in refused(world, "adam", "--tree", tree, "--changed")
    now = world.in_worktree("rev-parse", "HEAD^{tree}")
    assert world.story.json("accept", "adam", "--tree", now, "--changed")["reviewed"] is False


def test_a_named_tree_survives_a_rebase(world: World) -> None:
    tree = reviewed(world)["tree"]
    world.upstream({"hand.txt": "h\n"})
    world.story.llmc("rebase", "adam")
    assert world.story.json("accept", "adam", "--tree", tree)["reviewed"] is True


def test_what_is_no_tree_is_invalid_usage(world: World) -> None:
    assert "must be the name of a tree" in world.story.llmc("accept", "adam", "--tree", "HEAD", code=2).err
    world.story.llmc("accept", "adam", "baker", "--tree", "0" * 40, code=2)


def test_a_long_difference_is_cut(world: World) -> None:
    reviewed(world)
    amend(world, {"long.txt": "".join(f"line {n}\n" for n in range(5000))})
    said = refused(world, "adam")
    assert "more lines" in said
    assert len(said) < 30_000


def test_each_of_several_is_checked_alone(world: World) -> None:
    reviewed(world)
    amend(world, {"a.txt": "unseen\n"})
    story = world.story
    sha = story.commit_as("baker", "b.txt", "b\n", "Work of baker")
    story.rewrite("baker", work=story.worker("adam").work, commit_sha=sha)
    said = story.llmc("accept", "adam", "baker", code=1)
    assert "adam: refused: adam's work has changed since its review" in said.out
    assert "baker: accepted" in said.out


def test_a_dry_run_tells_the_difference(world: World) -> None:
    reviewed(world)
    assert world.story.json("accept", "adam", "--dry-run")["reviewed"] is True
    amend(world, {"a.txt": "unseen\n"})
    plan = world.story.json("accept", "adam", "--dry-run", code=1)
    assert plan["reviewed"] is False
    assert "+unseen" in plan["refusal"]["what"]


def test_the_reviewed_commit_is_kept_for_the_comparison(world: World) -> None:
    sha = reviewed(world)["reviewed_sha"]
    amend(world, {"a.txt": "unseen\n"})
    world.in_clone("reflog", "expire", "--all", "--expire=now")
    world.in_worktree("reflog", "expire", "--all", "--expire=now")
    world.in_clone("gc", "--quiet", "--prune=now")
    assert world.in_clone("cat-file", "-t", sha) == "commit"
    assert "+unseen" in refused(world, "adam")


@pytest.mark.parametrize("name", ["refs/llmc/accept/adam/commit/deep", "refs/llmc/accept/adam"])
def test_a_ref_in_the_way_of_llmcs_own_keeps_nothing_from_landing(world: World, name: str) -> None:
    world.work({"app.py": "x\n"})
    world.to_review()
    world.in_worktree("update-ref", name, "HEAD")
    world.story.llmc("accept", "adam")
    assert "app.py" in world.in_source("ls-tree", "--name-only", "main").split()
