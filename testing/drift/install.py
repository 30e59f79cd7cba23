"""The versions of the matrix, each in `.drift/CLI/VERSION`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.npm import answer_of, npm_install, programs_in

PROJECT = Path(__file__).resolve().parent.parent.parent
DRIFT = PROJECT / ".drift"
NODE = programs_in(PROJECT / ".agents")


class NotInstalledError(Exception):
    """The version cannot be had, or is not the one that was asked for."""


def matrix() -> dict[str, list[str]]:
    """The versions of each CLI, the newest first."""
    versions: dict[str, list[str]] = json.loads(Path(__file__).with_name("versions.json").read_text("utf-8"))
    return versions


def package_of(cli: str) -> str:
    pins = json.loads((PROJECT / "testing" / "agent-versions.json").read_text("utf-8"))
    return str(pins[cli]["package"])


def place_of(cli: str, version: str) -> Path:
    return DRIFT / cli / version


def install_version(cli: str, version: str) -> Path:
    """The directory with the programs of this version, which is installed unless it is there."""
    place = place_of(cli, version)
    programs = programs_in(place)
    if not (programs / cli).exists():
        shutil.rmtree(place, ignore_errors=True)
        npm_install(place, {package_of(cli): version}, DRIFT / "npm-cache")
    with TemporaryDirectory() as home:
        answer = answer_of(programs / cli, home, NODE)
    if version not in answer:
        where = place.relative_to(PROJECT)
        raise NotInstalledError(f"{cli} {version} says that it is {answer or 'nothing'}: remove {where} and try again")
    return programs


def install_oldest(cli: str) -> Path:
    return install_version(cli, matrix()[cli][-1])
