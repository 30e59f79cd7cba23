"""What LLMC does to branches: one clean commit lands or nothing changes, and nothing is ever lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.git import rebase
from llmc.git.backup import is_backed_up, list_backups
from llmc.git.history import own_commits
from llmc.git.land import squash
from llmc.git.rebase import own_base, rebase_in_progress
from llmc.host.faults import Moment
from llmc.model import Turn, Work, Worker
from llmc.perform import branches
from llmc.perform.steps import Settled, decide_and_run, settle
from testing.landing import land_now as land
from testing.story import Story

AGENTS_MESSAGE = """Add a

It was missing.

🤖 Generated with Claude Code

Co-Authored-By: Claude <noreply@anthropic.com>
"""


def to_review(story: Story, path: str = "a.txt", content: str = "x\n", message: str = AGENTS_MESSAGE) -> str:
    """A worker whose commit waits for review, with no agent."""
    if not story.root.exists:
        story.begin("adam")
    sha = story.commit_as("adam", path, content, message)
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt="Add a", turn=Turn.OVER)
    return sha


def accept(story: Story, message: str | None = None) -> Settled:
    return decide_and_run(story.site, "adam", ev.AcceptAsked(story.site.now(), message))


def merged(settled: Settled) -> Worker:
    assert settled.refusal is None, settled.refusal
    assert settled.worker is not None
    assert settled.worker.work is Work.IDLE
    return settled.worker


def refused(settled: Settled) -> LlmcError:
    assert settled.refusal is not None
    assert settled.worker is not None
    assert (settled.worker.work, settled.worker.pending) == (Work.NEEDS_REVIEW, ())
    return settled.refusal


def picture(story: Story) -> dict[str, object]:
    """Everything that a refused merge must leave as it was."""
    worker = story.worker("adam")
    return {
        "branch": story.git("rev-parse", "main"),
        "work": story.git("rev-parse", worker.branch, cwd=story.root.path),
        "status": story.git("status", "--porcelain"),
        "worktree": story.git("status", "--porcelain", "--branch", cwd=worker.worktree_path),
        "record": (worker.work, worker.commit_sha, worker.base_sha, worker.current_prompt),
    }


# --- accept -----------------------------------------------------------------------------------------


def test_work_lands_as_one_clean_commit(story: Story) -> None:
    to_review(story)
    worktree = story.worker("adam").worktree_path
    story.git("config", "user.name", "Somebody Else", cwd=story.root.path)
    to_review(story, "b.txt", "y\n", "Oops, and b")
    inode = Path(worktree).stat().st_ino

    worker = merged(accept(story))

    assert story.subjects() == ["first", "Add a"]
    assert story.git("show", "--no-patch", "--format=%an <%ae>%n%B", "main").startswith(
        "Tess Ter <tess@example.com>\nAdd a\n\nIt was missing."
    )
    message = story.git("show", "--no-patch", "--format=%B", "main")
    assert "Claude" not in message
    assert sorted(story.git("show", "--name-only", "--format=", "main").splitlines()) == ["a.txt", "b.txt"]
    assert worker.base_sha == story.git("rev-parse", "main")
    assert (worker.current_prompt, worker.commit_sha, worker.pending) == ("", None, ())
    assert Path(worktree).stat().st_ino == inode, "an agent runs in it: it is reset in place"
    assert story.git("rev-parse", "HEAD", cwd=worktree) == worker.base_sha
    assert story.git("branch", "--show-current", cwd=worktree) == "llmc/adam"


def test_a_message_of_ones_own_is_used(story: Story) -> None:
    to_review(story)
    merged(accept(story, "Mine\n\nCo-Authored-By: Claude <noreply@anthropic.com>"))
    assert story.git("show", "--no-patch", "--format=%B", "main").strip() == "Mine"


def test_the_users_checkout_is_only_fast_forwarded(story: Story) -> None:
    to_review(story)
    (story.repository / "README").write_text("my own words\n")
    (story.repository / "notes.txt").write_text("mine\n")
    (story.repository / "staged.txt").write_text("staged\n")
    story.git("add", "staged.txt")
    before = story.git("status", "--porcelain")

    merged(accept(story))

    assert story.git("status", "--porcelain") == before
    assert (story.repository / "README").read_text() == "my own words\n"
    assert (story.repository / "a.txt").read_text() == "x\n"
    assert story.git("branch", "--show-current") == "main"


def test_a_branch_that_is_not_checked_out_is_moved(story: Story) -> None:
    to_review(story)
    story.git("checkout", "--quiet", "-b", "elsewhere")
    merged(accept(story))
    assert story.subjects() == ["first", "Add a"]
    assert not (story.repository / "a.txt").exists()


def test_work_is_put_on_top_of_what_came_meanwhile(story: Story) -> None:
    to_review(story)
    story.commit_upstream("b.txt", "b\n", "By hand")
    merged(accept(story))
    assert story.subjects() == ["first", "By hand", "Add a"]
    assert story.git("show", "main:b.txt") == "b"


def test_uncommitted_changes_are_not_left_out_in_silence(story: Story) -> None:
    to_review(story)
    Path(story.worker("adam").worktree_path, "half.txt").write_text("half\n")
    before = picture(story)
    assert "uncommitted changes in half.txt" in refused(accept(story)).what
    assert picture(story) == before


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_local_changes_of_the_user_are_never_overwritten(story: Story) -> None:
    to_review(story, "README", "of the agent\n", "Change the readme")
    (story.repository / "README").write_text("of the user\n")
    before = picture(story)
    refusal = refused(accept(story))
    assert "local changes that this work would overwrite: README" in refusal.what
    assert "stash" in refusal.hint
    assert picture(story) == before
    assert (story.repository / "README").read_text() == "of the user\n"


def test_a_conflict_is_refused_and_leaves_no_rebase_behind(story: Story) -> None:
    to_review(story, "README", "ours\n", "Ours")
    story.commit_upstream("README", "theirs\n", "Theirs")
    before = picture(story)
    refusal = refused(accept(story))
    assert "conflicts with main in README" in refusal.what
    assert "llmc rebase adam" in refusal.hint
    assert picture(story) == before
    assert rebase_in_progress(story.site.git, story.worker("adam").worktree_path) is None


def test_work_lands_as_a_whole_where_its_commits_conflict_one_by_one(story: Story) -> None:
    to_review(story, "README", "ours\n", "Change it")
    to_review(story, "README", "one\ntwo\nthree\n", "Change it back")
    to_review(story, "a.txt", "x\n", "Add a")
    story.commit_upstream("README", "theirs\n", "Theirs")
    merged(accept(story))
    assert story.git("show", "main:README") == "theirs"
    assert story.git("show", "main:a.txt") == "x"
    assert rebase_in_progress(story.site.git, story.worker("adam").worktree_path) is None


def test_a_failed_check_leaves_the_branch_where_it_was(story: Story) -> None:
    story.begin("adam", repo__validate='["echo no good; false"]')
    to_review(story)
    story.commit_upstream("b.txt", "b\n", "By hand")
    before = picture(story)
    refusal = refused(accept(story))
    assert "no good" in refusal.what
    assert picture(story) == before


def test_nothing_to_merge_is_said(story: Story) -> None:
    sha = to_review(story)
    story.git("fetch", "--quiet", story.root.path, sha)
    story.git("merge", "--quiet", "--ff-only", sha)
    assert "nothing that main does not have" in refused(accept(story)).what


# --- an accept that was cut short -------------------------------------------------------------------


def begun_accept(story: Story) -> str:
    """What a process leaves that died when the commit was on the branch and nothing else had happened yet."""
    head, site = to_review(story), story.site
    site.ledger.apply("adam", ev.AcceptAsked(site.now(), None))
    site.ledger.apply("adam", ev.StepBegun(site.now(), site.worker("adam").pending[0].id))
    tip = story.git("rev-parse", "main")
    (work,) = own_commits(site.git, story.root.path, head, tip)
    made = squash(site.git, story.root.path, f"{head}^{{tree}}", tip, work, "Add a", signed=False)
    noted = "refs/llmc/accept/adam/commit"
    site.git.run(story.root.path, "update-ref", noted, made)
    land(site.git, str(story.repository), story.root.path, "main", tip, noted)
    return made


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
def test_a_merge_that_has_happened_is_not_done_twice(story: Story) -> None:
    made = begun_accept(story)
    worker = merged(settle(story.site, "adam"))
    assert story.subjects() == ["first", "Add a"]
    assert worker.base_sha == made == story.git("rev-parse", "main")


def test_accepting_again_tells_of_the_merge_that_was_cut_short(story: Story) -> None:
    made = begun_accept(story)
    said = story.json("accept", "adam")
    assert said["commit"] == made
    assert story.subjects() == ["first", "Add a"]


@pytest.mark.lesson(27, "a clean-up that fails is no merge that failed")
def test_a_clean_up_that_fails_is_no_failed_merge(story: Story) -> None:
    to_review(story)
    lock = Path(story.git("rev-parse", "--git-path", "index.lock", cwd=story.worker("adam").worktree_path))
    lock.touch()
    said = story.llmc("accept", "adam").out
    assert "adam: accepted as " in said
    assert "note: it is merged, but the clean-up failed: " in said
    assert story.subjects() == ["first", "Add a"]
    lock.unlink()
    story.llmc("reset", "adam", "--yes")
    assert story.worker("adam").work is Work.IDLE
    assert story.subjects() == ["first", "Add a"]


@pytest.mark.lesson(27, "a clean-up that fails is no merge that failed")
def test_a_clean_up_that_failed_is_done_by_whoever_comes_next(story: Story) -> None:
    """Else the next work would be built on commits that have landed as another."""
    to_review(story)
    worktree = story.worker("adam").worktree_path
    lock = Path(story.git("rev-parse", "--git-path", "index.lock", cwd=worktree))
    lock.touch()
    story.llmc("accept", "adam")
    assert "ResetWorktree" in story.llmc("start", "--worker", "adam", "--prompt", "next", code=1).err
    lock.unlink()
    assert settle(story.site, "adam").refusal is None
    assert story.worker("adam").pending == ()
    assert story.git("rev-parse", "HEAD", cwd=worktree) == story.git("rev-parse", "main")
    assert story.git("status", "--porcelain", cwd=worktree) == ""


def test_an_old_merge_is_no_proof_of_a_new_one(story: Story) -> None:
    begun_accept(story)
    story.llmc("reset", "adam", "--yes")
    assert story.worker("adam").work is Work.IDLE
    to_review(story, "b.txt", "y\n", "Add b")
    merged(accept(story))
    assert story.subjects() == ["first", "Add a", "Add b"]


# --- rebase, reset, remove --------------------------------------------------------------------------


@pytest.mark.lesson(31, "a conflict is handed over with the task, the files and numbered steps")
def test_a_conflict_becomes_a_request_that_repeats_the_task(story: Story) -> None:
    to_review(story, "README", "ours\n", "Ours")
    tip = story.commit_upstream("README", "theirs\n", "Theirs")
    story.fetch_upstream()
    settled = decide_and_run(story.site, "adam", ev.RebaseAsked(story.site.now(), tip))
    assert settled.worker is not None
    assert (settled.worker.work, settled.worker.conflicted_files) == (Work.REBASING, ("README",))
    conflicted = next(d for d in settled.decisions if d.signal == "git.conflict")
    text = str(conflicted.worker.pending[0].args["text"])
    for words in ("> Add a", "README", "ours", "theirs", "rebase --continue"):
        assert words in text


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_a_reset_keeps_everything_in_a_backup(story: Story) -> None:
    sha = to_review(story)
    worktree = Path(story.worker("adam").worktree_path)
    (worktree / "half.txt").write_text("half\n")
    (worktree / "README").write_text("changed\n")
    inode = worktree.stat().st_ino

    settled = decide_and_run(story.site, "adam", ev.ResetAsked(story.site.now()))

    assert settled.worker is not None
    assert settled.worker.work is Work.IDLE
    assert story.git("status", "--porcelain", cwd=str(worktree)) == ""
    assert worktree.stat().st_ino == inode
    (backup,) = list_backups(story.site.git, story.root.path, "adam")
    assert backup.head_sha == sha
    assert sorted(backup.dirty) == ["README", "half.txt"]


def test_files_that_git_ignores_are_carried_along(story: Story) -> None:
    story.begin(repo__copy='[".env"]')
    story.commit_upstream(".gitignore", ".env\n", "Ignore")
    (story.repository / ".env").write_text("SECRET=1\n")
    story.llmc("add", "adam", "--agent", "demo")
    env = Path(story.worker("adam").worktree_path, ".env")
    assert env.read_text() == "SECRET=1\n"
    (story.repository / ".env").write_text("SECRET=2\n")
    decide_and_run(story.site, "adam", ev.ResetAsked(story.site.now()))
    assert env.read_text() == "SECRET=2\n"


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_a_removed_worker_leaves_its_work_in_a_backup(story: Story) -> None:
    sha = to_review(story)
    decide_and_run(story.site, "adam", ev.RemovalAsked(story.site.now()))
    (backup,) = list_backups(story.site.git, story.root.path, "adam")
    assert backup.head_sha == sha
    assert story.git("branch", "--list", "llmc/*", cwd=story.root.path) == ""


def test_even_when_its_worktree_was_deleted_by_hand(story: Story) -> None:
    sha = to_review(story)
    story.site.host.remove_tree(story.worker("adam").worktree_path)
    decide_and_run(story.site, "adam", ev.RemovalAsked(story.site.now()))
    (backup,) = list_backups(story.site.git, story.root.path, "adam")
    assert backup.head_sha == sha


def commit_late(story: Story, *, detached: bool) -> str:
    """Somebody commits in the worktree after the backup was made."""
    if detached:
        story.git("checkout", "--quiet", "--detach", cwd=story.worker("adam").worktree_path)
    return story.commit_as("adam", "late.txt", "x\n", "In the last moment")


ON_BRANCH_OR_NOT = pytest.mark.parametrize("detached", [False, True], ids=["on its branch", "detached"])


@ON_BRANCH_OR_NOT
def test_a_commit_between_the_backup_and_the_rebase_is_kept(
    story: Story, monkeypatch: pytest.MonkeyPatch, detached: bool
) -> None:
    to_review(story)
    made: list[str] = []

    def last_moment(*words: Any) -> rebase.Base:
        base = own_base(*words)
        made.append(commit_late(story, detached=detached))
        return base

    monkeypatch.setattr(rebase, "own_base", last_moment)
    story.commit_upstream("b.txt", "x\n", "By hand")
    tip = story.git("rev-parse", "main")
    story.fetch_upstream()
    decide_and_run(story.site, "adam", ev.RebaseAsked(story.site.now(), tip))
    (late,) = made
    assert is_backed_up(story.site.git, story.root.path, "adam", late)


@ON_BRANCH_OR_NOT
def test_a_commit_between_the_backup_and_the_reset_is_kept(
    story: Story, monkeypatch: pytest.MonkeyPatch, detached: bool
) -> None:
    to_review(story)
    worktree = story.worker("adam").worktree_path
    made: list[str] = []

    def last_moment(moment: Moment) -> None:
        if moment is Moment.RESET_BACKED_UP:
            made.append(commit_late(story, detached=detached))

    monkeypatch.setattr(branches, "reached", last_moment)
    decide_and_run(story.site, "adam", ev.ResetAsked(story.site.now()))
    (late,) = made
    assert story.worker("adam").work is Work.IDLE
    assert is_backed_up(story.site.git, story.root.path, "adam", late)
    assert story.git("rev-parse", "HEAD", cwd=worktree) == story.git("rev-parse", "main")
