"""The tmux room on real private servers; most tests are named after what went wrong on one."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.errors import LlmcError
from llmc.host.local import LocalHost
from llmc.host.processes import is_running, remind_of_children
from llmc.tmux.server import NESTING, PaneGoneError, Tmux, TmuxError
from testing import receiver
from testing.attached import Person
from testing.receiver import PASTE_BEGINS, PASTE_ENDS
from testing.terminals import SIZE, SOCKET, end_servers
from testing.waiting import wait_until

MIXED = "日本語 e\u0301 🤖👩\u200d💻 \t'\"\\$HOME `x` #{pid} ~ ; -x\n"


@pytest.fixture
def tmux(private_tmux):
    return private_tmux


def start(tmux, name, *argv, env=None, cwd="/"):
    return tmux.new_session(name, str(cwd), argv, env or {}, SIZE)


def sleeper(tmux, name):
    return start(tmux, name, "sleep", "600")


def running(pane):
    """The same pane, once the program runs: for a moment the process is still tmux, about to become it."""
    wait_until(lambda: Path(f"/proc/{pane.pid}/cmdline").read_bytes().startswith(b"sleep"))
    return pane


def start_receiver(tmux, file, *options):
    pane = start(tmux, "adam", sys.executable, receiver.__file__, str(file), *options)
    wait_until(lambda: "ready" in tmux.capture(pane.id))
    return pane


def received(file, size):
    """Everything that arrived, once at least `size` bytes did."""
    wait_until(lambda: file.stat().st_size >= size)
    return file.read_bytes()


def wait_for_death(tmux, session):
    """tmux 3.3a loses the end of its children now and then, and learns of it when told again."""

    def how_it_ended():
        pane = tmux.panes()[session]
        remind_of_children(pane.server_pid)
        return pane if pane.dead and (pane.exit_code, pane.exit_signal) != (None, None) else None

    return wait_until(how_it_ended)


# --- no server, no answer ------------------------------------------------------------------------


def hides_tmux(where, body):
    """A program in its place, which begins with this and then becomes tmux itself."""
    place = where / "bin"
    place.mkdir()
    program = place / "tmux"
    program.write_text(f'#!/bin/sh\n{body}\nexec {shutil.which("tmux")} "$@"\n')
    program.chmod(0o755)
    return f"{place}:{os.environ['PATH']}"


@pytest.mark.lesson(21, "not knowing moves nobody")
def test_a_server_that_ends_in_the_middle_of_a_question_is_asked_again(tmux, tmp_path, monkeypatch):
    """It ends with its last session: the client that has just connected only hears that it is gone."""
    asked = tmp_path / "asked"
    refuse = f'[ -e {asked} ] || {{ touch {asked}; echo "server exited unexpectedly" >&2; exit 1; }}'
    sleeper(tmux, "adam")
    monkeypatch.setenv("PATH", hides_tmux(tmp_path, refuse))
    assert list(tmux.panes()) == ["adam"]
    asked.unlink()
    assert tmux.pane_of("adam") is not None
    assert tmux.pane_of("baker") is None


def test_a_server_that_ends_while_it_is_told_to_has_ended(tmux, tmp_path, monkeypatch):
    sleeper(tmux, "adam")
    monkeypatch.setenv("PATH", hides_tmux(tmp_path, 'echo "server exited unexpectedly" >&2; exit 1'))
    tmux.kill_session("adam")
    tmux.stop()
    with pytest.raises(TmuxError, match="server exited"):
        tmux.panes()


@pytest.fixture
def absent():
    return Tmux(LocalHost(), "llmc-absent")


def test_without_a_server_there_are_no_panes(absent):
    assert absent.panes() == {}


def test_a_server_without_sessions_has_no_panes(tmux):
    assert tmux.panes() == {}


def test_a_server_that_died_has_no_panes(tmux):
    server = sleeper(tmux, "adam").server_pid
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: not is_running(server))
    assert tmux.panes() == {}


@pytest.mark.lesson(21, "not knowing moves nobody")
def test_a_server_that_cannot_be_reached_is_no_empty_answer():
    with pytest.raises(TmuxError, match="File name too long") as failure:
        Tmux(LocalHost(), "llmc-" + "x" * 200).panes()
    assert failure.value.hint


def test_a_directory_that_others_may_write_to_is_no_empty_answer(absent):
    directory = Path(os.environ["TMUX_TMPDIR"], f"tmux-{os.getuid()}")
    directory.mkdir()
    directory.chmod(0o777)
    with pytest.raises(TmuxError):
        absent.panes()


def test_stopping_twice_is_no_failure(tmux, absent):
    server = sleeper(tmux, "adam").server_pid
    tmux.stop()
    wait_until(lambda: not is_running(server))
    tmux.stop()
    absent.stop()
    assert tmux.panes() == {}


def test_starting_twice_keeps_the_sessions(tmux, tmp_path):
    before = sleeper(tmux, "adam")
    tmux.start(str(tmp_path / "tmux.conf"))
    assert tmux.panes()["adam"].pid == before.pid


def test_the_installed_version_is_known_and_new_enough(absent):
    assert absent.version() >= (3, 2)
    absent.require_version()


def test_an_old_version_is_refused_with_both_numbers(tmp_path, monkeypatch, absent):
    old = tmp_path / "tmux"
    old.write_text("#!/bin/sh\necho tmux 2.9a\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LlmcError, match=r"tmux 2\.9 is too old, LLMC needs 3\.2 or later"):
        absent.require_version()


# --- sessions ------------------------------------------------------------------------------------


@pytest.mark.lesson(35, "the agent is the terminal's own process, and knows of no agent around it")
def test_the_pane_runs_the_program_itself(tmux):
    pane = start(tmux, "adam", "sleep", "600")
    assert (pane.session, pane.width, pane.height, pane.dead) == ("adam", *SIZE, False)
    assert Path(f"/proc/{running(pane).pid}/cmdline").read_bytes() == b"sleep\x00600\x00"
    assert tmux.panes()["adam"].pid == pane.pid


def test_a_program_of_one_word_gets_no_shell(tmux, tmp_path):
    program = tmp_path / "a program $HOME"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    start(tmux, "adam", str(program))
    wait_until(lambda: tmux.panes()["adam"].command == "sleep")
    assert not tmux.panes()["adam"].dead


@pytest.mark.lesson(34, "a tmux server of our own, and exact names on it")
def test_names_are_exact(tmux):
    sleeper(tmux, "adam2")
    tmux.kill_session("adam")
    assert list(tmux.panes()) == ["adam2"]
    sleeper(tmux, "adam")
    tmux.kill_session("adam")
    assert list(tmux.panes()) == ["adam2"]


def test_a_name_that_is_taken_is_refused(tmux):
    first = sleeper(tmux, "adam")
    with pytest.raises(TmuxError, match="duplicate session: adam"):
        sleeper(tmux, "adam")
    assert tmux.panes()["adam"].pid == first.pid


def test_ending_a_session_that_is_not_there_is_no_failure(tmux, absent):
    tmux.kill_session("nobody")
    absent.kill_session("nobody")
    assert tmux.panes() == {}


@pytest.mark.parametrize("name", ["with space", "C#Projects #S #{pid}", "trailing;", "quote'\"$HOME"])
def test_the_program_runs_in_the_directory_whatever_its_name(tmux, tmp_path, name):
    directory = tmp_path / name
    directory.mkdir()
    pane = running(start(tmux, "adam", "sleep", "600", cwd=directory))
    assert os.readlink(f"/proc/{pane.pid}/cwd") == str(directory)


VALUES = {
    "SPACES": "a  b ",
    "QUOTES": 'it\'s "quoted" `x`',
    "SEMICOLON": "a;b;",
    "BACKSLASH_SEMICOLON": "a\\;",
    "DOLLAR": "$HOME ${PATH} $(id)",
    "NEWLINE": "one\ntwo\n",
    "FORMAT": "#{pid} #S %H ~",
    "EMPTY": "",
    "UNICODE": "日本語 🤖",
    "EQUALS": "a=b=c",
}


def environment_in(pane):
    """What the program itself got."""
    entries = Path(f"/proc/{running(pane).pid}/environ").read_bytes().decode().split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


@pytest.mark.lesson(35, "the agent is the terminal's own process, and knows of no agent around it")
def test_variables_arrive_as_they_are(tmux):
    pane = start(tmux, "adam", "sleep", "600", env=VALUES)
    inside = environment_in(pane)
    assert {name: inside.get(name) for name in VALUES} == VALUES


@pytest.mark.parametrize("word", ["a;", "\\;", ";", "-t", "=x", "$HOME", "#{pid}", "two\nlines", ""])
def test_words_of_the_command_arrive_as_they_are(tmux, word):
    pane = start(tmux, "adam", "sh", "-c", 'printf "<%s>" "$@"; exec sleep 600', "sh", word, "end")
    wait_until(lambda: "<end>" in tmux.capture(pane.id))
    assert f"<{word}><end>" in tmux.capture(pane.id)


@pytest.fixture
def nested(monkeypatch):
    """Whoever starts the server sits in an agent, in a tmux and in a git hook."""
    for name in NESTING:
        monkeypatch.setenv(name, "the-callers-own")
    monkeypatch.setenv("LLMC_ROOT", "the-callers-own")


@pytest.mark.lesson(35, "the agent is the terminal's own process, and knows of no agent around it")
def test_an_agent_does_not_believe_that_it_runs_inside_another(nested, private_tmux):
    inside = environment_in(sleeper(private_tmux, "adam"))
    assert "the-callers-own" not in inside.values()
    assert "CLAUDECODE" not in inside
    assert SOCKET in inside["TMUX"]  # of its own terminal


# --- what becomes of programs --------------------------------------------------------------------


@pytest.mark.lesson(35, "the agent is the terminal's own process, and knows of no agent around it")
@pytest.mark.parametrize("code", [0, 3, 143])
def test_exit_codes_are_kept_with_the_last_words(tmux, code):
    started = start(tmux, "adam", "sh", "-c", f"echo so long; read word; exit {code}")
    # tmux may learn of an end before it has read what was written just then: that is lost to everybody.
    wait_until(lambda: "so long" in tmux.capture(started.id))
    tmux.press(started.id, "Enter")
    pane = wait_for_death(tmux, "adam")
    assert (pane.exit_code, pane.exit_signal) == (code, None)
    # tmux's own line about the death pushes the first line of the screen into the history.
    assert "so long" in tmux.capture(pane.id, history=10)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_signals_are_kept(tmux, number):
    running = sleeper(tmux, "adam")
    os.kill(running.pid, number)
    pane = wait_for_death(tmux, "adam")
    assert (pane.exit_code, pane.exit_signal) == (None, number)


def test_one_reminder_tells_the_fate_of_many(tmux):
    names = [f"w{number}" for number in range(8)]
    panes = [start(tmux, name, sys.executable, "-c", "import time; time.sleep(600)") for name in names]
    for pane in panes:
        os.kill(pane.pid, signal.SIGKILL)
    assert {wait_for_death(tmux, name).exit_signal for name in names} == {signal.SIGKILL}


# --- reading -------------------------------------------------------------------------------------


def test_wrapped_lines_are_joined(tmux):
    long = "x" * (SIZE[0] * 2 + 7)
    pane = start(tmux, "adam", "sh", "-c", f"echo {long}; exec sleep 600")
    wait_until(lambda: long in tmux.capture(pane.id))
    assert long in tmux.look(pane.id)[1]


def test_rows_that_a_program_draws_itself_stay_apart(tmux):
    rows = ["a" * SIZE[0], "b" * SIZE[0], "c"]
    pane = start(tmux, "adam", "sh", "-c", rf"printf '\033[?1049h\033[H{''.join(rows)}'; exec sleep 600")
    wait_until(lambda: "c" in tmux.capture(pane.id))
    assert tmux.capture(pane.id).split("\n")[:3] == rows
    with tmux.talking("adam") as channel:
        assert channel.look(pane.id)[1].split("\n")[:3] == rows


def test_history_is_there_when_asked_for(tmux):
    pane = start(tmux, "adam", "sh", "-c", "seq 1 200; exec sleep 600")
    wait_until(lambda: "200" in tmux.capture(pane.id))
    assert "\n50\n" not in tmux.capture(pane.id)
    assert "\n50\n" in tmux.capture(pane.id, history=500)


def test_more_screens_are_read_than_fit_into_one_command(tmux):
    panes = [start(tmux, name, "sh", "-c", f"printf {name}; exec sleep 600") for name in ("adam", "berta")]
    wait_until(lambda: all(tmux.capture(pane.id).strip() for pane in panes))
    screens = tmux.captures([pane.id for pane in panes] * 200)
    assert [screen.strip() for screen in screens] == ["adam", "berta"] * 200
    assert tmux.captures([]) == []


def test_facts_and_screen_in_one_look(tmux):
    pane = start(tmux, "adam", "sh", "-c", r"printf '\033]2;✳ topic\007❯ ü'; exec sleep 600")
    wait_until(lambda: "❯" in tmux.look(pane.id)[1])
    facts, screen = tmux.look(pane.id)
    assert (facts.id, facts.title, facts.cursor) == (pane.id, "✳ topic", (3, 0))
    assert screen.startswith("❯ ü\n")


def test_what_is_not_ascii_is_readable_in_a_plain_locale(tmux, monkeypatch):
    pane = start(tmux, "adam", "sh", "-c", r"printf '\033]2;✳ topic\007❯ ü'; exec sleep 600")
    wait_until(lambda: "❯" in tmux.capture(pane.id))
    for name in ("LANG", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LC_ALL", "C")
    assert tmux.panes()["adam"].title == "✳ topic"
    assert "❯ ü" in tmux.look(pane.id)[1]


def test_a_program_may_call_itself_anything(tmux):
    start(tmux, "odd", "bash", "-c", "exec -a $'a\\tb\\nc' sleep 600")
    sleeper(tmux, "adam")
    wait_until(lambda: tmux.panes()["odd"].command == "a b c")
    assert set(tmux.panes()) == {"adam", "odd"}


@pytest.mark.parametrize(
    "ask",
    [
        lambda tmux: tmux.look("%99"),
        lambda tmux: tmux.capture("%99"),
        lambda tmux: tmux.paste("%99", b"text", "llmc-adam-1"),
        lambda tmux: tmux.type_text("%99", "text"),
        lambda tmux: tmux.press("%99", "Enter"),
    ],
)
def test_a_pane_that_is_not_there_is_gone(tmux, absent, ask):
    sleeper(tmux, "adam")
    for server in (tmux, absent):
        with pytest.raises(PaneGoneError) as gone:
            ask(server)
        assert gone.value.hint
    assert tmux.run("list-buffers").text == ""


# --- typing --------------------------------------------------------------------------------------


@pytest.mark.lesson(5, "each paste has a buffer of its own, and tmux makes the brackets")
def test_a_paste_is_bracketed_and_exact(tmux, tmp_path):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    text = MIXED.encode() * 3
    tmux.paste(pane.id, text, "llmc-adam-1")
    expected = PASTE_BEGINS + text + PASTE_ENDS
    assert received(file, len(expected)) == expected
    assert tmux.run("list-buffers").text == ""


def test_a_mebibyte_arrives_byte_for_byte(tmux, tmp_path):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    unit = MIXED.encode()
    text = (unit * (1024 * 1024 // len(unit) + 1))[: 1024 * 1024]
    tmux.paste(pane.id, text, "llmc-adam-1")
    expected = PASTE_BEGINS + text + PASTE_ENDS
    assert received(file, len(expected)) == expected


@pytest.mark.lesson(5, "each paste has a buffer of its own, and tmux makes the brackets")
@pytest.mark.parametrize("text", [MIXED, ";", "ends;", "-x", "~/a", "'", "a\\", "x" * 20_000], ids=range(8))
def test_a_paste_through_the_client_that_stays_is_as_exact(tmux, tmp_path, text):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    with tmux.talking("adam") as talking:
        talking.paste(pane.id, text.encode(), "llmc-adam-1")
        assert talking.run("list-buffers").text == ""
    expected = PASTE_BEGINS + text.encode() + PASTE_ENDS
    assert received(file, len(expected)) == expected


@pytest.mark.lesson(34, "a tmux server of our own, and exact names on it")
def test_a_session_is_asked_for_its_pane(tmux, absent):
    adam = sleeper(tmux, "adam")
    sleeper(tmux, "adam2")
    for session in ("adam", "adam2", "ada"):
        with tmux.talking("adam") as talking:
            assert talking.pane_of(session) == tmux.panes().get(session) == tmux.pane_of(session)
    assert tmux.pane_of("adam").id == adam.id
    with absent.talking("adam") as talking:
        assert talking.pane_of("adam") is None
    assert not absent.run("list-sessions").ok, "nothing was started"


def test_a_client_that_stays_serves_who_talks_meanwhile(tmux):
    sleeper(tmux, "adam")
    with tmux.talking("adam") as first:
        with first.talking("adam") as second:
            assert len(second.run("list-clients").text.splitlines()) == 1
        assert first.run("list-clients").ok, "it stays"
        assert not first.run("no-such-command").ok
        with first.talking("adam") as another:
            assert len(another.run("list-clients").text.splitlines()) == 2, "answers of the first could be mistaken"


def test_without_brackets_newlines_stay_newlines(tmux, tmp_path):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file, "plain")
    tmux.paste(pane.id, b"one\ntwo\n", "llmc-adam-1")
    assert received(file, 8) == b"one\ntwo\n"


@pytest.mark.lesson(6, "slash commands are typed, and a menu may take their first Enter")
@pytest.mark.parametrize(
    "text", ["a;", ";", "a\\;", "-x", "--", "-l", "/clear", "a b  c", "~", "$HOME", "'\"", "#{pid}", "Enter", "ü🤖"]
)
def test_typed_text_is_literal(tmux, tmp_path, text):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    tmux.type_text(pane.id, text)
    tmux.press(pane.id, "Enter")
    assert received(file, len(text.encode()) + 1) == text.encode() + b"\r"


def test_keys_are_keys(tmux, tmp_path):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    tmux.press(pane.id, "C-u", "Enter", "a")
    assert received(file, 3) == b"\x15\ra"


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
@pytest.mark.parametrize("mode", ["copy-mode", "clock-mode"])
def test_a_mode_is_left_before_typing(tmux, tmp_path, mode):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    tmux.run(mode, "-t", pane.id)
    assert tmux.look(pane.id)[0].in_mode
    tmux.leave_copy_mode(pane.id)
    assert not tmux.look(pane.id)[0].in_mode
    tmux.type_text(pane.id, "hello")
    assert received(file, 5) == b"hello"


def test_leaving_copy_mode_types_nothing_when_there_is_none(tmux, tmp_path):
    file = tmp_path / "received"
    pane = start_receiver(tmux, file)
    tmux.leave_copy_mode(pane.id)
    tmux.type_text(pane.id, "x")
    assert received(file, 1) == b"x"


def test_a_paste_into_a_dead_pane_is_refused_and_the_server_survives(tmux):
    """tmux 3.3a itself would die of it, with every session."""
    witness = sleeper(tmux, "witness")
    start(tmux, "adam", "true")
    dead = wait_for_death(tmux, "adam")
    for number in range(10):
        with pytest.raises(PaneGoneError, match="has ended"):
            tmux.paste(dead.id, b"hello", f"llmc-adam-{number}")
    panes = tmux.panes()
    assert panes["witness"].pid == witness.pid
    assert panes["witness"].server_pid == witness.server_pid
    assert panes["adam"].dead
    assert "hello" not in tmux.run("list-buffers").text


@pytest.mark.lesson(5, "each paste has a buffer of its own, and tmux makes the brackets")
def test_two_senders_do_not_cross(tmux, tmp_path):
    files = {name: tmp_path / name for name in ("adam", "eve")}
    panes = {}
    for name, file in files.items():
        panes[name] = start(tmux, name, sys.executable, receiver.__file__, str(file), "plain")
        wait_until(lambda name=name: "ready" in tmux.capture(panes[name].id))
    for number in range(5):
        for name, pane in panes.items():
            tmux.paste(pane.id, f"{name}{number}\n".encode(), f"llmc-{name}-{number}")
    for name, file in files.items():
        expected = "".join(f"{name}{number}\n" for number in range(5)).encode()
        assert received(file, len(expected)) == expected


@pytest.mark.lesson(34, "a tmux server of our own, and exact names on it")
def test_the_command_to_attach_names_the_session_exactly(tmux):
    command = tmux.attach_command("adam", "Ctrl-b d leaves")
    assert command[:3] == ["tmux", "-L", SOCKET]
    assert command[command.index("attach-session") :][:3] == ["attach-session", "-t", "=adam"]
    assert "ignore-size" in tmux.attach_command("adam", "Ctrl-b d leaves", keeps_size=True)


def test_attaching_shows_the_session(tmux):
    start(tmux, "adam", "sh", "-c", "echo hello from adam; exec sleep 600")
    sleeper(tmux, "adam2")
    command = shlex.join(tmux.attach_command("adam", "Ctrl-b d leaves"))
    viewer = start(tmux, "viewer", "env", "-u", "TMUX", "TERM=screen", "sh", "-c", command)
    wait_until(lambda: "hello from adam" in tmux.capture(viewer.id))
    panes = tmux.panes()
    assert (panes["adam"].attached, panes["adam2"].attached) == (1, 0)


def size_of(tmux, session):
    pane = tmux.panes()[session]
    return pane.width, pane.height


def attached_to(tmux, session, **size):
    return Person(tmux.attach_command(session, "Ctrl-b d leaves"), os.environ, **size)


def test_a_person_sees_it_at_their_size_and_it_gets_its_own_back(tmux):
    sleeper(tmux, "adam")
    with attached_to(tmux, "adam", columns=80, rows=24) as person:
        wait_until(lambda: size_of(tmux, "adam") == (80, 23))  # tmux's own line takes one
        with tmux.talking("adam") as asking:
            assert size_of(asking, "adam") == (80, 23)
        assert size_of(tmux, "adam") == (80, 23)
        person.leaves()
        wait_until(lambda: size_of(tmux, "adam") == SIZE)
    with attached_to(tmux, "adam", columns=60, rows=20):
        wait_until(lambda: size_of(tmux, "adam") == (60, 19))
    wait_until(lambda: size_of(tmux, "adam") == SIZE)


def test_a_person_who_goes_on_to_another_session_takes_the_size_along(tmux):
    sleeper(tmux, "adam")
    tmux.new_session("eve", "/", ("sleep", "600"), {}, (200, 50))
    with attached_to(tmux, "adam", columns=80, rows=24):
        wait_until(lambda: size_of(tmux, "adam") == (80, 23))
        assert size_of(tmux, "eve") == (200, 50)
        assert tmux.run("switch-client", "-t", "=eve").ok
        wait_until(lambda: (size_of(tmux, "adam"), size_of(tmux, "eve")) == (SIZE, (80, 23)))
    wait_until(lambda: size_of(tmux, "eve") == (200, 50))


def test_a_server_that_a_test_leaves_behind_is_found_and_ended(tmux):
    server = sleeper(tmux, "adam").server_pid
    assert end_servers(os.environ["TMUX_TMPDIR"]) == [SOCKET]
    assert not is_running(server)
    assert end_servers(os.environ["TMUX_TMPDIR"]) == []


# --- many at once ---------------------------------------------------------------------------------


def test_sessions_may_begin_and_end_while_others_talk_to_the_server(tmux, tmp_path):
    """Without taking turns tmux 3.3a is dead within a second, with every session."""
    tmux = replace(tmux, turns=str(tmp_path / "turns"))
    witness = sleeper(tmux, "witness")

    def come_and_go(name):
        for _ in range(25):
            sleeper(tmux, name)
            tmux.kill_session(name)

    def talk():
        for _ in range(25):
            with tmux.talking("witness") as talking:
                assert talking.look(witness.id)[0].pid == witness.pid

    with ThreadPoolExecutor(5) as pool:
        done = [pool.submit(come_and_go, name) for name in ("adam", "baker")]
        done += [pool.submit(talk) for _ in range(3)]
        for each in done:
            each.result()
    assert tmux.panes()["witness"].server_pid == witness.server_pid
