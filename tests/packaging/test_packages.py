"""What users install: a wheel and a source package, in an environment that has nothing else in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import distribution, files, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from llmc.host.processes import marked_processes
from testing.namespace import PROJECT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(place)], cwd=PROJECT, check=True)
    return place


def test_the_wheel_has_the_program_and_its_data_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "llmc/agents/packs/claude.toml" in names
    assert {f"llmc/web/static/{name}" for name in ("board.js", "worker.js", "worker.css", "style.css", "icon.svg")} <= {
        *names
    }
    assert "llmc/web/templates/board.html" in names
    assert [name for name in names if "frontend" in name or "node_modules" in name] == [], "what they are built from"
    assert [name for name in names if not name.startswith(("llmc/", "llmc-"))] == []
    assert [name for name in names if "__pycache__" in name] == []


def test_the_source_package_has_what_it_takes_to_build_and_test(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "src/llmc/cli/main.py", "tests/conftest.py", "testing/story.py", "Makefile"} <= names
    assert {"hatch_build.py", "src/llmc/web/frontend/package-lock.json", "src/llmc/web/static/worker.js"} <= names
    assert [name for name in names if "node_modules" in name] == []


def test_a_wheel_is_built_of_the_source_package_without_node_and_network(built: Path, tmp_path: Path) -> None:
    """What the browser gets is in it already, and fits its sources."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("llmc-*")
    made = tmp_path / "made"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made)]
    nothing = {"PATH": str(tmp_path / "empty"), "HOME": str(tmp_path)}
    subprocess.run(command, cwd=source, env=nothing, check=True)
    (wheel,) = made.glob("*.whl")
    assert "llmc/web/static/worker.js" in zipfile.ZipFile(wheel).namelist()


def test_the_lock_of_the_browser_s_packages_names_no_place_and_pins_each() -> None:
    lock = json.loads(PROJECT.joinpath("src/llmc/web/frontend/package-lock.json").read_text("utf-8"))
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert packages
    assert [name for name, each in packages.items() if "resolved" in each] == []
    assert [name for name, each in packages.items() if "integrity" not in each] == []


def test_it_works_in_an_environment_of_its_own(built: Path, tmp_path: Path) -> None:
    """With what it says that it needs, and with nothing else of what is installed here. No index is asked."""
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "env")
    scripts = tmp_path / "env" / "bin"
    (place,) = (tmp_path / "env" / "lib").glob("python3.*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], cwd=tmp_path, check=True)
    for package in needed_by("llmc"):
        link(package, place)
    said = subprocess.run([scripts / "llmc", "--version"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert said.stdout == f"llmc {version('llmc')}\n"
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    demo = subprocess.run(
        [scripts / "llmc", "demo", "--speed", "50"], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert {"  llmc init", "  llmc add adam", "  llmc up --detach"} <= set(demo.stdout.splitlines())
    assert ("`pipx install .`" in demo.stdout) == (shutil.which("llmc") is None)
    assert list((tmp_path / "tmp").iterdir()) == [], "it leaves nothing behind"
    assert marked_processes(TMUX_TMPDIR=os.environ["TMUX_TMPDIR"]) == []


def needed_by(package: str) -> set[str]:
    """What it needs when it runs, and what that needs, as installed here."""
    found: set[tuple[str, frozenset[str]]] = set()
    open_ones = [Requirement(package)]
    while open_ones:
        at = open_ones.pop()
        for words in requires(at.name) or ():
            needed = Requirement(words)
            wanted = (needed.marker is None or needed.marker.evaluate({"extra": extra}) for extra in ("", *at.extras))
            if any(wanted) and (needed.name, frozenset(needed.extras)) not in found:
                found.add((needed.name, frozenset(needed.extras)))
                open_ones.append(needed)
    return {name for name, _ in found}


def link(package: str, place: Path) -> None:
    """Each directory and file that the package has in the environment of the tests."""
    parts = {Path(file.parts[0]) for file in files(package) or () if file.parts[0] not in ("..", "__pycache__")}
    for part in parts:
        if not (place / part).exists():
            (place / part).symlink_to(distribution(package).locate_file(part))
