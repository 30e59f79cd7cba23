"""While nothing happens, nothing is done: signals wake the daemon, and the patrol is a safety net."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.story import Story, told_in

QUIET_SECS = 5.0
WORKERS = ("adam", "baker", "charlie", "dora")
NOTING = """\
#!/bin/sh
echo "$PPID {name} $*" >>{notes}
exec {program} "$@"
"""


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every start of git or tmux, with the process that started it."""
    notes, programs = tmp_path / "notes", tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "tmux"):
        program = programs / name
        program.write_text(NOTING.format(name=name, notes=notes, program=shutil.which(name)))
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return notes


@pytest.fixture
def story(tmp_path: Path, notes: Path) -> Iterator[Story]:
    with told_in(tmp_path / "story") as story:
        yield story


def started_by(pid: int, notes: Path) -> int:
    return sum(line.startswith(f"{pid} ") for line in notes.read_text().splitlines())


@pytest.mark.lesson(40, "an idle fleet starts no programs")
def test_a_daemon_with_nothing_to_do_starts_no_program(story: Story, notes: Path) -> None:
    daemon = story.begin(*WORKERS).up()
    assert started_by(daemon, notes) > 0
    quiet_since, before = time.monotonic(), started_by(daemon, notes)

    def is_quiet() -> bool:
        nonlocal quiet_since, before
        if started_by(daemon, notes) != before:
            quiet_since, before = time.monotonic(), started_by(daemon, notes)
        return time.monotonic() - quiet_since > QUIET_SECS

    story.until(is_quiet)
    story.work("adam", "write a.txt x", "commit Add a")
    assert started_by(daemon, notes) > before, "it is awake all the same"
