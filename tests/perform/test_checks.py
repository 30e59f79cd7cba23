"""The repository's own checks: on exactly the tree that would land, in worktrees of LLMC's own, whatever they do."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.core.tasks.checks import BEGINNING_KEPT, END_KEPT, CheckResult, TreeVerdict
from llmc.host.processes import is_running
from llmc.model import Turn, Work
from llmc.perform.checks import check_commit, known_verdict
from llmc.perform.repo_commands import SHOWN_LINES
from llmc.perform.scratch import NotSetUpError, scratch_for, scratch_lock
from llmc.store.check_results import MOST, keep_result, read_results
from testing.disks import llmc_on_disk
from testing.roots import make_repository
from testing.story import Story, end_abruptly
from testing.waiting import wait_until

Check = Callable[..., TreeVerdict]
HEAD = "refs/heads/llmc/adam"


@pytest.fixture
def check(story: Story) -> Check:
    """What these commands say of adam's work, a commit that adds a.txt."""

    def checked(*commands: str, before: Callable[[], object] = lambda: None, **settings: str) -> TreeVerdict:
        story.begin(repo__validate=json.dumps(commands), **settings)
        before()
        story.llmc("add", "adam", "--agent", "demo")
        story.commit_as("adam", "a.txt", "x\n", "Add a")
        return check_commit(story.site, HEAD)

    return checked


def failed(verdict: TreeVerdict) -> CheckResult:
    assert verdict.failed is not None
    return verdict.failed


def scratch(story: Story, number: int = 1) -> Path:
    return Path(story.root.path, ".checks", str(number))


def repository_in(place: Path) -> Path:
    make_repository(place)
    return place


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def for_review(story: Story) -> str:
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    return sha


def assert_sound(story: Story) -> None:
    """The next check finds everything as it should be, and nothing has reached anybody else."""
    path = str(scratch(story))
    assert check_commit(story.site, HEAD, again=True).results
    assert story.site.git.text(path, "status", "--porcelain") == ""
    assert story.site.git.text(path, "rev-parse", "HEAD") == story.git("rev-parse", HEAD, cwd=story.root.path)
    worktree = story.worker("adam").worktree_path
    assert story.site.git.text(worktree, "status", "--porcelain") == ""
    assert story.site.git.text(worktree, "symbolic-ref", "HEAD") == HEAD
    assert story.llmc("doctor", "--json").out


# --- where they run -------------------------------------------------------------------------------


def test_they_run_in_order_on_the_tree_and_nothing_else(check: Check, story: Story, tmp_path: Path) -> None:
    log = tmp_path / "log"
    verdict = check(f"pwd > {log}", f"ls >> {log}; git status --porcelain >> {log}")
    assert verdict.passed
    assert lines(log) == [str(scratch(story)), "README", "a.txt"]
    assert [result.command for result in verdict.results] == list(story.site.config.repo.validate)
    assert known_verdict(story.site, verdict.tree) == verdict
    assert not Path(story.worker("adam").worktree_path, "log").exists()


def test_without_checks_everything_is_fine(story: Story) -> None:
    story.begin("adam")
    verdict = check_commit(story.site, HEAD)
    assert verdict == known_verdict(story.site, verdict.tree)
    assert verdict.passed
    assert not scratch(story).exists()


def test_the_first_that_fails_tells_why(check: Check, tmp_path: Path) -> None:
    verdict = check("echo line one; echo 2 wrong >&2; exit 3", f"touch {tmp_path}/never")
    assert failed(verdict).problem == "failed with exit code 3"
    assert failed(verdict).output == "line one\n2 wrong\n"
    assert not (tmp_path / "never").exists()


