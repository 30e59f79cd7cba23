"""Programs from npm, each at one version, in a directory of their own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

QUIET = ("--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")


def programs_in(directory: Path) -> Path:
    return directory / "node_modules" / ".bin"


def npm_install(directory: Path, versions: Mapping[str, str], cache: Path) -> None:
    """Installs these packages, and nothing else; npm tells what goes wrong."""
    directory.mkdir(parents=True, exist_ok=True)
    manifest = {
        "private": True,
        "dependencies": dict(versions),
        # Some of them fetch their binary in an install script, which npm runs only where it is allowed.
        "allowScripts": dict.fromkeys(versions, True),
    }
    (directory / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    subprocess.run(["npm", "install", "--prefix", str(directory), "--cache", str(cache), *QUIET], check=True)


def answer_of(program: Path, home: str, node: Path | None = None) -> str:
    """The version that the program itself tells. Its home is empty, so that the user's settings stay as they are."""
    places = [str(program.parent), *([str(node)] if node else []), os.environ["PATH"]]
    asked = subprocess.run(
        [program, "--version"],
        env=os.environ | {"HOME": home, "PATH": os.pathsep.join(places)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return asked.stdout.strip() or asked.stderr.strip()  # pi tells it on standard error
