"""Which root a command means: that of the repository around it, and never silently that of another one."""

from __future__ import annotations

import json

import pytest

from llmc.git.runner import Git
from llmc.host.local import LocalHost
from testing.at_terminal import run_at_terminal
from testing.commands import Llmc
from testing.roots import make_repository

NO_ROOT = {"LLMC_ROOT": None}


class User:
    """Somebody with two repositories, who names no root."""

    def __init__(self, base):
        self.llmc = Llmc(base / "home", base / "unused")
        self.home = self.llmc.home
        self.shop, self.blog = make_repository(base / "shop"), make_repository(base / "blog")

    def says(self, where, *words, check=True):
        return self.llmc.run(*words, cwd=where, env=NO_ROOT, check=check)

    def at_terminal(self, where, *words, answers=""):
        return run_at_terminal(self.llmc.command(*words), self.llmc.environment(NO_ROOT), where, answers)

    def root_of(self, where):
        return json.loads(self.says(where, "status", "--json").out)["root"]


@pytest.fixture
def user(tmp_path):
    user = User(tmp_path)
    with user.llmc:
        user.says(user.shop, "init")
        yield user


def test_each_repository_finds_its_own_root(user):
    user.says(user.blog, "init", "--target", str(user.home / "llmc-blog"))
    below = user.blog / "src" / "deep"
    below.mkdir(parents=True)
    assert user.root_of(user.shop) == str(user.home / "llmc")
    assert user.root_of(user.blog) == user.root_of(below) == str(user.home / "llmc-blog")


def test_a_worktree_of_the_repository_is_the_repository(user):
    user.says(user.blog, "init", "--target", str(user.home / "llmc-blog"))
    Git(LocalHost()).run(str(user.blog), "worktree", "add", "--quiet", str(user.home / "side"))
    assert user.root_of(user.home / "side") == str(user.home / "llmc-blog")


def test_a_submodule_belongs_to_the_whole(user):
    git = Git(LocalHost())
    git.run(str(user.blog), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(user.shop), "vendor")
    git.run(str(user.blog), "commit", "--quiet", "-m", "Add vendor")
    user.says(user.blog, "init", "--target", str(user.home / "llmc-blog"))
    assert user.root_of(user.blog / "vendor") == str(user.home / "llmc-blog")


def test_a_repository_that_merely_lies_in_another_one_is_its_own(user):
    inner = make_repository(user.shop / "inner")
    said = user.says(inner, "add", "x", "--agent", "demo", check=False)
    assert said.code == 1
    assert f"is the root of {user.shop}" in said.err


def test_what_only_looks_asks_nothing(user):
    user.says(user.shop, "add", "adam", "--agent", "demo")
    for words in (["explain", "adam"], ["undo", "--list"], ["status"], ["events"]):
        user.says(user.blog, *words)
    assert f"this is that of {user.shop}" in user.says(user.blog, "status").err
    assert user.says(user.shop, "status").err == ""
    assert user.says(user.blog, "patrol", check=False).code == 1


def test_settings_written_by_hand_name_the_repository_too(user):
    user.says(user.blog, "init", "--target", str(user.home / "other"))
    config = user.home / "other" / "config.toml"
    config.write_text(f"repo = {{ branch = 'main', source = '{user.blog}' }}\n")
    assert user.root_of(user.blog) == str(user.home / "other")


def test_two_roots_of_one_repository_must_be_named(user):
    user.says(user.shop, "init", "--target", str(user.home / "second"))
    said = user.says(user.shop, "status", check=False)
    assert said.code == 1
    assert str(user.home / "llmc") in said.err
    assert str(user.home / "second") in said.err


CHANGE = ["add", "x", "--agent", "demo"], ["nuke", "--all", "--yes"], ["down", "--yes"], ["config", "set", "a", "b"]


@pytest.mark.parametrize("words", CHANGE, ids=" ".join)
def test_the_root_of_another_repository_is_not_changed_unasked(user, words):
    said = user.says(user.blog, *words, check=False)
    assert said.code == 1
    assert f"is the root of {user.shop}" in said.err
    assert "`llmc init`" in said.err


def test_whoever_agrees_means_the_other_root(user):
    code, shown = user.at_terminal(user.blog, "add", "adam", "--agent", "demo", answers="n\n")
    assert (code, "Go on? [y/N]" in shown) == (1, True)
    code, shown = user.at_terminal(user.blog, "add", "adam", "--agent", "demo", answers="y\n")
    assert (code, "added adam" in shown) == (0, True)