def test_they_do_not_run_on_the_repository_of_whoever_called(
    check: Check, story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert check(f"git rev-parse --show-toplevel > {tmp_path}/where").passed
    assert lines(tmp_path / "where") == [str(scratch(story))]


def test_a_worktree_is_reset_and_not_made_again(check: Check, story: Story) -> None:
    assert check("ls; echo left > left.txt; mkdir -p deps; echo kept > deps/lib").passed
    story.commit_as("adam", ".gitignore", "deps\n", "Ignore deps")
    inode = scratch(story).stat().st_ino
    assert check_commit(story.site, HEAD).passed
    assert not (scratch(story) / "deps").exists() or (scratch(story) / "deps/lib").read_text() == "kept\n"
    (verdict,) = check_commit(story.site, HEAD, again=True).results
    assert verdict.output.split() == ["README", "a.txt", "deps"]  # what git ignores stays, as in a worker's worktree
    assert scratch(story).stat().st_ino == inode


def test_it_is_set_up_once_as_workers_are_and_again_when_that_changes(
    check: Check, story: Story, tmp_path: Path
) -> None:
    log = tmp_path / "setup"

    def ignored() -> None:
        story.commit_upstream(".gitignore", "deps\n.env\n", "Ignore deps")
        story.repository.joinpath(".env").write_text("secret\n")

    once = f"pwd >> {log}; mkdir -p deps; echo changed >> README"
    commands = ("cat .env && test -d deps && echo $COLOUR && git diff --exit-code",)
    settings = {"repo__setup": json.dumps([once]), "repo__copy": '[".env"]', "repo__env": '{ COLOUR = "blue" }'}
    verdict = check(*commands, before=ignored, **settings)
    assert verdict.passed, verdict
    assert verdict.results[0].output.split() == ["secret", "blue"]
    check_commit(story.site, HEAD, again=True)
    assert lines(log).count(str(scratch(story))) == 1
    story.llmc("config", "set", "repo.env", '{ COLOUR = "red" }')
    assert check_commit(story.site, HEAD, again=True).results[0].output.split() == ["secret", "red"]
    assert lines(log).count(str(scratch(story))) == 2


def test_a_setup_that_fails_says_nothing_about_the_work(check: Check, story: Story) -> None:
    with pytest.raises(NotSetUpError, match=r"`echo no deps; false` failed with exit code 1:\n  no deps") as refused:
        check("true", repo__setup='["echo no deps; false"]')
    assert "logs/setup/1.log" in refused.value.hint
    tree = story.git("rev-parse", f"{HEAD}^{{tree}}", cwd=story.root.path)
    assert known_verdict(story.site, tree) is None
    story.llmc("config", "set", "repo.setup", "[]")
    assert check_commit(story.site, HEAD).passed


def test_submodules_are_there(check: Check, story: Story, tmp_path: Path) -> None:
    library = repository_in(tmp_path / "library")

    def use() -> None:
        story.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
        story.git("commit", "--quiet", "-m", "Use the library")

    assert check("cat lib/README", before=use, repo__submodules="true").passed
    assert_sound(story)


# --- what is known --------------------------------------------------------------------------------


def test_what_is_known_of_a_tree_is_not_run_again(check: Check, story: Story, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = check(f"echo ran >> {log}")
    story.git("commit", "--quiet", "--amend", "-m", "Another commit", cwd=story.worker("adam").worktree_path)
    assert check_commit(story.site, HEAD) == first
    assert len(lines(log)) == 1
    again = check_commit(story.site, HEAD, again=True)
    assert len(lines(log)) == 2
    assert again.at_unix > first.at_unix
    assert known_verdict(story.site, first.tree) == again


def test_a_check_that_is_new_is_run_alone_and_its_failure_is_seen_after_the_others(
    check: Check, story: Story, tmp_path: Path
) -> None:
    first = f"echo first >> {tmp_path}/log; touch made"
    assert check(first).passed
    story.llmc("config", "set", "repo.validate", json.dumps([first, f"echo second >> {tmp_path}/log"]))
    assert check_commit(story.site, HEAD).passed
    assert lines(tmp_path / "log") == ["first", "second"]
    story.llmc("config", "set", "repo.validate", json.dumps([first, "test -e made"]))
    assert check_commit(story.site, HEAD).passed  # by what the first one makes
    assert lines(tmp_path / "log") == ["first", "second", "first"]


def test_long_output_is_kept_in_part(check: Check, story: Story) -> None:
    found = failed(check("seq 1 100000; exit 1"))
    assert found.output.startswith("1\n2\n3\n")
    assert found.output.endswith("99999\n100000\n")
    assert "characters were left out" in found.output
    assert len(found.output) < BEGINNING_KEPT + END_KEPT + 100
    sha = story.git("rev-parse", HEAD, cwd=story.root.path)
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    said = story.llmc("accept", "adam", code=1).err
    assert "100000" in said
    assert len(said.splitlines()) < SHOWN_LINES + 8


def test_old_results_go(story: Story) -> None:
    story.begin("adam")
    database = story.site.ledger.tasks.database
    for number in range(MOST + 5):
        keep_result(database, CheckResult(f"{number}", "true", True, "", 0.1, float(number)))
    assert not read_results(database, "3")
    assert read_results(database, str(MOST))


def test_accept_runs_what_passed_no_second_time_and_what_failed_again(story: Story, tmp_path: Path) -> None:
    story.begin("adam", repo__validate=json.dumps([f"echo ran >> {tmp_path}/log; test -e {tmp_path}/right"]))
    for_review(story)
    assert "failed with exit code 1" in story.llmc("accept", "adam", code=1).err
    (tmp_path / "right").touch()
    plan = story.json("accept", "adam", "--dry-run")
    assert "run `echo ran" in json.dumps(plan)
    check_commit(story.site, HEAD, again=True)
    assert "passed on just this tree" in story.llmc("accept", "adam", "--dry-run").out
    assert len(lines(tmp_path / "log")) == 2
    story.llmc("accept", "adam")
    assert len(lines(tmp_path / "log")) == 2
    assert story.subjects() == ["first", "Add a"]


def test_a_state_of_an_older_version_is_settled(story: Story) -> None:
    """It had the worktree show what would land, and kept the work itself by another name meanwhile."""
    story.begin("adam", repo__validate='["test -f a.txt"]')
    sha = for_review(story)
    story.llmc("review", "adam")
    story.commit_upstream("b.txt", "b\n", "Meanwhile")
    tip, worktree = story.fetch_upstream(), story.worker("adam").worktree_path
    story.git("reset", "--quiet", "--hard", tip, cwd=worktree)
    made = story.commit_as("adam", "a.txt", "x\n", "Add a")
    for name, commit in (("commit", made), ("work", sha)):
        story.git("update-ref", f"refs/llmc/accept/adam/{name}", commit, cwd=story.root.path)
    story.llmc("accept", "adam")
    assert story.subjects() == ["first", "Meanwhile", "Add a"]
    assert story.git("for-each-ref", "refs/llmc/accept/adam/work", cwd=story.root.path) == ""


# --- side by side ---------------------------------------------------------------------------------


def test_two_are_checked_side_by_side_and_the_third_waits(story: Story, tmp_path: Path) -> None:
    meet = f"echo $PWD >> {tmp_path}/log; while ! test -e {tmp_path}/go; do sleep 0.02; done"
    story.begin("adam", "bea", "carl", repo__validate=json.dumps([meet]))
    for name in ("adam", "bea", "carl"):
        story.commit_as(name, f"{name}.txt", "x\n", f"Add {name}")
    site = story.site
    verdicts: list[TreeVerdict] = []
    threads = [
        threading.Thread(target=lambda ref=f"refs/heads/llmc/{name}": verdicts.append(check_commit(site, ref)))
        for name in ("adam", "bea", "carl")
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(lines(tmp_path / "log")) == 2)
    assert {*lines(tmp_path / "log")} == {str(scratch(story, 1)), str(scratch(story, 2))}
    assert [scratch_lock(site, number).try_acquire() for number in ("1", "2")] == [False, False]
    (tmp_path / "go").touch()
    for thread in threads:
        thread.join()
    assert len({verdict.tree for verdict in verdicts if verdict.passed}) == 3
    assert not scratch(story, 3).exists()


def test_the_same_tree_is_not_checked_twice_at_once(check: Check, story: Story, tmp_path: Path) -> None:
    tree = check("true").tree
    story.llmc("config", "set", "repo.validate", json.dumps([f"echo ran >> {tmp_path}/log"]))
    with scratch_for(story.site, tree) as number, scratch_for(story.site, tree) as other:
        assert (number, other) == ("1", None)
    processes = [story.spawn("accept", "adam") for _ in range(2)]
    for process in processes:
        process.wait()
    assert len(lines(tmp_path / "log")) <= 1
    assert check_commit(story.site, HEAD).passed
    assert len(lines(tmp_path / "log")) == 1


def test_whoever_is_killed_leaves_it_to_the_next(story: Story, tmp_path: Path) -> None:
    begun = f"echo $$ > {tmp_path}/pid; echo x > README; touch half.txt; test -e {tmp_path}/go || exec sleep 1000"
    story.begin("adam", repo__validate=json.dumps([begun]))
    for_review(story)
    process = story.spawn("accept", "adam")
    wait_until(lambda: (scratch(story) / "half.txt").exists())
    end_abruptly(process.pid)
    process.wait()
    left = int((tmp_path / "pid").read_text())
    (tmp_path / "go").touch()
    story.llmc("config", "set", "repo.validate", json.dumps([f"ls > {tmp_path}/seen; git diff --exit-code"]))
    story.llmc("accept", "adam")
    assert not is_running(left)
    assert lines(tmp_path / "seen") == ["README", "a.txt"]


def test_down_ends_what_a_killed_check_has_left(story: Story, tmp_path: Path) -> None:
    story.begin(
        "adam",
        repo__validate=json.dumps([f"test -e {tmp_path}/pid || {{ echo $$ > {tmp_path}/pid; exec sleep 1000; }}"]),
    )
    for_review(story)
    process = story.spawn("accept", "adam")
    wait_until(lambda: lines(tmp_path / "pid"))
    end_abruptly(process.pid)
    process.wait()
    assert "checks-left-running" in story.try_llmc("doctor", "--json").out
    story.llmc("down")
    assert not is_running(int((tmp_path / "pid").read_text()))


# --- whatever they do -----------------------------------------------------------------------------


def test_one_that_hangs_is_ended_with_all_that_it_started(check: Check, tmp_path: Path) -> None:
    hanging = f"echo working; sleep 1000 & echo $! > {tmp_path}/pid; wait"
    found = failed(check(hanging, repo__validate_timeout_secs="0.5"))
    assert found.problem == "did not end within 0 seconds"
    assert found.output == "working\n"
    wait_until(lambda: not is_running(int((tmp_path / "pid").read_text())))


def test_one_that_hangs_keeps_the_work_from_being_accepted(story: Story) -> None:
    story.begin("adam", repo__validate='["sleep 1000"]', repo__validate_timeout_secs="0.2")
    sha = for_review(story)
    said = story.llmc("accept", "adam", code=1)
    assert "`sleep 1000` did not end" in said.err
    assert "validate_timeout_secs" in said.err
    assert story.subjects() == ["first"]
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha, worker.pending) == (Work.NEEDS_REVIEW, sha, ())


@pytest.mark.parametrize("leaves", ["", "setsid "], ids=["in its family", "having left it"])
def test_one_that_goes_on_in_the_background_is_over_with_its_own_process(
    check: Check, tmp_path: Path, leaves: str
) -> None:
    # It ignores the polite signal, and holds the output open for minutes.
    server = f"{leaves}sh -c 'trap \"\" TERM; echo $$ > {tmp_path}/pid; while :; do sleep 1; done' &"
    verdict = check(f"{server} while ! test -s {tmp_path}/pid; do sleep 0.02; done; echo checked")
    assert verdict.passed
    assert verdict.results[0].output == "checked\n"
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_flood_of_output_fills_neither_memory_nor_disk(check: Check, tmp_path: Path) -> None:
    flood = f"yes 'all is well' | head -c 200000000; echo over > {tmp_path}/over"
    verdict = check(flood)
    assert verdict.passed
    assert (tmp_path / "over").exists()
    assert len(verdict.results[0].output) < BEGINNING_KEPT + END_KEPT + 200


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo formatted > a.txt", "changed what it was to check: a.txt"),
        ("git update-index --assume-unchanged a.txt; echo other > a.txt", "changed what it was to check: a.txt"),
        ("git rm --quiet a.txt", "changed what it was to check: a.txt"),
        ("git commit --quiet --allow-empty -m More", "made HEAD another commit"),
        ("git checkout --quiet -b mine && git commit --quiet --allow-empty -m More", "made HEAD another commit"),
        ('rm -rf "$PWD"', "its directory is gone"),
        ('rm -rf "$PWD"; ln -s "$OTHER" "$PWD"', "its directory is a link to another place"),
        ('echo "gitdir: $OTHER/.git" > .git', "its .git belongs to another repository"),
        ("rm .git; git init --quiet .", "its .git is a repository of its own"),
        ('rm -rf "$(git rev-parse --git-dir)"', "the clone has no usable record of it"),
        ('echo broken > "$(git rev-parse --git-dir)/index"', "spoilt the worktree that it ran in"),
        ('rm -rf "$PWD/.."; ln -s "$OTHER" "$(dirname "$PWD")"; exit 1', "failed with exit code 1"),
        ("mkdir locked; touch locked/x; chmod 000 locked; exit 1", "failed with exit code 1"),
        ("mkdir inner; git init --quiet inner; touch inner/x; exit 1", "failed with exit code 1"),
        ('touch "$(git rev-parse --git-dir)/index.lock"; exit 1', "failed with exit code 1"),
    ],
)
def test_one_that_takes_its_worktree_apart(
    check: Check, story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, problem: str
) -> None:
    other = repository_in(tmp_path / "other")
    monkeypatch.setenv("OTHER", str(other))
    before = seen(story, other)
    assert problem in failed(check(command)).problem
    assert_sound(story)
    assert seen(story, other) == before


