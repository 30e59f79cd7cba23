"""Installs the pinned versions of the real agent CLIs into `.agents`, and touches nothing else on the machine.

The programs are then in `.agents/node_modules/.bin`.
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
from testing.npm import answer_of, npm_install, programs_in

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ROOT / ".agents"
PROGRAMS = programs_in(AGENTS)
NODE_NEEDED = 22
NODE_PINNED = "22.23.3"
"""Installed beside the agents where the system's Node is too old, as Debian 12's is."""

Pins = dict[str, dict[str, str]]


def pins() -> Pins:
    wanted: Pins = json.loads((ROOT / "testing" / "agent-versions.json").read_text("utf-8"))
    if node_major("node") < NODE_NEEDED:
        wanted["node"] = {"package": "node", "version": NODE_PINNED}
    return wanted


def node_major(node: str) -> int:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"v(\d+)", answer)
    return int(found[1]) if found else 0


def main() -> int:
    wanted = pins()
    try:
        npm_install(AGENTS, {pin["package"]: pin["version"] for pin in wanted.values()}, AGENTS / "npm-cache")
        install_oldest("claude")  # for the one test of an older version
    except NotInstalledError as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        print("error: npm could not install the agents\nhint: see npm's message above", file=sys.stderr)
        return 1
    broken = []
    with tempfile.TemporaryDirectory() as home:
        for program, pin in wanted.items():
            answer = answer_of(PROGRAMS / program, home)
            print(f"{program:<10} {answer or 'does not start'}")
            if pin["version"] not in answer:
                broken.append(program)
    if broken:
        print(
            f"error: not the pinned version: {', '.join(broken)}\nhint: remove .agents and try again", file=sys.stderr
        )
        return 1
    print(f"installed in {PROGRAMS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
