from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from llmc.host.processes import (
    descendants,
    end_tree,
    exists,
    family,
    is_running,
    marked_processes,
    remind_of_children,
    script_of,
    started_at,
    wait_for_end,
    with_children,
)
from testing.waiting import wait_until


@pytest.fixture
def spawn():
    """Starts programs in sessions of their own, and ends what is left of them after the test."""
    started = []

    def start(*argv, **options):
        process = subprocess.Popen(argv, start_new_session=True, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def pids_in(file, count):
    """The numbers that the test's own programs wrote about themselves."""
    wait_until(lambda: file.exists() and len(file.read_text().split()) >= count)
    return [int(word) for word in file.read_text().split()]


def test_a_living_process_runs():
    assert is_running(os.getpid())


def test_a_zombie_does_not_run(spawn):
    process = spawn("sleep", "600")
    assert is_running(process.pid)
    process.kill()
    wait_until(lambda: not is_running(process.pid))
    assert exists(process.pid)  # nobody has waited for it yet
    assert wait_for_end([process.pid], 0.0)
    process.wait()
    assert not exists(process.pid)


def test_what_an_interpreter_runs_is_known_by_its_name(spawn, tmp_path):
    script = tmp_path / "agent.py"
    script.write_text("import time; time.sleep(600)")
    process = spawn(sys.executable, "-u", str(script), "--flag", "word")
    wait_until(lambda: script_of(process.pid) == "agent")
    assert script_of(2**22 + 1) == ""


def test_a_process_was_started_when_it_was(spawn):
    before = time.time()
    process = spawn("sleep", "600")
    assert before - 2 < started_at(process.pid) < time.time() + 2
    assert started_at(2**22 + 1) == 0


def test_a_process_and_those_that_it_started(spawn, tmp_path):
    shell = spawn("sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pids; wait")
    started = pids_in(tmp_path / "pids", 1)
    assert list(with_children(shell.pid)) == [shell.pid, *started]
    assert list(with_children(2**22 + 1)) == [2**22 + 1]


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_what_is_no_process_does_not_run(pid):
    assert not is_running(pid)


def test_names_with_brackets_do_not_confuse(spawn, tmp_path):
    program = tmp_path / "a) Z 1 (b"
    program.symlink_to("/bin/sleep")
    process = spawn(str(program), "600")
    assert is_running(process.pid)
    assert process.pid in descendants(os.getpid())


NEST = "echo $$ >>{file}; sh -c 'echo $$ >>{file}; sh -c \"echo \\$\\$ >>{file}; exec sleep 600\"; true'; true"


def test_descendants_are_children_and_their_children(spawn, tmp_path):
    file = tmp_path / "pids"
    process = spawn("sh", "-c", NEST.format(file=file))
    top, middle, bottom = pids_in(file, 3)
    assert top == process.pid
    assert {middle, bottom} <= set(descendants(process.pid))
    assert bottom in descendants(middle)
    assert top not in descendants(top)


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
def test_a_tree_is_ended_whole(spawn, tmp_path):
    file = tmp_path / "pids"
    process = spawn("sh", "-c", NEST.format(file=file))
    tree = pids_in(file, 3)
    end_tree(process.pid)
    assert [pid for pid in tree if is_running(pid)] == []


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
def test_children_whose_parent_is_gone_are_ended_too(spawn, tmp_path):
    file = tmp_path / "pids"
    process = spawn("sh", "-c", f"(sh -c 'echo $$ >>{file}; exec sleep 600' &); exec sleep 600")
    (orphan,) = pids_in(file, 1)
    wait_until(lambda: parent_of(orphan) != process.pid)
    end_tree(process.pid)
    assert not is_running(orphan)


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
def test_who_does_not_listen_to_reason_is_killed(spawn, tmp_path):
    file = tmp_path / "pids"
    stubborn = "trap '' TERM HUP INT; echo $$ >>{file}; while :; do sleep 1; done"
    process = spawn("sh", "-c", stubborn.format(file=file))
    pids_in(file, 1)
    end_tree(process.pid, grace=0.3)
    process.wait(20)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
def test_who_listens_may_tidy_up_first(spawn, tmp_path):
    tidied, ready = tmp_path / "tidied", tmp_path / "ready"
    process = spawn(
        "sh", "-c", f"trap 'echo yes >{tidied}; exit 0' TERM; echo 1 >{ready}; while :; do sleep 0.05; done"
    )
    pids_in(ready, 1)
    end_tree(process.pid, grace=20.0)
    assert tidied.read_text() == "yes\n"
    assert process.wait(20) == 0


def test_a_stranger_is_left_alone(spawn, tmp_path):
    stranger = spawn("sleep", "600")
    process = spawn("sleep", "600")
    end_tree(process.pid)
    assert not is_running(process.pid)
    assert is_running(stranger.pid)


def test_ending_what_has_ended_is_no_failure(spawn):
    process = spawn("true")
    process.wait()
    end_tree(process.pid)
    assert not is_running(process.pid)


@pytest.mark.parametrize("pid", [1, 0, -1])
def test_numbers_that_stand_for_many_processes_have_no_family(pid):
    assert family(pid) == []
    assert descendants(pid) == []


def test_waiting_gives_up_at_its_limit(spawn):
    process = spawn("sleep", "600")
    assert not wait_for_end([process.pid], 0.05)
    process.kill()
    assert wait_for_end([process.pid], 20.0)


def test_a_reminder_reaches_the_process(spawn, tmp_path):
    told, ready = tmp_path / "told", tmp_path / "ready"
    process = spawn("bash", "-c", f"trap 'echo 1 >{told}' CHLD; echo 1 >{ready}; while :; do read -t 0.1 <> <(:); done")
    pids_in(ready, 1)
    remind_of_children(process.pid)
    assert pids_in(told, 1) == [1]


def test_a_reminder_to_nobody_is_no_failure(spawn):
    process = spawn("true")
    process.wait()
    remind_of_children(process.pid)
    assert not is_running(process.pid)


RESTLESS = """import os, sys
if not os.path.exists(sys.argv[1]):
    os.execv(sys.executable, [sys.executable, "-S", "-c", sys.argv[2], *sys.argv[1:]])
"""


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
def test_a_marked_process_is_found_while_it_starts_another_program(spawn, tmp_path):
    """The kernel has neither its variables nor its words in that moment; 2 of 100 looks came upon it."""
    enough = tmp_path / "enough"
    variables = {**os.environ, "LLMC_MARK_OF_A_TEST": str(enough)}
    process = spawn(sys.executable, "-S", "-c", RESTLESS, str(enough), RESTLESS, env=variables)
    wait_until(lambda: marked_processes(LLMC_MARK_OF_A_TEST=str(enough)))
    looks = [len(marked_processes(LLMC_MARK_OF_A_TEST=str(enough))) for _ in range(1000)]
    enough.touch()
    assert process.wait(20) == 0
    assert set(looks) == {1}
