"""What holds for the whole house, whatever is built in its rooms."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "llmc"
LONGEST_MODULE = 450

# Recordings of real terminals show the paths of the machine where they were made.
RECORDED = {"screens", "recordings"}
FOREIGN = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org"
    r"|(?<![\w.~})$*-])/(?:root|work|home/[\w.-]+|Users/[\w.-]+)/"
)


@pytest.fixture
def project_files(tmp_path: Path) -> list[Path]:
    """What would be committed: seen from an empty repository, so that it works in a copy without history too."""
    git = ["git", f"--git-dir={tmp_path}/.git", f"--work-tree={ROOT}"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "--quiet", tmp_path], env=environment, check=True)
    listing = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name]


def modules(room: Path = SOURCE) -> list[Path]:
    return sorted(room.rglob("*.py"))


def foreign_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if FOREIGN.search(line)]


def test_imports_point_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert exit_code == 0, capsys.readouterr().out


def test_nothing_names_one_machine_or_its_package_sources(project_files: list[Path]) -> None:
    readable = [file for file in project_files if file.is_file() and RECORDED.isdisjoint(file.relative_to(ROOT).parts)]
    assert Path(__file__).resolve() in readable
    found = {str(file.relative_to(ROOT)): foreign_lines(file.read_text("utf-8", "replace")) for file in readable}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("text", ["cd {}root/x", "see '{}home/ann/x'", "({}work/x)", "https:{}{}pypi" + ".org/simple"])
def test_a_foreign_line_is_noticed(text: str) -> None:
    assert foreign_lines(text.replace("{}", "/"))


@pytest.mark.parametrize("text", ["src{}work/x", "~{}work/x", "$HOME{}work/x", "(base){}home/ann/x", "{}homework/x"])
def test_an_innocent_line_passes(text: str) -> None:
    assert foreign_lines(text.replace("{}", "/")) == []


def test_modules_are_small() -> None:
    lengths = {str(module.relative_to(SOURCE)): len(module.read_text("utf-8").splitlines()) for module in modules()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_looking_changes_nothing() -> None:
    """Whoever looks returns values; what is kept of them, and what goes, is for care to say."""
    acts = re.compile(
        r"\bledger\.(apply|hear|note|write)\b|\.transact\(|\btake\(|write_atomically|\.unlink\(|host\.write\("
    )
    looking = modules(SOURCE / "observe")
    assert looking
    assert [each.name for each in looking if acts.search(each.read_text("utf-8"))] == []


def test_only_the_host_room_talks_to_the_operating_system() -> None:
    """The demo agent is a program of its own: it has signals and a terminal, as every program has."""
    system = re.compile(
        r"/proc\b|\b(pidfd|inotify|flock|ctypes|fsync|prctl)|\bos\.(kill|killpg|fork|posix_spawn|exec|wait)"
    )
    spared = {SOURCE / "host", SOURCE / "demo"}
    others = [each for each in modules() if spared.isdisjoint(each.parents)]
    assert any(system.search(each.read_text("utf-8")) for each in modules(SOURCE / "host"))
    assert [str(each) for each in others if system.search(each.read_text("utf-8"))] == []


def test_a_class_has_a_name_of_its_own() -> None:
    """A reader who meets the name knows which one is meant."""
    named = [name for each in modules() for name in re.findall(r"^class (\w+)", each.read_text("utf-8"), re.MULTILINE)]
    assert sorted({name for name in named if named.count(name) > 1}) == []


def test_frozen_dataclasses_are_the_cheap_ones() -> None:
    assert [str(each) for each in modules() if "@dataclass(frozen" in each.read_text("utf-8")] == []


@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_decisions_do_not_sleep() -> None:
    core = modules(SOURCE / "core")
    assert core
    assert [module.name for module in core if re.search(r"\bsleep\(", module.read_text("utf-8"))] == []


def test_every_room_has_tests() -> None:
    rooms = {module.parent.relative_to(SOURCE).parts[0] for module in modules() if module.parent != SOURCE}
    tested = {test.parent.relative_to(ROOT / "tests").parts[0] for test in ROOT.glob("tests/*/**/test_*.py")}
    tested |= {test.stem.removeprefix("test_") for test in ROOT.glob("tests/test_*.py")}
    assert rooms - tested == set()
