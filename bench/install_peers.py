"""`make peers`: installs the pinned peers into `.peers`, and touches nothing else on the machine.

One that cannot be installed keeps nobody from measuring: the reason is kept for the table.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

from bench.peers import PEERS, PLACE, Peer, own_home

PATIENCE_SECS = 300.0


class NotInstalledError(Exception):
    """One peer is not to be had here."""


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    for peer in PEERS.values():
        if not peer.is_here:
            _install(peer)
        print(peer.absence or f"{peer.title} is in {peer.place.relative_to(PLACE.parent)}")


def _install(peer: Peer) -> None:
    shutil.rmtree(peer.place, ignore_errors=True)
    peer.complaint.unlink(missing_ok=True)
    try:
        (_from_pypi if peer.registry == "PyPI" else _from_npm)(peer)
        _try_out(peer)
        peer.stamp.write_text(peer.version, "utf-8")
    except NotInstalledError as failed:
        peer.complaint.write_text(f"{failed}\n", "utf-8")


def _from_pypi(peer: Peer) -> None:
    venv.create(peer.place, with_pip=True)
    pip = (str(peer.place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input")
    _run(*pip, "--disable-pip-version-check", f"{peer.package}=={peer.version}")


def _from_npm(peer: Peer) -> None:
    options = ("--no-audit", "--no-fund", "--loglevel=error", "--cache", str(peer.place / "npm-cache"))
    _run("npm", "install", "--prefix", str(peer.place), *options, f"{peer.package}@{peer.version}")


def _try_out(peer: Peer) -> None:
    """In an empty home: some write settings as soon as they start."""
    with tempfile.TemporaryDirectory() as home:
        _run(peer.program, "--version", env=own_home(home))


def _run(*argv: str, env: Mapping[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECS
        )
    except FileNotFoundError:
        raise NotInstalledError(f"{argv[0]} is not there") from None
    except subprocess.TimeoutExpired:
        raise NotInstalledError(f"{argv[0]} did not end within {PATIENCE_SECS:.0f} s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise NotInstalledError(f"{Path(argv[0]).name} ended with {done.returncode}: {last}")


if __name__ == "__main__":
    main()
