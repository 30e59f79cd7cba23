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


class ForeignPackageError(RuntimeError):
    """What npm would install under that name and version is not what was pinned."""


def npm_install(
    directory: Path, versions: Mapping[str, str], cache: Path, pinned: Mapping[str, str] | None = None
) -> None:
    """Installs these packages, and nothing else; npm tells what goes wrong.

    `pinned`: the checksums that some of them must have. Nothing of them runs before these are known to be right: npm
    heeds what is in its lock file.
    """
    directory.mkdir(parents=True, exist_ok=True)
    manifest = {
        "private": True,
        "dependencies": dict(versions),
        # Some of them fetch their binary in an install script, which npm runs only where it is allowed.
        "allowScripts": dict.fromkeys(versions, True),
    }
    (directory / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    install = ["npm", "install", "--prefix", str(directory), "--cache", str(cache), *QUIET]
    if pinned:
        subprocess.run([*install, "--package-lock-only"], check=True)
        require_pinned(directory / "package-lock.json", pinned)
    subprocess.run(install, check=True)


def require_pinned(lock: Path, pinned: Mapping[str, str]) -> None:
    packages = json.loads(lock.read_text("utf-8"))["packages"]
    for package, integrity in pinned.items():
        found = packages.get(f"node_modules/{package}", {}).get("integrity")
        if found != integrity:
            raise ForeignPackageError(f"{package} has the checksum {found}, and not {integrity}")


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
