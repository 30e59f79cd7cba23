"""Comments on work that changes, moves, is rebased and renamed: each is found again, or said to be gone."""

from __future__ import annotations

from typing import Any

import pytest

from llmc.core.tasks.rounds import Round
from llmc.model import Work
from llmc.store.comments import CommentStore
from testing.world import SOME, Files, Link, World

README = SOME["README"]
NOT_CHECKED = {"state": "none", "failed": None, "at_unix": None, "results": []}
APP = "".join(f"step_{number}()\n" for number in range(1, 21))


def begin(w: World, files: Files) -> None:
    w.work(files, "One")
    w.to_review()
    w.story.llmc("review", "adam", "--interface", "stat")


def say(w: World, place: str, text: str = "Why?") -> dict[str, Any]:
    answer: dict[str, Any] = w.story.json("comment", "adam", place, text)
    return answer


def send(w: World) -> None:
    """As if the agent, which does not run here, had got all comments."""
    store, worker = CommentStore(w.story.site.ledger.tasks), w.story.worker("adam")
    record, number = store.of(worker), worker.round + 1
    assert worker.reviewed is not None
    sent = Round(number, "", worker.reviewed.commit, worker.reviewed.base, 1.0, tuple(c.number for c in record.open))
    store.begin_round(worker, sent)
    w.story.rewrite("adam", round=number)


def again(w: World, files: Files) -> None:
    """The agent does something about it."""
    w.work(files, "fixup! One")
    w.in_worktree("reset", "--quiet", "--soft", "HEAD~2")
    w.in_worktree("commit", "--quiet", "-m", "One, again")
    w.to_review()


def since_last(w: World) -> dict[str, Any]:
    answer: dict[str, Any] = w.story.json("review", "adam", "--since-last")
    return answer


def now_of(w: World, number: int = 1) -> tuple[Any, ...]:
    found = next(each for each in since_last(w)["comments"] if each["number"] == number)["now"]
    return found["became"], found["path"], found["line"], found["end_line"], found["lines"]


# --- comments as they are made ----------------------------------------------------------------------------


def test_a_comment_has_its_lines_and_the_commit(world: World) -> None:
    begin(world, {"app.py": APP})
    made = say(world, "app.py:3-4", "Join these")
    assert (made["number"], made["path"], made["line"], made["end_line"]) == (1, "app.py", 3, 4)
    assert made["quoted"] == ["step_3()", "step_4()"]
    assert made["commit_sha"] == world.in_worktree("rev-parse", "HEAD")
    assert (made["round"], made["open"]) == (None, 1)
    listed = world.story.json("comment", "adam", "--list")
    assert [each["text"] for each in listed["comments"]] == ["Join these"]
    assert "1. app.py:3-4: Join these" in world.story.llmc("comment", "adam", "--list").out


def test_a_comment_is_about_what_was_reviewed_last(world: World) -> None:
    begin(world, {"app.py": APP})
    again(world, {"app.py": "new_first_line()\n" + APP})
    assert say(world, "app.py:1")["quoted"] == ["step_1()"]


def test_work_that_nobody_reviewed_has_the_lines_of_its_tip(world: World) -> None:
    world.work({"app.py": APP}, "One")
    world.to_review()
    assert say(world, "app.py:2")["quoted"] == ["step_2()"]
    assert say(world, "README:1")["quoted"] == ["line 1"], "a file that the work does not touch"


def test_paths_and_contents_of_every_kind(world: World) -> None:
    files = {
        "a file: with 3:4 in it.txt": "x\ny\n",
        "crlf.txt": "one\r\ntwo\r\n",
        "open end.txt": "one\ntwo",
        "über/naïve.py": "ü = 1\n",
        "latin.txt": b"caf\xe9\n",
        "odd.txt": "a\x0cb\u2028c\n\x1b[31mred\n",
        "link": Link("README"),
    }
    begin(world, files)
    assert say(world, "a file: with 3:4 in it.txt:2")["quoted"] == ["y"]
    assert say(world, "crlf.txt:2")["quoted"] == ["two"]
    assert say(world, "open end.txt:2")["quoted"] == ["two"]
    assert say(world, "über/naïve.py:1")["quoted"] == ["ü = 1"]
    assert say(world, "latin.txt:1")["quoted"] == ["caf\ufffd"]
    assert say(world, "odd.txt:2")["quoted"] == ["\ufffd[31mred"], "only a newline ends a line"
    assert say(world, "link:1")["quoted"] == ["README"]


