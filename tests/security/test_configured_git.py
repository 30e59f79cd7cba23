"""Agents share the clone's repository and can configure git there. LLMC's own git hears nothing of it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.git.own_view import DEAF
from llmc.model import Work
from testing.story import Story

SECRET = "the line that a person must see"


def _finished(story: Story, sha: str) -> None:
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha)


class Agent:
    """One that commits a file and then makes git say something else about it."""

    def __init__(self, story: Story) -> None:
        self.place = story.place
        self.clone = Path(story.root.git_dir)
        self.worktree = Path(story.worker("adam").worktree_path)

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.worktree, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def program(self, then: str = "cat") -> str:
        """Leaves a trace when it is run, and passes on what it reads, or what `then` makes of it."""
        path = self.place / "program.sh"
        path.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(self.place))}/pwned\n{then}\n")
        path.chmod(0o755)
        return str(path)

    def config(self, name: str, value: str) -> None:
        self.git("config", name, value)

    def info(self, name: str, text: str) -> None:
        (self.clone / "info").mkdir(exist_ok=True)
        (self.clone / "info" / name).write_text(text)


def _textconv(agent: Agent) -> None:
    agent.info("attributes", "secret.txt diff=x\n")
    agent.config("diff.x.textconv", agent.program("echo nothing"))


def _diff_command(agent: Agent) -> None:
    agent.info("attributes", "secret.txt diff=x\n")
    agent.config("diff.x.command", agent.program("echo nothing"))


def _external_diff(agent: Agent) -> None:
    agent.config("diff.external", agent.program("echo nothing"))


def _no_diff(agent: Agent) -> None:
    agent.info("attributes", "secret.txt -diff\n")


def _attributes_file(agent: Agent) -> None:
    (agent.place / "attributes").write_text("secret.txt -diff\n")
    agent.config("core.attributesFile", str(agent.place / "attributes"))


def _filters(agent: Agent) -> None:
    agent.info("attributes", "* filter=x\n")
    for side in ("clean", "smudge"):
        agent.config(f"filter.x.{side}", agent.program("echo another content"))


def _merge_driver(agent: Agent) -> None:
    agent.info("attributes", "* merge=x\n")
    agent.config("merge.x.driver", agent.program())


def _fsmonitor(agent: Agent) -> None:
    agent.config("core.fsmonitor", agent.program("printf '/'"))


def _hooks(agent: Agent) -> None:
    hooks = agent.place / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-rewrite", "pre-rebase", "reference-transaction", "post-index-change"):
        (hooks / name).symlink_to(agent.program())
        (agent.clone / "hooks").mkdir(exist_ok=True)
        (agent.clone / "hooks" / name).symlink_to(agent.program())
    agent.config("core.hooksPath", str(hooks))


def _pager_and_editors(agent: Agent) -> None:
    for name in ("core.pager", "pager.diff", "pager.log", "core.editor", "sequence.editor"):
        agent.config(name, agent.program())


def _alias(agent: Agent) -> None:
    for word in ("diff", "status", "show", "merge-tree", "rev-parse"):
        agent.config(f"alias.{word}", f"!{agent.program()}")


def _include(agent: Agent) -> None:
    (agent.place / "more").write_text(f"[diff]\n\texternal = {agent.program('echo nothing')}\n")
    agent.config("include.path", str(agent.place / "more"))


def _settings_of_the_worktree(agent: Agent) -> None:
    agent.config("extensions.worktreeConfig", "true")
    agent.git("config", "--worktree", "diff.external", agent.program("echo nothing"))


def _signer(agent: Agent) -> None:
    agent.config("commit.gpgSign", "true")
    agent.config("gpg.program", agent.program("exit 1"))


def _upload_pack(agent: Agent) -> None:
    agent.config("remote.origin.uploadpack", agent.program("exit 1"))


def _another_source(agent: Agent) -> None:
    source = agent.git("config", "remote.origin.url")
    agent.config("url.file:///nowhere/.insteadOf", source)
    agent.config("remote.origin.url", "/nowhere")


def _another_worktree(agent: Agent) -> None:
    agent.config("core.worktree", str(agent.place))


def _replaced(agent: Agent) -> None:
    """Git shows the commit before in place of the work."""
    agent.git("replace", "HEAD", "HEAD~1")


def _grafted(agent: Agent) -> None:
    tip, first = agent.git("rev-parse", "HEAD", "HEAD~1").splitlines()
    agent.info("grafts", f"{tip}\n{first}\n")


def _cut_off(agent: Agent) -> None:
    """The work looks as if it had no history."""
    (agent.clone / "shallow").write_text(agent.git("rev-parse", "HEAD") + "\n")


def _hidden_refs(agent: Agent) -> None:
    for name in ("transfer.hideRefs", "uploadpack.hideRefs"):
        agent.config(name, "refs/llmc")


def _unknown_format(agent: Agent) -> None:
    agent.config("core.repositoryFormatVersion", "99")


def _alias_of_the_source(agent: Agent) -> None:
    """LLMC's own names for the user's branch stand for the worker's: bringing them up to date would move that."""
    for name in ("refs/remotes/origin/main", "refs/llmc/upstream/main", "refs/llmc/reviewed/adam"):
        agent.git("symbolic-ref", name, "refs/heads/llmc/adam")


