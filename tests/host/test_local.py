from __future__ import annotations

import os
import signal
import sys
import tty
from pathlib import Path

import pytest

from llmc.errors import LlmcError
from llmc.host.base import ProgramHungError, ProgramMissingError
from llmc.host.local import LocalHost
from llmc.host.processes import is_running
from testing.waiting import wait_until


@pytest.fixture
def host():
    return LocalHost()


# --- running programs ----------------------------------------------------------------------------


def test_a_program_answers_with_code_output_and_complaint(host):
    done = host.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.code, done.out, done.err, done.ok) == (3, b"out\n", b"err\n", False)
    assert (done.text, done.complaint) == ("out\n", "err")


def test_a_program_that_complains_on_its_output_is_heard(host):
    assert host.run(["sh", "-c", "echo wrong; exit 1"]).complaint == "wrong"


def test_bytes_that_are_not_utf8_are_readable(host):
    assert host.run(["printf", r"a\377b"]).text == "a\ufffdb"


def test_a_signal_is_a_negative_code(host):
    assert host.run(["sh", "-c", "kill -TERM $$"]).code == -signal.SIGTERM


def test_input_arrives_byte_for_byte(host):
    data = bytes(range(256)) * 4096
    assert host.run(["cat"], stdin=data).out == data


def test_without_input_there_is_nothing_to_wait_for(host):
    assert host.run(["cat"]).out == b""


def test_words_are_not_read_by_a_shell(host):
    assert host.run(["printf", "%s|", "$HOME", "a b", "*", ";"]).text == "$HOME|a b|*|;|"


def test_the_environment_is_replaced_whole(host, monkeypatch):
    monkeypatch.setenv("FROM_THE_CALLER", "1")
    assert host.run(["/usr/bin/env"], env={"ONLY": "this"}).text == "ONLY=this\n"
    assert "FROM_THE_CALLER=1" in host.run(["/usr/bin/env"]).text
    assert host.environ()["FROM_THE_CALLER"] == "1"


def test_a_program_runs_where_it_is_told_to(host, tmp_path):
    assert host.run(["pwd"], cwd=str(tmp_path)).text == f"{tmp_path}\n"


def test_a_missing_program_is_named(host):
    with pytest.raises(ProgramMissingError, match="no-such-program is not installed") as missing:
        host.run(["no-such-program"])
    assert "install no-such-program" in missing.value.hint


def test_a_missing_directory_is_not_taken_for_a_missing_program(host, tmp_path):
    with pytest.raises(LlmcError, match="nowhere is gone") as gone:
        host.run(["true"], cwd=str(tmp_path / "nowhere"))
    assert not isinstance(gone.value, ProgramMissingError)
    assert gone.value.hint


@pytest.mark.parametrize(
    ("content", "mode", "why"), [("#!/bin/sh\n", 0o644, "Permission denied"), ("\0\0", 0o755, "Exec format error")]
)
def test_a_file_that_cannot_be_run_is_no_bug(host, tmp_path, content, mode, why):
    file = tmp_path / "program"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(LlmcError, match=f"program does not start: {why}") as failure:
        host.run([str(file)])
    assert failure.value.hint


def test_a_file_is_no_directory(host, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LlmcError, match="file is gone"):
        host.run(["true"], cwd=str(tmp_path / "file"))


# --- programs that hang --------------------------------------------------------------------------


def read_pid(file: Path) -> int:
    return int(wait_until(lambda: file.exists() and file.read_text().strip()))


HANGS = {
    "by itself": "echo $$ >{pid}; exec sleep 600",
    "in a child": "sh -c 'echo $$ >{pid}; exec sleep 600'",
    "in a child with a group of its own": "setsid sh -c 'echo $$ >{pid}; exec sleep 600'; true",
    "in a child of a parent that ended": "(sh -c 'echo $$ >{pid}; exec sleep 600' &); exec sleep 600",
    "and does not listen": "trap '' TERM INT HUP; echo $$ >{pid}; while :; do sleep 1; done",
}


@pytest.mark.parametrize("script", HANGS.values(), ids=HANGS.keys())
def test_a_program_that_hangs_is_ended_with_everything_that_it_started(host, tmp_path, script):
    file = tmp_path / "pid"
    with pytest.raises(ProgramHungError, match=r"`sh -c .*` did not end within 3 seconds and was stopped"):
        host.run(["sh", "-c", script.format(pid=file)], timeout=3.0)
    pid = read_pid(file)
    wait_until(lambda: not is_running(pid))