def test_what_is_not_there_is_refused_and_nothing_is_kept(world: World) -> None:
    begin(world, {"app.py": APP, "pic.png": b"\x89PNG\0\0", "empty": "", "notes.txt": None})
    refused = {
        "app.py:21": "there is no app.py:21 in commit",
        "app.py:0": "there is no app.py",
        "app.py:5-3": "app.py:5-3 names no lines: 5 comes after 3\nhint: the first line comes first: app.py:3-5",
        "app.py:19-21": "it has the lines 1 to 20",
        "ap.py:1": "did you mean app.py?",
        "src:1": "there is no file src",
        "nowhere/at/all.txt:1": "from the top of the repository",
        "pic.png:1": "it is empty or binary",
        "empty:1": "it is empty or binary",
        "notes.txt:1": "the work deletes it",
        "../README:1": "there is no file",
    }
    for place, words in refused.items():
        assert words in world.story.llmc("comment", "adam", place, "Why?", code=1).err, place
    for words in (
        ("app.py:1", " "),
        ("app.py:1", "a\x1b[31mb"),
        ("app.py", "x"),
        ("app.py:x", "x"),
        ("app.py:-1", "x"),
    ):
        world.story.llmc("comment", "adam", *words, code=2)
    world.story.llmc("comment", "adam", "app.py:1", "x", "--list", code=2)
    world.story.llmc("comment", "adam", code=2)
    assert world.story.json("comment", "adam", "--list")["comments"] == []


def test_a_worker_without_work_has_no_lines(world: World) -> None:
    assert "adam has no work to comment on" in world.story.llmc("comment", "adam", "README:1", "x", code=1).err
    assert "there is no worker named 'nobody'" in world.story.llmc("comment", "nobody", "--list", code=1).err
    assert world.story.llmc("comment", "adam", "--list").out == "there are no comments on adam's work\n"


def test_an_open_comment_can_be_taken_back_and_a_sent_one_not(world: World) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:1", "One")
    send(world)
    say(world, "app.py:2", "Two")
    assert "there is no open comment 7" in world.story.llmc("comment", "adam", "--remove", "7", code=1).err
    assert "comment 1 was sent in round 1" in world.story.llmc("comment", "adam", "--remove", "1", code=1).err
    world.story.llmc("comment", "adam", "--remove", "x", code=2)
    assert world.story.llmc("comment", "adam", "--remove", "2").out == "removed 2. app.py:2: Two\n"
    listed = world.story.json("comment", "adam", "--list")
    assert [(each["number"], each["round"]) for each in listed["comments"]] == [(1, 1)]
    assert [(each["number"], each["comments"]) for each in listed["rounds"]] == [(1, [1])]


def test_a_damaged_database_is_told(world: World) -> None:
    begin(world, {"app.py": APP})
    with open(world.story.root.tasks, "wb") as file:
        file.write(b"nonsense" * 1000)
    said = world.story.llmc("comment", "adam", "app.py:1", "x", code=1)
    assert "tasks.db cannot be used" in said.err


