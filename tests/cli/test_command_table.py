"""The contract of the command line: help, JSON, exit codes, completion, where the root is."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import termios
from importlib.metadata import version

import pytest

from llmc.cli.command_table import COMMANDS
from llmc.cli.failures import tell
from llmc.errors import InvalidUsageError, LlmcError
from testing.commands import PROGRAM, Llmc
from testing.roots import make_repository, own_environment
from testing.waiting import wait_until

NUMBER = (int, float)


# --- help and version -------------------------------------------------------------------------------


def test_every_command_has_help_with_an_example(place):
    said = place.llmc.run_all([[command.name, "--help"] for command in COMMANDS])
    for command in COMMANDS:
        each = said[f"{command.name} --help"]
        assert (each.code, each.err) == (0, "")
        examples = each.out.partition("\nexample:\n")[2].splitlines()
        assert examples
        assert all(f"llmc {command.name}" in line for line in examples)
        assert ("--json" in each.out) == command.answers
        assert "\nexit codes:\n  0 done\n  1 " in each.out


def test_every_command_of_a_group_has_help_with_an_example(place):
    parts = {f"{group.name} {part.name}": part for group in COMMANDS for part in (group.parts() if group.parts else ())}
    assert "pty classify" in parts
    said = place.llmc.run_all([[*name.split(), "--help"] for name in parts])
    for name, part in parts.items():
        each = said[f"{name} --help"]
        examples = each.out.partition("\nexample:\n")[2].splitlines()
        assert (each.code, each.err) == (0, "")
        assert examples
        assert all(f"llmc {name}" in line for line in examples)
        assert ("--json" in each.out) == part.answers


def test_help_of_everything(place):
    said = place.llmc.run("--help")
    listed = re.findall(r"^    ([a-z]+)", said.out, re.MULTILINE)
    assert listed == [command.name for command in COMMANDS]
    assert "exit codes: 0 done, 1 expected failure, 2 invalid usage, 3 a bug in LLMC" in said.out


def test_help_fits_an_ordinary_terminal(place):
    names = [[command.name] for command in COMMANDS] + [
        ["pty", part.name] for group in COMMANDS for part in (group.parts() if group.parts else ())
    ]
    said = place.llmc.run_all([[*name, "--help"] for name in names], env={"COLUMNS": "80"})
    assert {
        line for each in said.values() for line in each.out.partition("\nexit codes:")[0].splitlines() if len(line) > 80
    } == set()


def test_a_mistyped_command_is_guessed(place):
    said = place.refuses([["stauts"], ["pty", "lst"], ["xyzzy"]], 2)
    assert "there is no command 'stauts'\nhint: did you mean `llmc status`?" in said["stauts"].err
    assert "did you mean `llmc pty list`?" in said["pty lst"].err
    assert "did you mean" not in said["xyzzy"].err
    assert all("--help` lists the commands" in each.err for each in said.values())


def test_without_words_it_says_how_to_begin(place):
    (said,) = place.refuses([[]], 2).values()
    assert all(f"`llmc {word}`" in said.err for word in ("demo", "init", "--help"))


def test_version(place):
    assert place.llmc.run("--version").out == f"llmc {version('llmc')}\n"


# --- exit codes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (LlmcError("what", "hint"), 1),
        (InvalidUsageError("what", "hint"), 2),
        (PermissionError(13, "Permission denied", "what"), 1),
    ],
)
def test_failures_have_a_code_and_a_hint(failure, code, capsys):
    assert tell(failure) == code
    assert [line.partition(": ")[0] for line in capsys.readouterr().err.splitlines()] == ["error", "hint"]


@pytest.mark.parametrize("has_place_for_a_log", [True, False])
def test_a_bug_leaves_a_log_to_paste(tmp_path, has_place_for_a_log):
    program = "import sys; from llmc.cli.failures import tell; sys.exit(tell(ZeroDivisionError('a\\x1b[31mb')))"
    limit = "unlimited" if has_place_for_a_log else "0"
    done = subprocess.run(
        ["sh", "-c", f'ulimit -f {limit}; exec "$@"', "sh", PROGRAM.with_name("python"), "-c", program],
        env={"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "error: this is a bug in LLMC: ZeroDivisionError: a" in done.stderr
    assert "\x1b" not in done.stderr
    if has_place_for_a_log:
        (log,) = tmp_path.glob("llmc-bug-*.log")
        assert done.stderr.endswith(f"\nhint: please report it with the content of {log}\n")
        assert "ZeroDivisionError" in log.read_text()
    else:
        assert done.stderr.endswith("\nhint: please report it with the lines above\n")


def test_an_interrupted_command(place):
    process = subprocess.Popen(
        place.llmc.command("events", "--follow", "--json"),
        env=place.llmc.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert first["worker"] == "adam"
    assert (process.returncode, said) == (130, "interrupted\n")


# --- where the root is ------------------------------------------------------------------------------


def test_the_root_can_be_named_before_and_after_the_verb(place, tmp_path):
    root, elsewhere = str(place.root), {"LLMC_ROOT": str(tmp_path)}
    for words in (["--root", root, "status"], ["status", "--root", root], ["config", "path", f"--root={root}"]):
        assert root in place.llmc.run(*words, env=elsewhere).out
    assert str(tmp_path) in place.llmc.run("status", env=elsewhere, check=False).err


@pytest.mark.parametrize("unset", [None, ""])
def test_the_root_around_us_and_the_usual_one(place, unset):
    env = {"LLMC_ROOT": unset}
    inside = place.root / ".worktrees" / "adam"
    assert place.llmc.run("config", "path", cwd=inside, env=env).out == f"{place.root}/config.toml\n"
    usual = place.llmc.home / "llmc"
    assert f"there is no LLMC root at {usual}" in place.llmc.run("config", "path", env=env, check=False).err
    usual.symlink_to(place.root)
    try:
        assert place.llmc.run("config", "path", env=env).out == f"{place.root}/config.toml\n"
    finally:
        usual.unlink()


def test_a_settings_file_of_somebody_else_is_no_root(place, tmp_path):
    (tmp_path / "config.toml").write_text("")
    said = place.llmc.run("status", cwd=tmp_path, env={"LLMC_ROOT": None}, check=False)
    assert f"there is no LLMC root at {place.llmc.home}/llmc" in said.err


# --- JSON -------------------------------------------------------------------------------------------

STATUS = {"schema": int, "root": str, "daemon": dict, "branch": str, "workers": list}
WORKER = {
    "name": str,
    "status": str,
    "work": str,
    "session": str,
    "agent": str,
    "attention": dict,
    "current_prompt": str,
    "branch": str,
    "worktree_path": str,
    "commit_sha": (str, type(None)),
    "last_activity_unix": NUMBER,
    "crash_count": int,
    "evidence": dict,
}
ATTENTION = {
    "state": str,
    "detail": (str, type(None)),
    "confidence": NUMBER,
    "source": str,
    "age_secs": (*NUMBER, type(None)),
}
RECEIPT = {"outcome": str, "proof": str, "attempts": int, "elapsed_ms": int, "bytes": int, "sha256": str}


def check_fields(data, fields):
    assert {name: type(data.get(name)) for name, kind in fields.items() if not isinstance(data.get(name), kind)} == {}


def check_status(document, *, running):
    check_fields(document, STATUS)
    assert document["schema"] == 1
    assert document["branch"] == "main"
    assert document["daemon"]["running"] is running
    assert isinstance(document["daemon"]["pid"], int if running else type(None))
    for worker in document["workers"]:
        check_fields(worker, WORKER)
        check_fields(worker["attention"], ATTENTION)
        check_fields(worker["evidence"], {"signal": str, "at_unix": NUMBER})


@pytest.mark.lesson(23, "status tells what is there, and how old that knowledge is")
def test_status_as_json_without_a_daemon(place):
    for words in (["status", "--json"], ["status", "--json", "--root", str(place.root)]):
        document = json.loads(place.llmc.run(*words).out)
        check_status(document, running=False)
        adam, baker = document["workers"]
        assert document["root"] == str(place.root)
        assert (adam["name"], adam["status"], adam["work"], adam["session"]) == (
            "adam",
            "offline",
            "needs_review",
            "down",
        )
        assert adam["branch"] == "llmc/adam"
        assert adam["worktree_path"] == f"{place.root}/.worktrees/adam"
        assert baker["commit_sha"] is None


def test_status_for_a_status_line(place):
    assert place.llmc.run("status", "--short").out == "[adam: offline] [baker: offline]\n"


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_every_worker_has_one_line_in_any_terminal(place, columns):
    shown = in_terminal(place, columns, "status").splitlines()
    assert [line.split()[0] for line in shown[2:]] == ["adam", "baker"]
    assert max(len(line) for line in shown[1:]) <= columns


def in_terminal(place, columns, *words):
    person, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        subprocess.run(
            place.llmc.command(*words),
            env=place.llmc.environment({"NO_COLOR": "1"}),
            stdout=terminal,
            stdin=terminal,
            check=True,
        )
        return os.read(person, 1 << 16).decode()
    finally:
        os.close(terminal)
        os.close(person)


def test_status_that_goes_on_as_json(place):
    process = subprocess.Popen(
        place.llmc.command("status", "--watch", "--json"), env=place.llmc.environment(), stdout=subprocess.PIPE
    )
    with process:
        document = json.loads(process.stdout.readline())
        process.terminate()
    check_status(document, running=False)


def test_everything_that_answers_answers_as_json(place):
    lines = (
        "events",
        "events adam",
        "logs adam",
        "explain adam",
        "undo --list",
        "config get repo.branch",
        "config check",
        "config path",
        "review adam --interface stat",
        "doctor",
    )
    said = place.llmc.run_all([[*line.split(), "--json"] for line in lines])
    answers = {line: json.loads(said[f"{line} --json"].out) for line in lines}
    assert {line for line in lines if said[f"{line} --json"].code != 0} <= {"doctor"}
    assert answers["config get repo.branch"] == {"key": "repo.branch", "value": "main"}
    assert answers["review adam --interface stat"]["worker"] == "adam"
    assert {event["worker"] for event in answers["events adam"]} == {"adam"}
    assert "signals" in answers["explain adam"]


def test_a_story_as_json(tmp_path):
    """Every command that changes something, once, with a real agent program and the daemon."""
    with own_environment(tmp_path / "home"):
        source = make_repository(tmp_path / "source")
    with Llmc(tmp_path / "home", tmp_path / "root") as llmc:

        def ask(*words):
            said = llmc.run(*words, "--json")
            assert said.err == ""
            return json.loads(said.out)

        def status_of(name):
            return next(each for each in ask("status")["workers"] if each["name"] == name)["status"]

        assert ask("init", "--source", str(source))["branch"] == "main"
        assert ask("add", "adam", "--agent", "demo")["branch"] == "llmc/adam"
        assert ask("up", "--detach")["workers"] == {"adam": "idle"}
        receipt = ask("start", "--prompt", "first note", "--wait")
        check_fields(receipt, RECEIPT)
        assert receipt["outcome"] == "delivered"
        check_status(ask("status"), running=True)
        assert status_of("adam") == "needs_review"
        assert ask("peek", "adam", "-n", "5")["dead"] is False
        assert "first" in ask("review")["diff"]
        assert ask("comment", "adam", "README:1", "say more here")["open"] == 1
        assert len(ask("comment", "adam", "--list")["comments"]) == 1
        assert ask("comment", "adam", "--remove", "1")["text"] == "say more here"
        check_fields(ask("reject", "say more"), RECEIPT)
        wait_until(lambda: status_of("adam") == "needs_review")
        assert ask("review", "adam")["worker"] == "adam"
        assert ask("rebase", "adam")["conflicted_files"] == []
        assert ask("accept")["branch"] == "main"
        check_fields(ask("message", "adam", "hello", "--wait"), RECEIPT)
        assert ask("reset", "adam", "--yes")["status"] == "idle"
        assert ask("restart", "adam")["status"] == "idle"
        assert ask("config", "set", "policy.autonomy", "assist")["value"] == "assist"
        assert ask("undo", "adam", "--yes")["worker"] == "adam"
        assert ask("down", "--force") == {"stopped": ["adam"], "not_remembered": []}
        assert ask("nuke", "adam", "--yes") == {"removed": ["adam"], "not_kept": {}}


# --- completion -------------------------------------------------------------------------------------


def in_shell(place, *argv):
    env = place.llmc.environment({"PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"})
    done = subprocess.run(argv, env=env, cwd=place.llmc.home, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_completion_for_bash(place):
    script = """
        eval "$(llmc completion bash)"
        complete -p llmc >/dev/null || exit 1
        COMP_WORDS=({words}) COMP_CWORD={last}; _llmc; echo "${{COMPREPLY[@]}}"
    """

    def completed(*words):
        quoted = " ".join(f"'{word}'" for word in words)
        return set(in_shell(place, "bash", "-c", script.format(words=quoted, last=len(words) - 1)))

    assert completed("llmc", "st") == {"status", "start"}
    assert completed("llmc", "peek", "a") == {"adam"}
    assert completed("llmc", "--root", str(place.root), "review", "--inter") == {"--interface"}
    assert {"get", "set", "path", "check"} <= completed("llmc", "config", "")


def test_completion_for_zsh(place):
    said = place.llmc.run("completion", "zsh").out
    assert said.startswith("#compdef llmc conductor\n")
    assert all(f"        {command.name}) compadd " in said for command in COMMANDS)
    if shutil.which("zsh"):
        load = 'autoload -Uz compinit; compinit -u -D; eval "$(llmc completion zsh)"; echo $_comps[llmc]'
        assert in_shell(place, "zsh", "-fc", load) == ["_llmc"]


def test_completion_for_fish(place):
    said = place.llmc.run("completion", "fish").out
    assert all(f"-a {command.name} " in said for command in COMMANDS)
    if shutil.which("fish"):
        found = in_shell(place, "fish", "--no-config", "-c", 'llmc completion fish | source; complete -C "llmc stat"')
        assert found[0] == "status"
        found = in_shell(place, "fish", "--no-config", "-c", 'llmc completion fish | source; complete -C "llmc peek a"')
        assert found[0] == "adam"
