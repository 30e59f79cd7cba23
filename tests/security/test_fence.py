"""Whoever is behind the fence does not get out: attempts by a program in there, and what an agent leaves for LLMC."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing import fence_escapes
from testing.commands import listing
from testing.story import Story, told_in

HERE = Path(__file__).resolve().parent
SECRETS = (
    *(".ssh/id_ed25519", ".aws/credentials", ".gnupg/secring", ".config/gh/hosts.yml", ".git-credentials"),
    *(".bash_history", ".claude/.credentials.json", ".claude/settings.json", ".bashrc", "elsewhere/auth.json"),
)


@pytest.fixture(scope="module")
def monkeypatched() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def _shelled(story: Story, *words: str) -> None:
    story.llmc("message", "adam", " ".join(words))


@pytest.fixture
def fenced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    """`adam` is a shell behind the fence, in a home that is readable but for its secrets; `other` is somebody else."""
    home = Path(os.environ["HOME"])
    for name in SECRETS:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("secret\n")
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    monkeypatch.setenv("SOME_TOKEN", "secret")
    with told_in(tmp_path) as story:
        story.begin(sandbox__mode="bwrap", sandbox__readable=json.dumps([str(home)]))
        story.llmc("add", "adam", "--agent", "shell")
        story.llmc("add", "other", "--agent", "demo")
        story.up()
        yield story


def _can_keep_sockets_apart() -> bool:
    """From Linux 6.12 on; the documentation says so."""
    major, minor = re.findall(r"[0-9]+", platform.release())[:2]
    return (int(major), int(minor)) >= (6, 12)


def test_nobody_gets_out(fenced: Story) -> None:
    story, home, root = fenced, Path(os.environ["HOME"]), fenced.root
    (story.repository / "README-unknown").write_text("the clone has no object of it\n")
    with socket.socket(socket.AF_UNIX) as agent, socket.socket(socket.AF_UNIX) as screen:
        screen.bind(f"\0{story.place}")
        screen.listen()
        agent.bind(f"{os.environ['XDG_RUNTIME_DIR']}/agent")
        agent.listen()
        places = {
            "source": str(story.repository),
            "root": root.path,
            "home": str(home),
            "daemon": str(story.daemon()),
            "tmux": f"{os.environ['TMUX_TMPDIR']}/tmux-{os.getuid()}/{root.tmux_socket}",
            "agent": f"{os.environ['XDG_RUNTIME_DIR']}/agent",
            "abstract": str(story.place) if _can_keep_sockets_apart() else "",
            "unknown": story.git("hash-object", "-w", "README-unknown"),
        }
        assert Path(places["tmux"]).is_socket()
        worktree, other = Path(root.worktrees, "adam"), Path(root.worktrees, "other")
        shutil.copy(fence_escapes.__file__, worktree)
        (worktree / "places").write_text(json.dumps(places))
        before = [listing(each) for each in (story.repository, home, other)]
        settings = Path(root.config_file).read_bytes()
        _shelled(story, sys.executable, "fence_escapes.py", "places", "results")
        story.until((worktree / "results").exists)
    results = json.loads((worktree / "results").read_text())
    assert len(results) >= 90
    escaped = " ".join(name for name, escaped in results.items() if escaped)
    assert escaped == ""
    assert [listing(each) for each in (story.repository, home, other)] == before
    assert Path(root.config_file).read_bytes() == settings
    assert not Path(f"{story.repository}-beside").exists()
    assert story.llmc("status").code == 0