# --- what became of their lines ---------------------------------------------------------------------------


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
def test_each_comment_beside_what_became_of_its_lines(world: World) -> None:
    begin(world, {"app.py": APP})
    for place in ("app.py:2", "app.py:8-9", "app.py:15"):
        say(world, place, f"About {place}")
    send(world)
    lines = APP.splitlines(keepends=True)
    again(world, {"app.py": "".join([*lines[:1], "better()\n", "more()\n", *lines[2:7], *lines[9:]])})
    assert now_of(world, 1) == ("changed", "app.py", 2, 3, ["better()", "more()"])
    assert now_of(world, 2) == ("gone", "app.py", None, None, [])
    assert now_of(world, 3) == ("untouched", "app.py", 14, 14, ["step_15()"])
    said = world.story.llmc("review", "adam", "--since-last", "--interface", "diff").out
    assert "comment 1, round 1, app.py:2 (changed, now app.py:2-3)\n  About app.py:2\n    - step_2()\n" in said
    assert "    + better()\n    + more()\n" in said
    assert "comment 2, round 1, app.py:8-9 (gone)" in said
    assert "comment 3, round 1, app.py:15 (untouched, now app.py:14)" in said
    assert "what has changed since round 1\n\ndiff --git a/app.py b/app.py" in said
    plainly = world.story.llmc("review", "adam", "--interface", "stat").out
    assert "comments round 1: 3. app.py:15 (untouched, now app.py:14): About app.py:15\n" in plainly


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
def test_a_rebase_in_between_is_no_change(world: World) -> None:
    begin(world, {"README": README.replace("line 10\n", "line ten\n")})
    say(world, "README:10", "Say 10")
    say(world, "README:18", "And this")
    send(world)
    world.upstream({"README": README.replace("line 1\n", "line 0\nline 1\n"), "hand.txt": "h\n"})
    answer = since_last(world)
    assert (answer["since"], answer["hunks"], answer["files"], answer["diff"]) == ("round 1", [], [], "")
    assert now_of(world, 1) == ("untouched", "README", 11, 11, ["line ten"])
    assert "nothing has changed since round 1" in world.story.llmc("review", "adam", "--since-last").out
    now = world.source.joinpath("README").read_text()
    again(world, {"README": now.replace("line 10\n", "line X\n")})
    answer = since_last(world)
    (hunk,) = answer["hunks"]
    assert [each["text"] for each in hunk["lines"] if each["kind"] != "context"] == ["line ten", "line X"]
    assert now_of(world, 1) == ("changed", "README", 11, 11, ["line X"])
    assert now_of(world, 2) == ("untouched", "README", 19, 19, ["line 18"])


def test_lines_that_the_branch_itself_changed(world: World) -> None:
    begin(world, {"src/app.py": "print('app')\nprint('more')\n"})
    say(world, "README:3", "Is this right?")
    send(world)
    world.upstream({"README": README.replace("line 3\n", "line three\n")})
    assert now_of(world) == ("changed", "README", 3, 3, ["line three"])
    assert since_last(world)["diff"] == ""


def test_a_conflict_that_was_resolved_since_is_shown(world: World) -> None:
    begin(world, {"README": README.replace("line 3\n", "worker\n")})
    say(world, "README:3", "Hm")
    send(world)
    world.upstream({"README": README.replace("line 3\n", "user\n")})
    world.story.fetch_upstream()
    world.in_worktree("reset", "--quiet", "--hard", "origin/main")
    world.work({"README": README.replace("line 3\n", "both\n")}, "One")
    world.to_review()
    became, path, line, _, lines = now_of(world)
    assert (became, path, line, lines) == ("changed", "README", 3, ["both"])
    assert "+both" in since_last(world)["diff"]


def test_a_renamed_file_is_followed(world: World) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:12")
    send(world)
    again(world, {"app.py": None, "lib/core.py": "first()\n" + APP})
    assert now_of(world) == ("untouched", "lib/core.py", 13, 13, ["step_12()"])
    world.upstream({"README": None, "docs/README": README})
    assert now_of(world) == ("untouched", "lib/core.py", 13, 13, ["step_12()"])


def test_a_file_that_the_branch_renamed_is_followed(world: World) -> None:
    begin(world, {"README": README.replace("line 10\n", "line ten\n")})
    say(world, "README:10-11")
    send(world)
    world.upstream({"README": None, "docs/README": "Title\n" + README})
    assert now_of(world) == ("untouched", "docs/README", 11, 12, ["line ten", "line 11"])


