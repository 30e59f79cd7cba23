"""A command whose root lies on a disk that is full or cannot be written to; everything else is as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

READ_ONLY = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"'
FULL = """
    mkdir "$3"; mount -t tmpfs -o size=8m x "$3"; cp -a "$1/." "$3"; mount --move "$3" "$1"
    dd if=/dev/zero of="$1/junk" bs=1k 2>/dev/null || true"""


def llmc_on_disk(disk: str, root: str, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs `llmc` in a mount namespace of its own; skips where the kernel does not allow one."""
    need_mounts()
    script = f'{disk}\nroot=$1 python=$2; shift 3\nexec "$python" -m llmc.cli.main --root "$root" "$@"'
    places = (root, sys.executable, str(tmp_path / "disk"))
    argv = ["unshare", "-rm", "sh", "-ec", script, "sh", *places, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def need_mounts() -> None:
    tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "x", "/mnt"]
    if subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("the kernel does not let this user mount anything, not even in a namespace of its own")
