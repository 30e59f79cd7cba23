from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.names import check_worker_name, is_branch_name, shown
from llmc.errors import InvalidUsageError


@pytest.mark.parametrize("name", ["a", "adam", "Adam-2", "api_server", "a" * 40, "ally", "x-"])
def test_good_names_pass(name):
    assert check_worker_name(name) is None


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("", "`` cannot be a worker's name: it is empty"),
        ("all", "`all` cannot be a worker's name: `all` is reserved, because it reads as every worker"),
        ("ALL", "`ALL` cannot be a worker's name: `all` is reserved, because it reads as every worker"),
        ("-", "`-` cannot be a worker's name: `-` is reserved, because it stands for standard input"),
        ("a/b", "`a/b` cannot be a worker's name: `/` would make it a path"),
        ("a b", "`a b` cannot be a worker's name: it contains a space"),
        ("a..b", "`a..b` cannot be a worker's name: git refuses `..` in a branch name"),
        ("../etc", "`../etc` cannot be a worker's name: git refuses `..` in a branch name"),
        ("adam.lock", "`adam.lock` cannot be a worker's name: git refuses branch names that end in `.lock`"),
        ("böb", "`böb` cannot be a worker's name: it contains the character `ö`"),
        ("2fast", "`2fast` cannot be a worker's name: it does not begin with a letter"),
        ("-x", "`-x` cannot be a worker's name: it does not begin with a letter"),
        ("adam\n", "`adam\\n` cannot be a worker's name: it contains the control character `\\n`"),
        ("a\x1b[31m", "`a\\x1b[31m` cannot be a worker's name: it contains the control character `\\x1b`"),
        ("a" * 300, f"`{'a' * 37}...` cannot be a worker's name: it has 300 characters, and 40 are the most"),
    ],
)
def test_bad_names_are_refused_with_the_reason(name, what):
    with pytest.raises(InvalidUsageError) as refused:
        check_worker_name(name)
    assert refused.value.what == what
    assert "`adam`" in refused.value.hint


def refusal_of(name: str) -> str:
    try:
        check_worker_name(name)
    except InvalidUsageError as refused:
        return refused.what
    return ""


@given(st.text(max_size=400))
def test_a_message_never_carries_control_characters_nor_gets_long(name):
    assert refusal_of(name).isprintable()
    assert len(refusal_of(name)) < 150


@given(st.text(max_size=100))
def test_what_is_shown_is_printable_and_short(text):
    assert shown(text).isprintable()
    assert len(shown(text)) <= 40


def test_names_that_pass_are_branches_that_git_accepts():
    assert is_branch_name("llmc/" + "a" * 40)


def test_the_short_name_of_head_is_no_branch():
    assert not is_branch_name("@")


@pytest.mark.parametrize(
    "branch",
    [
        *("main", "llmc/adam", "feature/x.y", "a@b", "release-1.0", "ünïcode", "a.lock.b", "x/HEAD"),
        *("", "-x", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@{-1}", "a@{b"),
        *("a/", "/a", "a//b", ".a", "a/.b", "a.", "a.lock", "a.lock/b", "a\tb", "a\x7fb", "HEAD"),
    ],
)
def test_branch_names_are_judged_as_git_judges_them(branch, tmp_path):
    isolated = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    judged = subprocess.run(
        ["git", "check-ref-format", "--branch", branch], cwd=tmp_path, env=isolated, capture_output=True, check=False
    )
    assert is_branch_name(branch) == (judged.returncode == 0)
