"""Which files a program and everything that it starts looks at, as the kernel sees it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def looks(mark: str, *argv: str) -> int:
    """How often a path that begins with `mark` was asked for. Skips the test where nobody may watch a program."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    with tempfile.TemporaryDirectory() as directory:
        trace = Path(directory, "trace")
        watching = [strace, "-f", "-qq", "-e", "trace=file", "-o", str(trace)]
        if subprocess.run([*watching, "true"], capture_output=True, check=False).returncode:
            pytest.skip("strace may not watch programs here")
        subprocess.run([*watching, *argv], check=True, stdout=subprocess.DEVNULL)
        return trace.read_text("utf-8", "replace").count(f'"{mark}')