def test_who_does_not_agree_is_not_told_of_an_error(user):
    user.says(user.shop, "add", "adam", "--agent", "demo")
    (user.home / "llmc" / ".worktrees" / "adam" / "new.txt").write_text("x")
    code, shown = user.at_terminal(user.shop, "reset", "adam", answers="n\n")
    assert (code, shown.strip().endswith("[y/N] adam: nothing was changed")) == (1, True)
    assert "error" not in shown


def test_a_root_that_was_named_needs_no_question(user):
    user.says(user.blog, "--root", str(user.home / "llmc"), "add", "adam", "--agent", "demo")


def test_outside_of_any_repository_the_usual_root_is_meant(user):
    user.says(user.home, "add", "adam", "--agent", "demo")


def test_a_second_repository_is_offered_a_root_of_its_own_name(user):
    said = user.says(user.blog, "init", check=False)
    assert said.code == 1
    assert str(user.shop) in said.err
    assert "`llmc init --target ~/llmc-blog`" in said.err
    assert not (user.home / "llmc-blog").exists()
    code, _ = user.at_terminal(user.blog, "init", answers="y\n")
    assert code == 0
    assert user.root_of(user.blog) == str(user.home / "llmc-blog")


def test_a_second_root_of_the_same_repository_is_refused_by_name(user):
    said = user.says(user.shop, "init", check=False)
    assert said.code == 1
    assert f"{user.shop} has a root already: {user.home / 'llmc'}" in said.err


def test_roots_are_listed_with_who_waits(user):
    user.says(user.blog, "init", "--target", str(user.home / "my root"))
    user.says(user.blog, "add", "adam", "--agent", "demo")
    roots = {root["root"]: root for root in json.loads(user.says(user.home, "roots", "--json").out)["roots"]}
    assert roots[str(user.home / "my root")]["source"] == str(user.blog)
    assert roots[str(user.home / "my root")]["workers"] == 1
    assert roots[str(user.home / "llmc")]["workers"] == 0
    lines = user.says(user.home, "roots").out.splitlines()
    assert len(lines) == 2
    assert str(user.shop) in lines[0]


def test_all_roots_are_shown_together_and_a_broken_one_does_not_hide_the_others(user):
    user.says(user.blog, "init", "--target", str(user.home / "other"))
    user.says(user.blog, "add", "adam", "--agent", "demo")
    (user.home / "llmc" / "state.json").write_text("{")
    said = user.says(user.home, "status", "--all")
    assert "adam" in said.out
    assert f"{user.home / 'llmc'} cannot be read" in said.out
    documents = json.loads(user.says(user.home, "status", "--all", "--json").out)["roots"]
    assert [document.get("workers", [{}])[0].get("name") for document in documents] == [None, "adam"]


def test_a_root_that_was_removed_is_not_listed(user):
    user.says(user.blog, "init", "--target", str(user.home / "other"))
    (user.home / "other").rename(user.home / "away")
    assert len(user.says(user.home, "roots").out.splitlines()) == 1


def test_a_home_that_cannot_be_written_costs_only_the_list(user):
    (user.home / ".local" / "state" / "llmc").rename(user.home / "away")
    (user.home / ".local" / "state" / "llmc").write_text("no directory")
    user.says(user.blog, "init", "--target", str(user.home / "other"))


def test_advice_repeats_the_root_quoted(user):
    root = user.home / "my root"
    user.says(user.blog, "init", "--target", str(root))
    said = user.says(user.home, "--root", str(root), "accept", check=False)
    assert f"`llmc --root '{root}' status`" in said.err
    assert f"`llmc --root '{root}' add NAME`" in user.says(user.home, "--root", str(root), "status").out


def test_each_of_all_roots_gives_its_own_advice(user):
    user.says(user.blog, "init", "--target", str(user.home / "other"))
    shown = user.says(user.home, "status", "--all").out
    assert f"`llmc --root {user.home / 'other'} up`" in shown
    assert f"`llmc --root {user.home / 'llmc'} up`" in shown


def test_a_relative_state_directory_is_not_made_in_the_repository(user):
    env = {**NO_ROOT, "XDG_STATE_HOME": "rel/state"}
    user.llmc.run("init", "--target", str(user.home / "other"), cwd=user.blog, env=env)
    assert not (user.blog / "rel").exists()
