"""Every `console` example in the documentation is typed as it stands, page by page, as a reader would."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.config.sections import CLI_AGENTS
from testing.commands import PROGRAM, Llmc
from testing.namespace import PROJECT
from testing.pages import commands_in
from testing.roots import make_repository
from testing.waiting import wait_until

ELSEWHERE = frozenset(("packs",))
"""Pages whose examples need files that the page shows: their rooms have the test."""
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
STAND_IN = """
[agents.{name}]
command = ["{python}", "-P", "-m", "llmc.demo", "--pace", "0.01"]
pack = "demo"
clear = "/clear"
"""
"""The scripted program in the place of the real CLI, which has no account here."""
NEEDS_WORK = ("llmc review", "llmc accept", "llmc reject")
INSTALLS = ("pipx ", "uv ")
"""`tests/packaging` installs it for real, without asking a registry for these two."""


class Reader:
    """Types what the page says, and looks where the page says that one looks."""

    def __init__(self, home: Path) -> None:
        self.llmc = Llmc(home, home / "llmc")
        self.cwd = home
        home.mkdir()
        make_repository(home / "code" / "shop")

    def type(self, line: str) -> None:
        if line.startswith("cd "):
            self.cwd = Path(line.removeprefix("cd ").replace("~", str(self.llmc.home), 1))
            return
        if line.startswith(INSTALLS):
            return
        if line.startswith("make "):  # there is such a target; what it runs has tests of its own
            subprocess.run(["make", "--dry-run", *line.split()[1:]], cwd=PROJECT, capture_output=True, check=True)
            return
        if line.startswith(NEEDS_WORK):
            wait_until(lambda: self.work_waits(), 60)
        env = self.llmc.environment({"LLMC_ROOT": None})
        env["PATH"] = f"{PROGRAM.parent}:{env['PATH']}"
        done = subprocess.run(["sh", "-c", line], cwd=self.cwd, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
        if line.startswith("llmc init"):
            self.put_stand_ins()

    def put_stand_ins(self) -> None:
        with (self.llmc.root / "config.toml").open("a") as config:
            for name in CLI_AGENTS:
                config.write(STAND_IN.format(name=name, python=sys.executable))

    def begin_with_a_worker(self) -> None:
        """For pages that go on from the first one."""
        for line in ("cd ~/code/shop", "llmc init", "llmc add adam --agent claude", "llmc up --detach"):
            self.type(line)

    def work_waits(self) -> bool:
        workers = json.loads(self.llmc.run("status", "--json").out)["workers"]
        return any(worker["status"] == "needs_review" for worker in workers)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path / "home")
    with reader.llmc:
        yield reader
    shutil.rmtree(reader.llmc.home)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands_in(page) and page.stem not in ELSEWHERE], ids=lambda page: page.stem
)
def test_a_reader_can_type_the_examples(reader: Reader, page: Path) -> None:
    lines = commands_in(page)
    if not any(line.startswith("llmc init") for line in lines):
        reader.begin_with_a_worker()
    for line in lines:
        reader.type(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_leads_to_every_page() -> None:
    links = set(re.findall(r"\]\((docs/[a-z-]+\.md)\)", (PROJECT / "README.md").read_text()))
    assert links == {f"docs/{page.name}" for page in (PROJECT / "docs").glob("*.md")}