def seen(story: Story, other: Path) -> tuple[str, str, list[str]]:
    told = (story.git(*words, cwd=str(other)) for words in (("rev-parse", "HEAD"), ("status", "--porcelain")))
    return *told, sorted(os.listdir(other))


def test_one_that_writes_to_the_configuration_of_the_clone_is_not_heard(check: Check, story: Story) -> None:
    commands = (
        "git config core.hooksPath $PWD/hooks",
        "git config core.fsmonitor 'touch pwned'",
        "git config filter.evil.smudge 'sed s/x/evil/'",
        "echo 'a.txt filter=evil' > $(git rev-parse --git-common-dir)/info/attributes",
    )
    assert check(*commands).passed
    assert_sound(story)
    assert (scratch(story) / "a.txt").read_text() == "x\n"
    assert not (scratch(story) / "pwned").exists()


def test_one_that_moves_the_branch_of_the_work_loses_nothing(story: Story) -> None:
    story.begin("adam", repo__validate='["git update-ref refs/heads/llmc/adam origin/main"]')
    sha = for_review(story)
    said = story.llmc("accept", "adam", code=1).err
    assert "a check moved its branch; what was there is kept in refs/llmc/backup/adam/" in said
    assert story.subjects() == ["first"]
    kept = said.partition("kept in ")[2].split()[0]
    assert story.git("rev-parse", kept + "^{commit}", cwd=story.root.path)
    assert story.git("log", "--format=%H", kept, cwd=story.root.path).splitlines().count(sha) == 1