LEAVES = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


def test_a_program_that_left_its_family_does_not_hold_us_up(host, tmp_path):
    """It keeps the output open, so that the end of the output never comes."""
    file = tmp_path / "pid"
    with pytest.raises(ProgramHungError):
        host.run([sys.executable, "-c", LEAVES, str(file)], timeout=3.0)
    os.kill(read_pid(file), signal.SIGKILL)


# --- files ---------------------------------------------------------------------------------------


def test_reading(host, tmp_path):
    (tmp_path / "file").write_bytes(b"\0\xff")
    assert host.read(str(tmp_path / "file")) == b"\0\xff"
    assert host.read(str(tmp_path / "nothing")) is None
    assert host.read(str(tmp_path / "file" / "below")) is None


def test_what_is_there(host, tmp_path):
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_text("")
    assert host.exists(str(tmp_path / "dangling"))
    assert not host.exists(str(tmp_path / "nothing"))
    assert host.is_dir(str(tmp_path))
    assert not host.is_dir(str(tmp_path / "file"))
    assert not host.is_dir(str(tmp_path / "dangling"))


def test_directories_are_made_with_those_above(host, tmp_path):
    host.make_dir(str(tmp_path / "a" / "b"))
    host.make_dir(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()


def test_removing_a_tree_never_follows_a_link(host, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("precious")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "inside").symlink_to(kept)
    (tmp_path / "link").symlink_to(kept)
    for path in (tree, tmp_path / "link", tmp_path / "nothing"):
        host.remove_tree(str(path))
        assert not os.path.lexists(path)
    assert (kept / "file").read_text() == "precious"


def test_links(host, tmp_path):
    (tmp_path / "link").symlink_to("target")
    assert host.read_link(str(tmp_path / "link")) == "target"
    assert host.read_link(str(tmp_path)) is None
    assert host.real_path(str(tmp_path / "link" / "x")) == str(tmp_path.resolve() / "target" / "x")


def test_copying_keeps_mode_and_times(host, tmp_path):
    source = tmp_path / "source"
    source.write_text("content")
    source.chmod(0o750)
    os.utime(source, (1_000_000, 1_000_000))
    target = tmp_path / "a" / "b" / "target"
    host.copy_file(str(source), str(target))
    assert target.read_text() == "content"
    assert (target.stat().st_mode & 0o777, target.stat().st_mtime) == (0o750, 1_000_000)


def test_copying_never_writes_through_a_link(host, tmp_path):
    source, other, target = tmp_path / "source", tmp_path / "other", tmp_path / "target"
    source.write_text("new")
    other.write_text("precious")
    target.symlink_to(other)
    host.copy_file(str(source), str(target))
    assert (other.read_text(), target.read_text(), target.is_symlink()) == ("precious", "new", False)


def test_a_link_is_copied_as_a_link(host, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    host.copy_file(str(tmp_path / "link"), str(tmp_path / "copy"))
    assert os.readlink(tmp_path / "copy") == "nowhere"


def test_programs_are_found_by_name(host):
    assert host.which("sh")
    assert host.which("no-such-program") is None


# --- terminals -----------------------------------------------------------------------------------


def test_what_was_typed_waits_until_it_is_read(host):
    keyboard, terminal = os.openpty()
    try:
        tty.setraw(terminal)
        assert not host.has_unread_input(os.ttyname(terminal))
        os.write(keyboard, b"hello")
        wait_until(lambda: host.has_unread_input(os.ttyname(terminal)))
        assert os.read(terminal, 100) == b"hello"
        assert not host.has_unread_input(os.ttyname(terminal))
    finally:
        os.close(terminal)
        os.close(keyboard)


@pytest.mark.parametrize("path", ["/nowhere/tty", "/dev/null", ""])
def test_nobody_can_tell_of_what_is_no_terminal(host, path):
    assert not host.has_unread_input(path)


def test_who_reads_lines_is_told_by_the_terminal(host):
    keyboard, terminal = os.openpty()
    try:
        assert host.reads_lines(os.ttyname(terminal))
        tty.setraw(terminal)
        assert not host.reads_lines(os.ttyname(terminal))
    finally:
        os.close(terminal)
        os.close(keyboard)
    assert not host.reads_lines("/dev/null")
