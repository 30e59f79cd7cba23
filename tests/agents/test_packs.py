"""Pack files: read, checked, found, and replaced by the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmc.agents.packs import (
    PackError,
    broken_packs,
    load_pack,
    own_packs,
    pack_for_command,
    pack_names,
)
from llmc.agents.registry import BUILT_IN, agent_named
from llmc.config.load import parse_config
from llmc.core.screen.classify import read_screen
from llmc.core.screen.screen import Screen, screen_of

SETTINGS = parse_config('[repo]\nsource = "/x"\nbranch = "main"\n')
SMALL = """\
name = "mytool"
version = "3"
processes = ["mytool"]
stable_looks = 2

[composer]
prompt = '^> ?'

[[cue]]
name = "working"
state = "BUSY"
detail = "tool"
confidence = 0.8
when = [
  { in = "above", lines = 4, regex = '^~ (?P<what>\\w+)' },
  { composer = "present" },
]
unless = [{ in = "last", text = "offline" }]
summary = "is {what}"
actions = ["wait"]
examples = ["working.txt"]
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "mytool.toml").write_text(SMALL)
    (tmp_path / "working.txt").write_text("~ baking\n\n> \n")
    return tmp_path


def broken(directory: Path, text: str) -> str:
    (directory / "mytool.toml").write_text(text)
    (wrong,) = broken_packs(str(directory))
    assert wrong.hint
    with pytest.raises(PackError):
        load_pack("mytool", str(directory))
    return wrong.what.removeprefix(f"{directory}/")


# --- reading --------------------------------------------------------------------------------------