def _diff_settings(agent: Agent) -> None:
    for name, value in (("diff.noprefix", "true"), ("diff.orderFile", "/dev/null"), ("color.ui", "always")):
        agent.config(name, value)


def _moved_origin(agent: Agent) -> None:
    """The clone's name for the user's branch: all of the work looks as if it had landed."""
    agent.git("update-ref", "refs/remotes/origin/main", "HEAD")


CONFIGURED: tuple[Callable[[Agent], None], ...] = (
    _textconv,
    _diff_command,
    _external_diff,
    _no_diff,
    _attributes_file,
    _filters,
    _merge_driver,
    _fsmonitor,
    _hooks,
    _pager_and_editors,
    _alias,
    _include,
    _settings_of_the_worktree,
    _signer,
    _upload_pack,
    _another_source,
    _another_worktree,
    _replaced,
    _grafted,
    _cut_off,
    _hidden_refs,
    _unknown_format,
    _alias_of_the_source,
    _diff_settings,
    _moved_origin,
)


@pytest.mark.lesson(49, "what a person reviews passes through nothing that an agent can configure")
@pytest.mark.parametrize("configure", CONFIGURED, ids=lambda each: each.__name__.strip("_"))
def test_what_is_reviewed_and_what_lands_is_what_was_committed(
    story: Story, configure: Callable[[Agent], None]
) -> None:
    story.begin("adam")
    _finished(story, story.commit_as("adam", "secret.txt", f"{SECRET}\n", "Add a secret"))
    configure(Agent(story))
    trace = story.place / "pwned"
    trace.unlink(missing_ok=True)  # the agent's own git may have run it
    story.commit_upstream("other.txt", "of the user's\n", "Go on")
    for interface in ("diff", "stat"):
        shown = story.llmc("review", "adam", "--interface", interface).out
        assert "secret.txt" in shown
    assert f"+{SECRET}" in story.llmc("review", "adam", "--interface", "diff").out
    assert not trace.exists()
    story.llmc("accept", "adam")
    assert (story.repository / "secret.txt").read_text() == f"{SECRET}\n"
    assert story.git("status", "--porcelain") == ""
    assert story.git("log", "--format=%s").splitlines() == ["Add a secret", "Go on", "first"]
    assert story.worker("adam").work is Work.IDLE
    assert not trace.exists()


@pytest.mark.lesson(49, "what a person reviews passes through nothing that an agent can configure")
@pytest.mark.parametrize("configure", CONFIGURED, ids=lambda each: each.__name__.strip("_"))
def test_what_became_of_a_comment_is_what_was_committed(story: Story, configure: Callable[[Agent], None]) -> None:
    story.begin("adam")
    _finished(story, story.commit_as("adam", "secret.txt", "one\ntwo\n", "Add a file"))
    story.llmc("review", "adam", "--interface", "stat")
    assert story.json("comment", "adam", "secret.txt:2", "Why?")["quoted"] == ["two"]
    _finished(story, story.commit_as("adam", "secret.txt", f"one\n{SECRET}\n", "Add a secret"))
    configure(Agent(story))
    trace = story.place / "pwned"
    trace.unlink(missing_ok=True)  # the agent's own git may have run it
    story.commit_upstream("other.txt", "of the user's\n", "Go on")
    answer = story.json("review", "adam", "--since-last")
    assert [each["path"] for each in answer["files"]] == ["secret.txt"]
    assert [line["text"] for line in answer["hunks"][0]["lines"]] == ["one", "two", SECRET]
    assert answer["comments"][0]["now"]["lines"] == [SECRET]
    assert not trace.exists()


def test_attributes_that_were_committed_hide_nothing(story: Story) -> None:
    story.begin("adam")
    story.commit_as("adam", ".gitattributes", "secret.txt -diff\n", "Set attributes")
    _finished(story, story.commit_as("adam", "secret.txt", f"{SECRET}\n", "Add a secret"))
    assert f"+{SECRET}" in story.llmc("review", "adam", "--interface", "diff").out


def _exclude(agent: Agent) -> None:
    agent.info("exclude", "*\n")


