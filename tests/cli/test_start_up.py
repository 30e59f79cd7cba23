"""What a command loads before it answers: a person waits for all of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
before = set(sys.modules)
from llmc.cli.main import main
words, kept = sys.argv[1:], os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
assert main(words) == 0
sys.stdout.flush()
os.dup2(kept, 1)
print(*sorted(set(sys.modules) - before))
"""
SLOW = {
    "dataclasses",
    "typing",
    "shutil",
    "subprocess",
    "tomllib",
    "tomlkit",
    "json",
    "logging",
    "inspect",
    "pathlib",
    "fcntl",
}


def loaded(*words: str) -> set[str]:
    return set(subprocess.check_output([sys.executable, "-c", SCRIPT, *words], text=True).split())


def test_the_version_needs_nothing() -> None:
    assert loaded("--version") <= {"__future__", "gc", "llmc", "llmc.cli", "llmc.cli.main"}


@pytest.mark.parametrize("words", [["--help"], ["start", "--help"], ["pty", "create", "--help"]])
def test_help_needs_the_words_and_little_else(words: list[str]) -> None:
    found = loaded(*words)
    assert found.isdisjoint(SLOW)
    others = {name for name in found if name.startswith("llmc") and not name.startswith("llmc.cli")}
    assert others == {"llmc", "llmc.host"}
    assert ("llmc.cli.pty_command_table" in found) == ("pty" in words)


def test_what_only_concerns_git_needs_nothing_of_agents_and_terminals() -> None:
    script = "import sys, llmc.commands.rebase, llmc.perform.branches; print(*sys.modules)"
    found = set(subprocess.check_output([sys.executable, "-c", script], text=True).split())
    assert found.isdisjoint({"secrets", "random", "hashlib", "tempfile", "html", "importlib.resources"})
    others = ("llmc.agents", "llmc.core.dialogs", "llmc.core.screen.classify", "llmc.perform.delivery", "llmc.host.web")
    assert {name for name in found if name.startswith(others)} == set()


SERVERS = ("mcp", "mcp_types", "anyio", "pydantic", "starlette", "uvicorn")


@pytest.mark.parametrize("words", [["status"], ["task", "list"], ["mcp", "--help"], ["web", "--help"]])
def test_only_a_server_loads_what_servers_need(place, words):
    found = loaded("--root", str(place.root), *words)
    assert {name for name in found if name.split(".")[0] in SERVERS} == set()
