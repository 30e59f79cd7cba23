"""A repository with very many files, made in a moment."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

PER_DIRECTORY = 100
HEAD = b"commit refs/heads/main\ncommitter Tess Ter <tess@example.com> 1700000000 +0000\ndata 5\nfirst\n"


def make_large_repository(path: Path, files: int = 50_000) -> Path:
    """Checked out nowhere: its worktrees have the files."""
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", path], check=True)
    import_all = ["git", "-C", str(path), "fast-import", "--quiet"]
    subprocess.run(import_all, input=b"".join(_stream(files)), check=True)
    return path


def _stream(files: int) -> Iterator[bytes]:
    directories = range(files // PER_DIRECTORY)
    for directory in directories:
        content = f"of {directory}\n".encode() * 5
        yield b"blob\nmark :%d\ndata %d\n%s\n" % (directory + 1, len(content), content)
    yield HEAD
    for directory in directories:
        for number in range(PER_DIRECTORY):
            name = f"part{directory // 20}/module{directory}/file{number}.txt"
            yield b"M 100644 :%d %s\n" % (directory + 1, name.encode())