def test_one_that_moves_what_would_land_changes_nothing_about_it(story: Story) -> None:
    story.begin("adam", repo__validate='["git update-ref refs/llmc/accept/adam/commit HEAD~1"]')
    for_review(story)
    story.llmc("accept", "adam")
    assert story.subjects() == ["first", "Add a"]


@pytest.mark.parametrize(("code", "verdict"), [(1, "failed with exit code 1"), (0, "filled the disk")])
def test_one_that_fills_the_disk(story: Story, tmp_path: Path, code: int, verdict: str) -> None:
    story.begin("adam", repo__validate=json.dumps([f"dd if=/dev/zero of=big bs=64k; exit {code}"]))
    for_review(story)
    small = 'mkdir "$3"; mount -t tmpfs -o size=24m x "$3"; cp -a "$1/." "$3"; mount --move "$3" "$1"'
    again = f'{small}\n"$2" -m llmc.cli.main --root "$1" accept adam > {tmp_path}/said 2>&1 || true'
    shown = llmc_on_disk(f"{again}\nls -R $1/.checks > {tmp_path}/left", story.root.path, tmp_path, "review", "adam")
    said = (tmp_path / "said").read_text()
    assert verdict in said, said
    assert "No space left" in said
    assert "big" not in lines(tmp_path / "left")
    assert verdict in shown.stdout, shown
