"""What the work may be made of, and how its commits and messages become one."""

from __future__ import annotations

import pytest

from testing.scenario import Lands, Scenario, Table
from testing.world import SOME, Link, World

table = Table()
README = SOME["README"]
CREDIT = "🤖 Generated with [Claude Code](https://claude.ai/code)\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n"


# --- files ------------------------------------------------------------------------------------------


@table.add(Lands({"a.txt": "a\n"}))
def a_new_file(w: World) -> None:
    w.work({"a.txt": "a\n"})


@table.add(Lands({"README": README + "more\n"}))
def a_changed_file(w: World) -> None:
    w.work({"README": README + "more\n"})


@table.add(Lands({"notes.txt": None}))
def a_deleted_file(w: World) -> None:
    w.work({"notes.txt": None})


@table.add(Lands({"notes.txt": None, "docs/notes.md": "notes\n"}))
def a_renamed_file(w: World) -> None:
    w.work({"notes.txt": None, "docs/notes.md": "notes\n"})


@table.add(Lands({"run.sh": "#!/bin/sh\n"}))
def a_changed_mode(w: World) -> None:
    (w.worktree / "run.sh").chmod(0o755)
    w.work({})


@table.add(Lands({"link": Link("README")}))
def a_symlink(w: World) -> None:
    w.work({"link": Link("README")})


@table.add(Lands({"notes.txt": Link("nowhere/at all")}))
def a_file_that_becomes_a_dangling_symlink(w: World) -> None:
    w.work({"notes.txt": Link("nowhere/at all")})


@table.add(Lands({"blob.bin": bytes(range(256)) * 64}))
def a_binary_file(w: World) -> None:
    w.work({"blob.bin": bytes(range(256)) * 64})


@table.add(Lands({"empty": b"", "dos.txt": "a\r\nb\r\n", "no-end": "no newline"}))
def odd_contents(w: World) -> None:
    w.work({"empty": b"", "dos.txt": "a\r\nb\r\n", "no-end": "no newline"})


@table.add(Lands({"sp ace/ü – 名.txt": "u\n", 'qu"ote': "q\n", "-dash": "d\n", "tab\tbed": "t\n"}))
def odd_names(w: World) -> None:
    w.work({"sp ace/ü – 名.txt": "u\n", 'qu"ote': "q\n", "-dash": "d\n", "tab\tbed": "t\n"})


@table.add(Lands({"notes.txt": None, "notes.txt/inner": "i\n"}))
def a_file_that_becomes_a_directory(w: World) -> None:
    w.work({"notes.txt": None})
    w.work({"notes.txt/inner": "i\n"}, "more")
    w.in_worktree("reset", "--quiet", "--soft", "HEAD~2")
    w.work({})


@table.add(Lands({"src/deep/er/util.py": None, "src/deep": "flat\n"}))
def a_directory_that_becomes_a_file(w: World) -> None:
    w.work({"src/deep": "flat\n"})


@table.add(Lands({"big.txt": "x" * 79 + "\n" + "y\n" * 200_000}))
def a_large_file(w: World) -> None:
    w.work({"big.txt": "x" * 79 + "\n" + "y\n" * 200_000})


@table.add(Lands({f"many/{n}.txt": f"{n}\n" for n in range(60)}))
def many_files(w: World) -> None:
    w.work({f"many/{n}.txt": f"{n}\n" for n in range(60)})


# --- commits ----------------------------------------------------------------------------------------