@pytest.mark.parametrize(
    ("files", "became"),
    [
        ({"app.py": None}, ("gone", None, None, None, [])),
        ({"app.py": b"\0binary\0"}, ("changed", "app.py", None, None, [])),
        ({"app.py": APP.replace("\n", "\r\n")}, ("changed", "app.py", 4, 4, ["step_4()"])),
        ({"app.py": APP + "step_21()"}, ("untouched", "app.py", 4, 4, ["step_4()"])),
        ({"app.py": ""}, ("gone", "app.py", None, None, [])),
        ({"app.py": None, "app.py/__init__.py": "new\n"}, ("gone", None, None, None, [])),
        ({"other.py": "x\n"}, ("untouched", "app.py", 4, 4, ["step_4()"])),
    ],
)
def test_what_can_happen_to_a_file(world: World, files: Files, became: tuple[Any, ...]) -> None:
    begin(world, {"app.py": APP, "beside.py": "x\n"})
    say(world, "app.py:4")
    send(world)
    again(world, files)
    assert now_of(world) == became


def test_odd_names_are_followed(world: World) -> None:
    name = 'a file: with 3:4 "in" it *.txt'
    begin(world, {name: APP})
    say(world, f"{name}:4")
    send(world)
    again(world, {name: "x\n" + APP})
    assert now_of(world) == ("untouched", name, 5, 5, ["step_4()"])
    (hunk,) = since_last(world)["hunks"]
    assert (hunk["path"], hunk["old_path"]) == (name, name)


def test_comments_of_several_rounds_and_reviews_keep_their_own_commits(world: World) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:3", "First")
    again(world, {"app.py": "one_more()\n" + APP})
    world.story.llmc("review", "adam", "--interface", "stat")
    say(world, "app.py:10", "Second")
    send(world)
    again(world, {"app.py": "two_more()\none_more()\n" + APP})
    world.story.llmc("review", "adam", "--interface", "stat")
    say(world, "app.py:22", "Third, open")
    assert now_of(world, 1)[2:] == (5, 5, ["step_3()"])
    assert now_of(world, 2)[2:] == (11, 11, ["step_9()"])
    assert now_of(world, 3)[2:] == (22, 22, ["step_20()"])


def test_what_comments_were_made_on_is_not_collected(world: World) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:3")
    send(world)
    again(world, {"app.py": "x\n" + APP})
    world.story.llmc("review", "adam", "--interface", "stat")
    for where in (world.in_clone, world.in_worktree):
        where("reflog", "expire", "--all", "--expire=now")
    world.in_clone("gc", "--quiet", "--prune=now")
    assert now_of(world) == ("untouched", "app.py", 4, 4, ["step_3()"])


def test_commits_that_are_gone_all_the_same_are_told(world: World) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:3")
    send(world)
    again(world, {"app.py": "x\n" + APP})
    for ref in world.in_clone("for-each-ref", "--format=%(refname)", "refs/llmc/").splitlines():
        if "/upstream/" not in ref:
            world.in_clone("update-ref", "-d", ref)
    for where in (world.in_clone, world.in_worktree):
        where("reflog", "expire", "--all", "--expire=now")
    world.in_clone("gc", "--quiet", "--prune=now")
    assert "the commit of round 1 is gone" in world.story.llmc("review", "adam", "--since-last", code=1).err
    (comment,) = world.story.json("review", "adam")["comments"]
    assert comment["now"]["became"] == "unknown"


# --- since the last review --------------------------------------------------------------------------------


def test_without_a_round_the_last_review_counts(world: World) -> None:
    begin(world, {"app.py": APP})
    world.upstream({"hand.txt": "h\n"})
    again(world, {"app.py": APP + "more()\n"})
    answer = since_last(world)
    assert answer["since"] == "the last review"
    assert [each["path"] for each in answer["files"]] == ["app.py"]
    assert answer["tree"] == world.in_worktree("rev-parse", "HEAD^{tree}")
    assert since_last(world)["diff"] == "", "that was a review, too"
    assert world.story.json("accept", "adam")["reviewed"] is True


def test_what_was_changed_between_the_review_and_the_round_is_shown(world: World) -> None:
    begin(world, {"app.py": APP})
    again(world, {"app.py": APP + "unseen()\n"})
    send(world)
    again(world, {"app.py": APP + "unseen()\nseen()\n"})
    assert "+unseen()" in since_last(world)["diff"]