def test_a_pack_is_read(directory: Path) -> None:
    pack = load_pack("mytool", str(directory))
    assert (pack.label, pack.process_names, pack.stable_looks) == ("mytool@3", ("mytool",), 2)
    reading = read_screen(pack, Screen("~ baking\n> "))
    assert (reading.state, reading.detail, reading.cue) == ("BUSY", "tool", "working")
    assert (reading.says["summary"], reading.says["actions_needed"]) == ("is baking", ("wait",))
    assert reading.confidence == 0.8
    assert read_screen(pack, Screen("~ baking\n> \noffline")).state == "READY"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('name = "mytool"', "name = 3", "mytool.toml:1: `name` must be a text"),
        ("stable_looks = 2", "stable_looks = 0", "mytool.toml:4: `stable_looks` must be a number from 1 to 100"),
        (
            "prompt = '^> ?'",
            "prompt = '(^> '",
            "mytool.toml:7: the pattern of `prompt` cannot be used: it is no regular",
        ),
        ("prompt =", "promt =", "mytool.toml:7: 'promt' is not known here"),
        ('state = "BUSY"', 'state = "busy"', "mytool.toml:11: cue 'working': `state` must be one of EXITED,"),
        ("confidence = 0.8", "confidence = 2", "mytool.toml:13: cue 'working': `confidence` must be a number above 0"),
        (
            r"^~ (?P<what>\w+)",
            r"(\w+)+$",
            "mytool.toml:15: cue 'working': the pattern of `regex` cannot be used: it rep",
        ),
        ('in = "above"', 'in = "sky"', "mytool.toml:15: cue 'working': `in` must be one of composer,"),
        ('composer = "present"', 'colour = "red"', "mytool.toml:14: cue 'working': a condition of `when` has `in`, or"),
        (', text = "offline"', "", "mytool.toml:18: cue 'working': a condition with `in` has either"),
        ('actions = ["wait"]', 'actions = "wait"', "mytool.toml:20: cue 'working': `actions` must be a list of texts"),
        ('name = "working"', 'nam = "working"', "mytool.toml:10: 'nam' is not known here"),
        ("stable_looks = 2", "include = 2", "mytool.toml:4: `include` must be a list of texts"),
        ('detail = "tool"', "asks = {}", "mytool.toml:12: cue 'working': `after` is missing"),
        ("prompt = '^> ?'", "rule = '-'", "mytool.toml:6: `prompt` is missing"),
        ("prompt = '^> ?'", "prompt = '>'\n[composer.otherwise]", "mytool.toml:8: `prompt` is missing"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(directory: Path, old: str, new: str, complaint: str) -> None:
    assert old in SMALL
    assert broken(directory, SMALL.replace(old, new)).startswith(complaint)


def test_what_is_no_toml_is_told_with_its_line(directory: Path) -> None:
    assert "line 2" in broken(directory, 'name = "mytool"\nversion = \n')


def test_what_is_no_text_is_told(directory: Path) -> None:
    (directory / "mytool.toml").write_bytes(b"\xff\xfe")
    (wrong,) = broken_packs(str(directory))
    assert "cannot be read" in wrong.what


def test_an_example_that_is_decided_by_something_else_is_told(directory: Path) -> None:
    assert broken_packs(str(directory)) == []
    (directory / "working.txt").write_text("> \n")
    (wrong,) = broken_packs(str(directory))
    assert "the example working.txt of cue 'working' is decided by composer" in wrong.what
    (directory / "working.txt").unlink()
    (wrong,) = broken_packs(str(directory))
    assert "is not there" in wrong.what


# --- finding --------------------------------------------------------------------------------------


def test_own_packs_come_before_those_that_are_built_in(directory: Path) -> None:
    (directory / "claude.toml").write_text(SMALL.replace("mytool", "claude"))
    assert own_packs(str(directory)) == ["claude", "mytool"]
    assert {*BUILT_IN, "shell", "python", "generic", "mytool"} <= set(pack_names(str(directory)))
    assert load_pack("claude", str(directory)).version == "3"
    assert agent_named("claude", SETTINGS, str(directory)).pack.version == "3"
    assert load_pack("claude").version != "3"


def test_a_pack_that_was_changed_is_read_again(directory: Path) -> None:
    assert load_pack("mytool", str(directory)).version == "3"
    (directory / "mytool.toml").write_text(SMALL.replace('version = "3"', 'version = "4"'))
    os.utime(directory / "mytool.toml", (1, 1))
    assert load_pack("mytool", str(directory)).version == "4"


def test_a_broken_pack_does_not_stop_an_agent_that_has_a_built_in_one(directory: Path) -> None:
    (directory / "claude.toml").write_text("name = ")
    assert agent_named("claude", SETTINGS, str(directory)).pack == load_pack("claude")


@pytest.mark.parametrize(
    ("command", "pack"),
    [("claude", "claude"), ("-bash", "shell"), ("zsh", "shell"), ("python3", "python"), ("frobnicate", "generic")],
)
def test_a_process_has_its_pack(command: str, pack: str) -> None:
    assert pack_for_command(command).name == pack


def test_a_broken_pack_hides_no_other(directory: Path) -> None:
    (directory / "aaa.toml").write_text("name = ")
    assert pack_for_command("mytool", str(directory)).name == "mytool"


@pytest.mark.parametrize(("name", "pack"), [("bash", "shell"), ("fish", "shell"), ("python3", "python")])
def test_shells_share_a_pack(name: str, pack: str) -> None:
    assert load_pack(name).name == pack


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
def test_an_older_version_can_have_a_pack_of_its_own(directory: Path) -> None:
    (directory / "mytool-2.toml").write_text(SMALL.replace('version = "3"', 'version = "2.4-2.10"'))
    for version, label in (("3", "mytool@3"), ("3.7.1", "mytool@3"), ("2.9.9", "mytool@2.4-2.10")):
        assert load_pack(f"mytool@{version}", str(directory)).label == label
    for version in ("2.3.9", "2.11", "30", "4", "x"):
        with pytest.raises(PackError, match=f"no pack for mytool {version}"):
            load_pack(f"mytool@{version}", str(directory))


def test_a_pack_that_is_not_there_is_told() -> None:
    with pytest.raises(PackError, match="no pack named 'nobody'"):
        load_pack("nobody")
    with pytest.raises(PackError, match="is not there"):
        load_pack("./nobody.toml")


@pytest.mark.parametrize("name", pack_names())
def test_every_built_in_pack_is_sound(name: str) -> None:
    pack = load_pack(name)
    assert pack.name == name
    assert len({cue.name for cue in pack.cues}) == len(pack.cues)
    for cue in pack.cues:
        assert cue.state != "NEEDS_CONFIRMATION" or cue.detail


# --- how far something is -------------------------------------------------------------------------

UNDER_WAY = [
    " 45%|████      | 9/20 [00:03<00:04,  2.9it/s]",
    "Epoch 3:  7%|▋         | 14/200 [00:09<02:01]",
    "[=====>    ] 45%",
    "[#######-----------]  38.5%",
    "Progress: |███████░░░░░| 58.3% Complete",
    "45% [====>               ] 12.3M 3.1MB/s eta 4s",
    "archive.tar.gz      45%[=======>            ]  12.30M  3.1MB/s    eta 9s",
    "   Building [=======>                ] 45/120: serde, syn",
    "Downloading... 12.3 MB / 45.0 MB",
    "a1b2c3d4: Downloading [====>          ]  12.3MB/45.0MB",
    "   ━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━━ 12.3/45.0 MB 5.1 MB/s eta 0:00:07",
    "Receiving objects:  45% (450/1000), 1.20 MiB | 3.00 MiB/s",
    "[12/340] Building CXX object src/a.o",
    "> Task :compileJava",
    "> Task :app:compileDebugKotlin UP-TO-DATE",
    "<=====--------> 40% EXECUTING [3s]",
    "<=====--------> 40% EXECUTING [3s]\n> :app:compileDebugKotlin\n> IDLE",
]


@pytest.mark.parametrize("cli", ["shell", "generic"])
def test_what_tells_how_far_it_is_is_busy(cli):
    told = {line: read_screen(load_pack(cli), screen_of(f"$ make\n{line}\n")).state for line in UNDER_WAY}
    assert told == dict.fromkeys(UNDER_WAY, "BUSY")


@pytest.mark.parametrize("prompt", ["$ ", "me@host:~/shop$ ", "host% "])
def test_a_prompt_below_what_is_through_is_ready(prompt):
    through = [*UNDER_WAY[:-1], "100%|██████████| 20/20 [00:07<00:00,  2.9it/s]", "BUILD SUCCESSFUL in 3s"]
    for line in through:
        screen = screen_of(f"{line}\n{prompt}")
        assert read_screen(load_pack("shell"), screen).state == "READY", line
        assert read_screen(load_pack("generic"), screen).state != "BUSY", line