@table.add(Lands({"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"}, "Add a\n\nThe first.\n\n- Add b\n- Add c"))
def several_commits_become_one(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Add a\n\nThe first.")
    w.work({"b.txt": "b\n"}, "Add b\n\nThe second.")
    w.work({"c.txt": "c\n"}, "Add c")


@table.add(Lands({"a.txt": "a2\n"}, "Add a"))
def fixups_are_not_told_of(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Add a")
    w.work({"a.txt": "a2\n"}, "fixup! Add a")


@table.add(Lands({"a.txt": "a\n"}, "Try\n\n- Add a"))
def a_commit_that_is_taken_back(w: World) -> None:
    w.work({"README": "changed\n"}, "Try")
    w.work({"README": README, "a.txt": "a\n"}, "Add a")


@table.add(Lands({"a.txt": "a\n"}, "Nothing yet\n\n- Add a"))
def an_empty_commit_among_others(w: World) -> None:
    w.work({}, "Nothing yet")
    w.work({"a.txt": "a\n"}, "Add a")


@table.add(Lands({"a.txt": "a\n"}, "Amended"))
def an_amended_commit(w: World) -> None:
    w.work({"a.txt": "b\n"}, "First try")
    (w.worktree / "a.txt").write_text("a\n")
    w.in_worktree("commit", "--quiet", "--all", "--amend", "-m", "Amended")


@table.add(Lands({"a.txt": "a\n"}, "Add a"))
def the_agent_merged_the_branch_itself(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Add a")
    w.upstream({"hand.txt": "h\n"})
    w.story.fetch_upstream()
    w.in_worktree("merge", "--quiet", "--no-edit", "origin/main")


@table.add(Lands({"a.txt": "a\n", "b.txt": "b\n"}, "Add a\n\n- Add b"))
def the_agent_merged_and_the_branch_moved_on_again(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Add a")
    w.upstream({"hand.txt": "h\n"})
    w.story.fetch_upstream()
    w.in_worktree("merge", "--quiet", "--no-edit", "origin/main")
    w.work({"b.txt": "b\n"}, "Add b")
    w.upstream({"hand.txt": "h2\n"})


@table.add(Lands({"a.txt": "a\n"}, "Add a"))
def the_agent_rebased_its_work_itself(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Add a")
    w.upstream({"hand.txt": "h\n"})
    w.story.fetch_upstream()
    w.in_worktree("rebase", "--quiet", "origin/main")


@table.add(Lands({"a.txt": "a\n"}, "Add a", author="Ann Other <ann@example.org>"))
def the_author_is_kept(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Add a", GIT_AUTHOR_NAME="Ann Other", GIT_AUTHOR_EMAIL="ann@example.org")


# --- messages ---------------------------------------------------------------------------------------


@table.add(Lands({"a.txt": "a\n"}, "Add a\n\nIt was missing."))
def credits_of_a_tool_go(w: World) -> None:
    w.work({"a.txt": "a\n"}, f"Add a\n\nIt was missing.\n\n{CREDIT}")


@table.add(Lands({"a.txt": "a\n"}, "Add a\n\nBody", author="Ann Other <ann@example.org>"))
def nothing_lands_that_a_terminal_would_act_upon(w: World) -> None:
    names = {"GIT_AUTHOR_NAME": "Ann\x1b[31m Other\x07\u202e", "GIT_AUTHOR_EMAIL": "ann\x1b[2J@example.org"}
    w.work({"a.txt": "a\n"}, "Add a\x1b]0;owned\x07\n\nBo\x08dy\u2066", **names)


@table.add(Lands({"a.txt": "a\n"}, "Add a\n\nFixes: #1\nCo-authored-by: Claude Monet <claude@monet.fr>"))
def trailers_of_people_stay(w: World) -> None:
    trailers = "Fixes: #1\nCo-authored-by: Claude Monet <claude@monet.fr>\nCo-Authored-By: Codex <noreply@openai.com>"
    w.work({"a.txt": "a\n"}, f"Add a\n\n{trailers}\n")


@table.add(Lands({"a.txt": "a\n"}, "Do the task"))
def without_words_the_task_is_the_message(w: World) -> None:
    w.work({"a.txt": "a\n"}, CREDIT)


@table.add(
    Lands(
        {"a.txt": "a\n"},
        "Mine\n\nSigned-off-by: Tess Ter <tess@example.com>",
        words=("-m", f"Mine\n\n{CREDIT}Signed-off-by: Tess Ter <tess@example.com>"),
    )
)
def a_message_of_ones_own(w: World) -> None:
    w.work({"a.txt": "a\n"}, "Not this")


@table.add(Lands({"a.txt": "a\n"}, "Füge ä hinzu – 追加\n\n# not a comment\n  indented"))
def a_message_with_all_kinds_of_letters(w: World) -> None:
    w.in_worktree("config", "core.commentChar", ";")
    w.work({"a.txt": "a\n"}, "Füge ä hinzu – 追加\n\n# not a comment\n  indented\n")


@table.add(Lands({"a.txt": "a\n"}, "Füge ä hinzu"))
def a_message_in_another_encoding(w: World) -> None:
    (w.worktree / "a.txt").write_text("a\n")
    w.in_worktree("add", "a.txt")
    git = w.story.site.git
    latin = ("-c", "i18n.commitEncoding=ISO-8859-1")
    git.run(str(w.worktree), *latin, "commit", "--quiet", "-F", "-", stdin="Füge ä hinzu".encode("latin-1"))


def test_the_date_of_the_author_is_kept(world: World) -> None:
    world.work({"a.txt": "a\n"}, "Add a", GIT_AUTHOR_DATE="@1600000000 +0330")
    world.work({"b.txt": "b\n"}, "Add b", GIT_AUTHOR_DATE="@1700000000 +0000")
    world.to_review()
    world.story.llmc("accept", "adam")
    assert world.in_source("log", "-1", "--date=raw", "--format=%ad", "main") == "1600000000 +0330"


@pytest.mark.parametrize("scenario", table.rows, ids=lambda scenario: scenario.name)
def test_accept(world: World, scenario: Scenario) -> None:
    scenario.play(world)
