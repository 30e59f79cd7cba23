"""One `git cat-file` for all questions of an operation, with the answers of a git that is started for each."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.git import objects
from llmc.git.clone import BranchMissingError, same_or_fetched
from llmc.git.failure import GitError
from llmc.git.history import is_ancestor, merge_base
from llmc.git.plain_refs import is_alias
from llmc.git.repository import require_commit, resolve
from llmc.host import local
from llmc.host.base import ProgramMissingError


@pytest.fixture
def started(tmp_path, monkeypatch):
    """The words of every git that is started from now on, one line for each."""
    real, words = shutil.which("git"), tmp_path / "started"
    words.touch()
    put_before_git(tmp_path, monkeypatch, f'echo "$@" >>{words}\nexec {real} "$@"')
    return lambda: words.read_text().splitlines()


def put_before_git(tmp_path, monkeypatch, script):
    program = tmp_path / "programs" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def test_an_operation_asks_one_process_for_each_repository(git, source, root, worker, started):
    with git.operation:
        with git.operation:
            assert resolve(git, root.path, "refs/heads/llmc/adam") == source.sha()
        assert resolve(git, worker.path, "refs/heads/llmc/adam") == source.sha()
        assert resolve(git, source.path, "HEAD") == source.sha()
        asked = [line for line in started() if "cat-file" in line]
    assert len(asked) == 2
    resolve(git, root.path, "refs/heads/llmc/adam")
    assert len([line for line in started() if "cat-file" in line]) == 3


def test_what_happens_during_an_operation_is_seen(git, source, root, worker):
    with git.operation:
        assert resolve(git, root.path, "refs/heads/llmc/adam") == source.sha()
        first = worker.commit_file("new", "x")
        assert resolve(git, root.path, "refs/heads/llmc/adam") == first
        root.run("pack-refs", "--all")
        root.run("repack", "-a", "-d", "-q")
        second = worker.commit_file("new", "y")
        assert git.objects(root.path, f"{first}^{{commit}}", f"{second}^{{commit}}") == (first, second)
        root.run("pack-refs", "--all")
        assert resolve(git, root.path, "refs/heads/llmc/adam") == second
        root.run("update-ref", "refs/heads/other", first)
        root.run("update-ref", "-d", "refs/heads/other")
        assert resolve(git, root.path, "refs/heads/other") is None
        Path(root.path, ".git/objects", second[:2], second[2:]).unlink()
        assert resolve(git, root.path, second) is None


def test_each_worktree_has_a_head_of_its_own(git, source, root, worker):
    other = root.worker("eve")
    here = worker.commit_file("new", "x")
    with git.operation:
        assert require_commit(git, worker.path, "HEAD") == here
        assert require_commit(git, other.path, "HEAD") == source.sha()
        assert resolve(git, worker.path, "REBASE_HEAD") is None
        worker.run("update-ref", "refs/worktree/own", here)
        worker.run("symbolic-ref", "HEAD", "refs/worktree/own")
        assert require_commit(git, worker.path, "HEAD") == here


def test_replaced_objects_are_not_believed(git, source, root, worker):
    first = source.sha()
    second = worker.commit_file("new", "x")
    root.run("replace", second, first)
    with git.operation:
        assert resolve(git, root.path, f"{second}~1") == first
        assert git.objects(root.path, f"{second}^{{tree}}") != git.objects(root.path, f"{first}^{{tree}}")


def test_the_agents_view_is_another_one(git, root, worker, source):
    worker.commit_file("new", "x")
    first, second = source.sha(), worker.sha()
    root.run("replace", second, first)
    with git.operation:
        own = git.objects(root.path, f"{second}^{{tree}}")
        assert replace(git, as_agents=True).objects(root.path, f"{second}^{{tree}}") != own


def test_names_that_would_be_two_questions_name_nothing(git, source):
    names = (f"{source.sha()}\n{source.sha()}", "no such thing", "", "main")
    with git.operation:
        assert git.objects(source.path, *names) == (None, None, None, source.sha())
    assert git.objects(source.path, *names) == (None, None, None, source.sha())


def test_more_names_than_fit_into_a_pipe(git, source):
    names = [f"refs/heads/none-{number}" for number in range(3 * objects.MOST_BYTES)]
    with git.operation:
        assert git.objects(source.path, *names, "main") == (*[None] * len(names), source.sha())


def test_where_there_is_no_answer_the_reason_is_told(git, tmp_path, monkeypatch):
    with git.operation, pytest.raises(GitError, match="not a git repository"):
        resolve(git, str(tmp_path), "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with git.operation, pytest.raises(ProgramMissingError, match="git is not installed"):
        resolve(git, str(tmp_path), "HEAD")


def test_a_damaged_object_is_no_answer_and_others_are_told_after_it(git, source):
    second = source.commit_file("new", "x")
    damaged = Path(source.path, ".git/objects", second[:2], second[2:])
    damaged.chmod(0o600)
    damaged.write_bytes(b"garbage")
    with git.operation:
        with pytest.raises(GitError, match="unable to unpack"):
            resolve(git, source.path, second)
        assert resolve(git, source.path, "1" * 40) is None


def test_a_process_that_says_nothing_is_not_waited_for(git, source, tmp_path, monkeypatch):
    real, tip = shutil.which("git"), source.sha()
    once = tmp_path / "once"
    put_before_git(tmp_path, monkeypatch, f'[ -e {once} ] && exec {real} "$@"\ntouch {once}\nexec sleep 60')
    monkeypatch.setattr(local, "ANSWERS_WITHIN_SECS", 0.1)
    monkeypatch.setattr(local, "LEAVES_WITHIN_SECS", 0.1)
    with git.operation:
        assert resolve(git, source.path, "main") == tip
    assert once.exists()


def test_after_an_interrupt_nothing_of_the_old_answer_is_heard(git, source, monkeypatch):
    tip = source.commit_file("new", "x")
    with git.operation:
        assert resolve(git, source.path, "main") == tip
        with monkeypatch.context() as patch:
            patch.setattr(local.TalkingProgram, "hear", interrupted)
            with pytest.raises(KeyboardInterrupt):
                resolve(git, source.path, "main~1")
        assert resolve(git, source.path, "main") == tip


def interrupted(_program):
    raise KeyboardInterrupt


def test_threads_do_not_hear_each_others_answers(git, source):
    shas = [source.commit_file("new", str(number)) for number in range(4)]
    wrong = []

    def ask(sha):
        with git.operation:
            wrong.extend(found for _ in range(50) if (found := resolve(git, source.path, sha)) != sha)

    threads = [threading.Thread(target=ask, args=(sha,)) for sha in shas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_branch_is_fetched_only_when_it_has_moved_or_its_name_was_tampered_with(git, source, root, started):
    def fetched():
        before = len(started())
        with git.operation:
            assert same_or_fetched(git, source.path, root.path, "main") == source.sha() == root.sha("origin/main")
        return any("fetch" in line for line in started()[before:])

    assert not fetched()
    source.commit_file("new", "x")
    assert fetched()
    assert not fetched()
    root.run("update-ref", "refs/remotes/origin/main", source.sha("main~1"))
    assert fetched()
    root.run("symbolic-ref", "refs/llmc/upstream/main", "refs/remotes/origin/main")
    assert fetched()
    assert not is_alias(git.host, root.path, "refs/llmc/upstream/main")
    source.run("branch", "-m", "main", "trunk")
    with git.operation, pytest.raises(BranchMissingError):
        same_or_fetched(git, source.path, root.path, "main")


# --- where two lines of commits meet ----------------------------------------------------------------


def histories(source):
    """Names of commits by what they are to each other."""
    first = source.sha()
    line = [source.commit_file("line", str(number)) for number in range(20)]
    source.run("checkout", "--quiet", "-b", "side", line[5])
    side = [source.commit_file("side", str(number)) for number in range(3)]
    source.run("checkout", "--quiet", "main")
    source.run("merge", "--quiet", "--no-edit", "side")
    after = source.commit_file("after", "x")
    source.run("checkout", "--quiet", "--orphan", "alone")
    alone = source.commit("alone")
    return [first, line[0], line[5], line[18], line[19], side[0], side[2], after, after + "~1", alone]


def test_what_two_commits_share_is_what_git_says(git, source):
    every = [source.sha(name) for name in histories(source)]
    pairs = [(one, other) for one in every for other in every]
    expected = [(merge_base(git, source.path, *pair), is_ancestor(git, source.path, *pair)) for pair in pairs]
    with git.operation:
        found = [(merge_base(git, source.path, *pair), is_ancestor(git, source.path, *pair)) for pair in pairs]
    assert found == expected


def test_commits_near_each_other_need_no_search(git, source, started):
    first = source.sha()
    tip = source.commit_file("new", "x")
    before = len(started())
    with git.operation:
        assert merge_base(git, source.path, tip, first) == first
        assert is_ancestor(git, source.path, first, tip)
        assert not is_ancestor(git, source.path, tip, first)
    assert len(started()) == before + 1
