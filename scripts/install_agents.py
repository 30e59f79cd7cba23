"""Installs the pinned versions of the real agent CLIs into `.agents`, and touches nothing else on the machine.

The programs are then in `.agents/node_modules/.bin`, those from PyPI in `.agents/python/bin`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from testing.drift.install import NotInstalledError, install_oldest
from testing.npm import ForeignPackageError, answer_of, npm_install, programs_in

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ROOT / ".agents"
PROGRAMS = programs_in(AGENTS)
PYTHON = AGENTS / "python"
NODE_NEEDED = 22
NODE_PINNED = "22.23.3"
NODE_INTEGRITY = "sha512-DefCzy9Twv55AA4RQcOnUd6iQtqmnsJ6twWGasZ33F7BKJEMUJ1KVoumiVSRRNVRHKhBtsoPTvNKMxsE1TG0+Q=="
"""Installed beside the agents where the system's Node is too old, as Debian 12's is."""

Pins = dict[str, dict[str, str]]


def pins() -> Pins:
    wanted: Pins = json.loads((ROOT / "testing" / "agent-versions.json").read_text("utf-8"))
    if node_major("node") < NODE_NEEDED:
        wanted["node"] = {"package": "node", "version": NODE_PINNED, "integrity": NODE_INTEGRITY}
    return wanted


def node_major(node: str) -> int:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)", answer)
    return int(found[1]) if found else 0


def from_pypi(wanted: Pins) -> Pins:
    return {program: pin for program, pin in wanted.items() if pin.get("from") == "pypi"}


def install(wanted: Pins) -> None:
    python = from_pypi(wanted)
    versions = {pin["package"]: pin["version"] for program, pin in wanted.items() if program not in python}
    pinned = {pin["package"]: pin["integrity"] for pin in wanted.values() if "integrity" in pin}
    npm_install(AGENTS, versions, AGENTS / "npm-cache", pinned)
    install_from_pypi(python)
    install_oldest("claude")  # for the one test of an older version


def install_from_pypi(wanted: Pins) -> None:
    """Into an environment of their own: they pin what they need, and so do we."""
    if not (PYTHON / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(PYTHON)], check=True)
    packages = [f"{pin['package']}=={pin['version']}" for pin in wanted.values()]
    options = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([str(PYTHON / "bin" / "python"), "-m", "pip", "install", *options, *packages], check=True)


def main() -> int:
    wanted = pins()
    try:
        install(wanted)
    except (NotInstalledError, ForeignPackageError) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        print("error: the agents could not be installed\nhint: see the message of npm or pip above", file=sys.stderr)
        return 1
    broken = []
    with tempfile.TemporaryDirectory() as home:
        for program, pin in wanted.items():
            places = PYTHON / "bin" if program in from_pypi(wanted) else PROGRAMS
            answer = answer_of(places / program, home)
            print(f"{program:<10} {answer or 'does not start'}")
            if pin["version"] not in answer:
                broken.append(program)
    if broken:
        print(
            f"error: not the pinned version: {', '.join(broken)}\nhint: remove .agents and try again", file=sys.stderr
        )
        return 1
    print(f"installed in {PROGRAMS.relative_to(ROOT)} and {(PYTHON / 'bin').relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
