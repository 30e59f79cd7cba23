"""`llmc doctor --agents` with CLIs that have changed: small programs that print another version or prompt."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from llmc.cli.main import main
from llmc.config.sections import CLI_AGENTS
from llmc.store.config_file import set_value
from testing.damage import root as root
from testing.damage import source as source

DEMO = f'exec "{sys.executable}" -P -m llmc.demo "$@"'


@pytest.fixture
def programs(tmp_path_factory, monkeypatch):
    directory = tmp_path_factory.mktemp("bin")  # outlives the test: what it has left is ended with this tmux
    for name in ("git", "tmux", "bash", "sh", "env", "cat", "mv", "mktemp", "date", "sleep", "tr"):
        (directory / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(directory))
    return directory


def write_cli(directory, name, version, otherwise):
    path = directory / name
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "{name} {version}"; exit; }}\n{otherwise}\n')
    path.chmod(0o755)


@pytest.fixture
def tried(root, capsys):
    def run():
        code = main(["--root", root.path, "doctor", "--agents", "--json"])
        captured = capsys.readouterr()
        data = json.loads(captured.out)
        return code, {each["agent"]: each for each in data["agents"]}, captured.err

    return run


def verdicts(trial):
    return {check["name"]: check["verdict"] for check in trial["checks"]}


def describe(root, text):
    with open(root.config_file, "a", encoding="utf-8") as config:
        config.write(text)


def test_nothing_is_installed(programs, tried):
    code, found, said = tried()
    assert code == 0
    assert {name: each["installed"] for name, each in found.items()} == dict.fromkeys(CLI_AGENTS, False)
    assert "codex: codex is not installed" in said


def test_a_cli_of_ones_own_that_reports_is_tried_from_end_to_end(programs, tried, root):
    write_cli(programs, "mytool", "3.4.5", DEMO)
    describe(root, '\n[agents.mytool]\ncommand = ["mytool"]\npack = "demo"\nevents = true\n')
    code, found, _ = tried()
    own = found["mytool"]
    assert (code, own["version"], own["drifted"]) == (0, "3.4.5", []), json.dumps(own, indent=1)
    checks = verdicts(own)
    assert (checks["prompt"], checks["delivery"], checks["answer"]) == ("ok", "ok", "ok"), json.dumps(own, indent=1)


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
def test_another_version_and_another_prompt(programs, tried, root):
    write_cli(programs, "claude", "9.9.1", "printf 'Welcome to the new look\\n=> '; exec cat")
    describe(root, "\n[agents.claude]\nready_timeout_secs = 2\n")
    code, found, said = tried()
    own = found["claude"]
    assert code == 1
    assert verdicts(own) == {"version": "drifted", "options": "unknown", "prompt": "drifted"}, own
    assert own["drifted"] == ["version", "prompt"]
    assert "DRIFTED version: it is 9.9.1, but the pack is for 2.1" in said
    assert "the new look" in said


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
def test_a_cli_whose_hooks_do_not_run(programs, tried, root):
    rule = "─" * 40
    screen = f"printf '\\n{rule}\\n❯ \\n{rule}\\n'; while IFS= read -r line; do :; done"
    write_cli(programs, "claude", "2.1.5", screen)
    code, found, _ = tried()
    checks = verdicts(found["claude"])
    assert code == 1
    assert (checks["version"], checks["prompt"], checks["events"]) == ("ok", "ok", "drifted"), found["claude"]
    assert checks["delivery"] == "drifted"


def test_a_cli_that_is_not_logged_in(programs, tried):
    write_cli(programs, "claude", "2.1.5", "echo 'Select login method:'; exec cat")
    code, found, _ = tried()
    assert code == 1
    (prompt,) = [check for check in found["claude"]["checks"] if check["name"] == "prompt"]
    assert prompt["verdict"] == "failed"
    assert "not logged in" in prompt["words"]


def test_an_option_that_the_cli_does_not_know_is_told(programs, tried, root):
    help_page = "printf 'Options:\\n  --settings FILE\\n  --model NAME\\n'"
    strict = f"[ $1 = --help ] && {{ {help_page}; exit; }}; case $* in *dangerously*) exit 2; esac"
    write_cli(programs, "claude", "2.1.5", f"{strict}; printf '=> '; exec cat")
    describe(root, "\n[agents.claude]\nready_timeout_secs = 2\n")
    _, found, said = tried()
    checks = {check["name"]: check for check in found["claude"]["checks"]}
    assert checks["options"]["verdict"] == "unknown"
    assert "without --dangerously-skip-permissions (it asks before it acts)" in said
    assert "was not ready within" in checks["prompt"]["words"], "it has started"


def test_a_cli_that_ends_at_once(programs, tried):
    write_cli(programs, "opencode", "1.18.3", "echo no libraries here; exit 3")
    _, found, _ = tried()
    (prompt,) = [check for check in found["opencode"]["checks"] if check["name"] == "prompt"]
    assert (prompt["verdict"], "exit code 3" in prompt["words"]) == ("failed", True)


def test_the_model_of_one_agent_is_not_given_to_another(programs, tried, root):
    set_value(root.config_file, "defaults.agent", "claude")
    set_value(root.config_file, "defaults.model", "opus")
    write_cli(programs, "opencode", "1.18.3", 'tr -d "\\n" < "$OPENCODE_CONFIG"; exit 3')
    _, found, _ = tried()
    (prompt,) = [check for check in found["opencode"]["checks"] if check["name"] == "prompt"]
    assert "autoupdate" in prompt["words"]
    assert "model" not in prompt["words"]