def test_without_any_review_there_is_nothing_to_compare_with(world: World) -> None:
    for words in (("--since-last",), (), ("--json",)):
        assert "adam has no work to review" in world.story.llmc("review", "adam", *words, code=1).err
    world.work({"app.py": APP}, "One")
    world.to_review()
    said = world.story.llmc("review", "adam", "--since-last", code=1)
    assert "nobody has reviewed adam's work before" in said.err
    assert "`llmc review adam` shows all of the work" in said.err


# --- the document -----------------------------------------------------------------------------------------


def test_the_document_of_a_review(world: World) -> None:
    files = {"app.py": APP, "pic.png": b"\x89PNG\0", "src/app.py": None, "README": README.replace("line 9\n", "nine")}
    begin(world, files)
    (world.worktree / "left.txt").write_text("half\n")
    answer = world.story.json("review", "adam")
    assert {each["path"]: (each["status"], each["binary"]) for each in answer["files"]} == {
        "README": ("changed", False),
        "app.py": ("added", False),
        "pic.png": ("added", True),
        "src/app.py": ("deleted", False),
    }
    hunks = {hunk["path"]: hunk for hunk in answer["hunks"]}
    assert (hunks["app.py"]["old_path"], hunks["app.py"]["new_start"], hunks["app.py"]["new_count"]) == (None, 1, 20)
    assert hunks["src/app.py"]["lines"] == [{"kind": "removed", "old_no": 1, "new_no": None, "text": "print('app')"}]
    changed = [each for each in hunks["README"]["lines"] if each["kind"] == "added"]
    assert changed == [{"kind": "added", "old_no": None, "new_no": 9, "text": "nineline 10"}]
    assert answer["uncommitted"] == ["left.txt"]
    assert (answer["conflicts"], answer["checks"], answer["since"], answer["rounds"]) == ([], NOT_CHECKED, None, [])
    assert answer["reviewed_sha"] == answer["commit_sha"] == world.in_worktree("rev-parse", "HEAD")
    assert "nineline 10" in answer["diff"]


def test_the_document_tells_of_conflicts_to_come(world: World) -> None:
    begin(world, {"README": README.replace("line 3\n", "adam\n")})
    sha = world.story.commit_as("baker", "README", README.replace("line 3\n", "baker\n"), "Work of baker")
    world.story.rewrite("baker", work=Work.NEEDS_REVIEW, commit_sha=sha)
    assert world.story.json("review", "adam")["conflicts"] == [{"worker": "baker", "files": ["README"]}]


def test_the_document_can_be_had_without_a_review(world: World) -> None:
    from llmc.commands.shared.review_document import look_at_work, review_document
    from llmc.commands.shared.review_head import plan_of
    from llmc.git.clone import peek_source

    world.work({"app.py": APP}, "One")
    world.to_review()
    world.upstream({"hand.txt": "h\n"})
    before, site = world.picture(), world.story.site
    worker = site.worker("adam")
    tip = peek_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)
    answer = review_document(site, worker, look_at_work(site, worker), plan_of(site, worker, tip))
    assert [each["path"] for each in answer["files"]] == ["app.py"]
    assert world.picture() == before
    assert site.worker("adam").reviewed is None
    assert site.ledger.load().last_reviewed_worker is None
    assert answer.keys() == world.story.json("review", "adam").keys()


# --- the end of the work ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("accept", "adam"), ("reset", "adam", "--yes")])
def test_comments_go_with_the_work(world: World, words: tuple[str, ...]) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:1")
    send(world)
    say(world, "app.py:2")
    world.story.llmc(*words)
    world.work({"next.py": "x\n"}, "Next")
    world.to_review()
    listed = world.story.json("comment", "adam", "--list")
    assert (listed["comments"], listed["rounds"]) == ([], [])
    assert say(world, "next.py:1")["number"] == 1


def test_nothing_of_a_removed_worker_is_left(world: World) -> None:
    begin(world, {"app.py": APP})
    say(world, "app.py:1")
    assert world.in_clone("for-each-ref", "refs/llmc/commented/adam")
    world.story.llmc("nuke", "adam", "--yes")
    assert world.in_clone("for-each-ref", "refs/llmc/commented/adam") == ""
    world.story.llmc("add", "adam", "--agent", "demo")
    assert world.story.json("comment", "adam", "--list")["comments"] == []
