"""The composition root: which root is meant, and what stands on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.app import App, open_site
from llmc.cli.render import ConsoleTerminal
from llmc.config.load import parse_config
from llmc.config.settings import Config
from llmc.model import Autonomy
from llmc.root import RootMissingError
from testing.story import Story, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin()


def app(given: str | None = None, environ: dict[str, str] | None = None, cwd: str = "/") -> App:
    return App(given, environ or {}, cwd, ConsoleTerminal(want_json=False, assume_yes=False))


def settings(text: str) -> Config:
    return parse_config(f'[repo]\nsource = "/x"\nbranch = "main"\n{text}')


def test_the_root_is_the_one_that_was_named(story: Story, tmp_path: Path) -> None:
    path = story.root.path
    assert app(path).root().path == path
    assert app(None, {"LLMC_ROOT": path}).root().path == path
    assert app(None, {}, cwd=f"{path}/.worktrees").root().path == path
    assert app(path, {"LLMC_ROOT": str(tmp_path)}).root().path == path, "words come before the environment"


def test_a_place_that_is_no_root_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(RootMissingError, match="there is no LLMC root") as missing:
        app(str(tmp_path)).site()
    assert "llmc init" in missing.value.hint


def test_a_site_holds_what_the_settings_say(story: Story) -> None:
    site = open_site(story.root)
    assert site.config.repo.source == str(story.repository)
    assert site.tmux.socket == story.root.tmux_socket
    assert dict(site.ledger.load().workers) == {}
    assert app(story.root.path).site().root.path == site.root.path


@pytest.mark.lesson(34, "a tmux server of our own, and exact names on it")
def test_two_roots_have_servers_of_their_own(story: Story, tmp_path: Path) -> None:
    other = tmp_path / "other"
    story.llmc("init", "--source", str(story.repository), "--target", str(other))
    assert app(str(other)).site().tmux.socket != story.site.tmux.socket


def test_the_policy_is_that_of_the_worker() -> None:
    config = settings(
        '[policy]\nautonomy = "assist"\ncommit_grace_secs = 7\ncrash_limit = 2\n[workers.adam]\nautonomy = "auto"\n'
    )
    adam, baker = config.policy_for("adam"), config.policy_for("baker")
    assert (adam.autonomy, baker.autonomy) == (Autonomy.AUTO, Autonomy.ASSIST)
    assert (adam.commit_grace_secs, adam.crash_limit) == (7, 2)
    assert adam.recovers
    assert baker.screen_may_move_work
    assert not baker.recovers


def test_by_itself_llmc_does_nothing_unasked() -> None:
    policy = settings("").policy_for("adam")
    assert policy.autonomy is Autonomy.MANUAL
    assert not policy.screen_may_move_work
    assert not policy.recovers
