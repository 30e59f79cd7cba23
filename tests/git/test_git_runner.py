from __future__ import annotations

import threading
from pathlib import Path

import pytest

from llmc.git.failure import GitError, hint_for, is_locked, subcommand, summary
from llmc.git.runner import MINIMUM, Git, GitTooOldError, clean_environment
from llmc.host.base import ProgramMissingError
from llmc.host.local import LocalHost


def program(directory: Path, name: str, script: str) -> None:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_environment_keeps_how_to_reach_things_and_drops_where_git_was_called_from():
    clean = clean_environment(
        {
            "PATH": "/bin",
            "LANGUAGE": "de",
            "GIT_DIR": "/elsewhere",
            "GIT_INDEX_FILE": "x",
            "GIT_AUTHOR_NAME": "somebody",
            "GIT_COMMITTER_DATE": "1",
            "GIT_CONFIG_PARAMETERS": "'a=b'",
            "GIT_CONFIG_GLOBAL": "/g",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "a.b",
            "GIT_CONFIG_VALUE_0": "c",
            "GIT_SSH_COMMAND": "ssh -x",
            "GIT_EDITOR": "vim",
        }
    )
    assert clean == {
        "PATH": "/bin",
        "GIT_CONFIG_GLOBAL": "/g",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "a.b",
        "GIT_CONFIG_VALUE_0": "c",
        "GIT_SSH_COMMAND": "ssh -x",
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def test_git_dir_of_a_surrounding_hook_is_ignored(git, source, make_repo, monkeypatch):
    other = make_repo("other")
    monkeypatch.setenv("GIT_DIR", f"{other.path}/.git")
    monkeypatch.setenv("GIT_WORK_TREE", other.path)
    monkeypatch.setenv("GIT_INDEX_FILE", f"{other.path}/.git/index")
    assert git.text(source.path, "rev-parse", "--show-toplevel") == source.path


def test_failure_carries_the_command_and_the_words_of_git(git, source):
    with pytest.raises(GitError) as caught:
        git.run(source.path, "-c", "a.b=c", "checkout", "nowhere")
    assert caught.value.command == ("-c", "a.b=c", "checkout", "nowhere")
    assert "nowhere" in caught.value.words
    assert caught.value.what.startswith("`git checkout` failed: pathspec 'nowhere'")
    assert caught.value.code == 1


def test_unchecked_failure_is_returned(git, source):
    assert git.run(source.path, "checkout", "nowhere", check=False).code == 1


@pytest.mark.lesson(21, "not knowing moves nobody")
def test_ask_takes_other_codes_than_0_and_1_for_no_answer(git, source):
    assert git.ask(source.path, "config", "--get", "no.such") is None
    assert git.ask(source.path, "config", "--get", "user.name").text == "Tess Ter\n"
    with pytest.raises(GitError):
        git.ask(source.path, "merge-base", "--is-ancestor", "nowhere", "HEAD")


@pytest.mark.lesson(30, "a held index lock is waited for, within a bound")
def test_held_index_lock_is_waited_for(git, source):
    lock = source.write(".git/index.lock")
    source.write("new")
    begun = threading.Event()

    class Watched(LocalHost):
        def run(self, argv, **options):
            done = super().run(argv, **options)
            if not done.ok:
                begun.set()
            return done

    def release_after_first_failure():
        begun.wait(120)
        lock.unlink()

    releasing = threading.Thread(target=release_after_first_failure)
    releasing.start()
    Git(Watched(), patience=30).run(source.path, "add", "new")
    releasing.join()
    assert source.run("ls-files") == "README\nnew"


@pytest.mark.lesson(30, "a held index lock is waited for, within a bound")
def test_abandoned_index_lock_names_the_file_to_remove(source):
    lock = source.write(".git/index.lock")
    source.write("new")
    with pytest.raises(GitError) as caught:
        Git(LocalHost(), patience=0).run(source.path, "add", "new")
    assert caught.value.hint.endswith(f"remove {lock}")


@pytest.mark.lesson(30, "a held index lock is waited for, within a bound")
def test_failed_compare_and_swap_is_an_answer_not_a_lock(git, source):
    wrong = "1" * 40
    with pytest.raises(GitError) as caught:
        git.run(source.path, "update-ref", "refs/heads/main", source.sha(), wrong)
    assert "but expected" in caught.value.words
    assert not is_locked(caught.value.words)


def test_version_of_the_installed_git_will_do(git):
    assert git.version() >= MINIMUM
    git.require_version()


@pytest.mark.parametrize(
    ("said", "version"),
    [("git version 2.39.3 (Apple Git-146)", (2, 39)), ("git version 3.0.GIT", (3, 0)), ("git version 2.9", (2, 9))],
)
def test_version_is_read_from_what_any_git_says(git, tmp_path, monkeypatch, said, version):
    program(tmp_path / "bin", "git", f"echo '{said}'")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert git.version() == version


def test_old_git_is_refused(git, tmp_path, monkeypatch):
    program(tmp_path / "bin", "git", "echo git version 2.34.1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(GitTooOldError, match=r"2\.34 is too old") as caught:
        git.require_version()
    assert "2.38" in caught.value.hint


def test_missing_git_says_what_to_install(git, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramMissingError, match="git is not installed") as caught:
        git.require_version()
    assert "2.38" in caught.value.hint


def test_dubious_ownership_has_its_own_hint():
    words = "fatal: detected dubious ownership in repository at '/srv/re po'\nTo add an exception ..."
    assert hint_for(words).endswith("`git config --global --add safe.directory '/srv/re po'`")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("*** Please tell me who you are.", "user.email"),
        ("error: gpg failed to sign the data", "signing key"),
        ("fatal: write error: No space left on device", "disk space"),
        ("error: could not lock config file .git/config: File exists", "try again"),
        ("error: cannot rebase: You have unstaged changes.", "commit these changes"),
        ("fatal: loose object abc is corrupt", "git fsck"),
        ("something else", "llmc doctor"),
    ],
)
def test_hints(words, part):
    assert part in hint_for(words)


def test_summary_leaves_advice_out():
    assert summary("hint: do\nfatal: no such thing\nerror: really", 1) == "no such thing; really"
    assert summary("", -9) == "ended by signal 9"
    assert summary("", 5) == "exit code 5, without a word"


def test_subcommand_is_found_past_options():
    assert subcommand(("-c", "x=y", "--no-pager", "log")) == "log"
    assert subcommand(("--version",)) == "--version"