def _excludes_file(agent: Agent) -> None:
    (agent.place / "ignore").write_text("*\n")
    agent.config("core.excludesFile", str(agent.place / "ignore"))


def _no_untracked(agent: Agent) -> None:
    agent.config("status.showUntrackedFiles", "no")


def _lying_monitor(agent: Agent) -> None:
    agent.config("core.fsmonitor", agent.program("printf 'token\\0'"))
    agent.git("update-index", "--fsmonitor")
    agent.git("status")


def _skip_worktree(agent: Agent) -> None:
    agent.git("update-index", "--skip-worktree", "README")


def _assume_unchanged(agent: Agent) -> None:
    agent.git("update-index", "--assume-unchanged", "README")


def _sparse(agent: Agent) -> None:
    agent.git("sparse-checkout", "set", "--no-cone", "/other")
    agent.git("update-index", "--skip-worktree", "README")


HIDDEN: tuple[Callable[[Agent], None], ...] = (
    _exclude,
    _excludes_file,
    _no_untracked,
    _lying_monitor,
    _skip_worktree,
    _assume_unchanged,
    _sparse,
)


@pytest.mark.lesson(49, "what a person reviews passes through nothing that an agent can configure")
@pytest.mark.parametrize("hide", HIDDEN, ids=lambda each: each.__name__.strip("_"))
def test_hidden_files_are_asked_about_and_kept(story: Story, hide: Callable[[Agent], None]) -> None:
    story.begin("adam")
    agent = Agent(story)
    hide(agent)
    (agent.worktree / "README").write_text("changed and hidden\n")
    (agent.worktree / "new.txt").write_text("new and hidden\n")
    refused = story.llmc("nuke", "adam", code=1)
    assert "uncommitted file" in refused.err
    story.llmc("nuke", "adam", "--yes")
    (backup,) = story.json("undo", "--list")
    assert set(backup["dirty"]) == {"README", "new.txt"}
    kept = story.git("show", f"{backup['ref']}:README", f"{backup['ref']}:new.txt", cwd=story.root.path)
    assert kept == "changed and hidden\nnew and hidden"


@pytest.mark.parametrize("hide", HIDDEN[-3:], ids=lambda each: each.__name__.strip("_"))
def test_reset_shows_hidden_files_again_and_undo_brings_them_back(story: Story, hide: Callable[[Agent], None]) -> None:
    story.begin("adam")
    agent = Agent(story)
    hide(agent)
    readme = agent.worktree / "README"
    readme.write_text("changed and hidden\n")
    story.llmc("reset", "adam", "--yes")
    assert readme.read_text() == "one\ntwo\nthree\n"
    story.llmc("undo", "adam", "--yes")
    assert readme.read_text() == "changed and hidden\n"


def test_a_new_worktree_is_filled_by_no_filter_of_an_agent(story: Story) -> None:
    agent = Agent(story.begin("adam"))
    agent.info("attributes", "* filter=x\n")
    agent.config("filter.x.smudge", agent.program("echo nothing"))
    story.llmc("add", "baker", "--agent", "demo")
    shutil.rmtree(agent.worktree)
    story.llmc("doctor", "--repair", "--yes")
    for name in ("adam", "baker"):
        assert Path(story.root.worktree(name), "README").read_text() == (story.repository / "README").read_text()
    assert not (story.place / "pwned").exists()


def test_nothing_is_pushed_from_the_clone(story: Story) -> None:
    story.begin("adam")
    story.git("branch", "side")
    before = story.git("for-each-ref")
    story.commit_as("adam", "a.txt", "a\n", "Add a")
    for words in ("origin HEAD:main", "--force origin HEAD:main", "origin --delete side", "--all", "--mirror origin"):
        done = subprocess.run(
            ["git", "push", *words.split()],
            cwd=story.worker("adam").worktree_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode != 0
        assert "LLMC" in done.stderr
    assert story.git("for-each-ref") == before


def test_a_root_of_an_earlier_version_gets_its_view_and_cannot_be_pushed_from(story: Story) -> None:
    story.begin("adam")
    subprocess.run(["rm", "-r", f"{story.root.path}/run/git"], check=True)
    story.git("config", "--unset-all", "remote.origin.pushurl", cwd=story.root.path)
    _finished(story, story.commit_as("adam", "a.txt", "a\n", "Add a"))
    Agent(story).config("diff.external", "false")
    assert "+a" in story.llmc("review", "adam", "--interface", "diff").out
    assert story.git("config", "remote.origin.pushurl", cwd=story.root.path)
    assert story.git("config", "core.fsmonitor", cwd=f"{story.root.path}/run/git") == DEAF["core.fsmonitor"]
