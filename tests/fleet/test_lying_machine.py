"""A machine that lies, or is broken: the hub says so, and nothing of it comes to harm."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from llmc.commands.shared.status_view import status_text
from llmc.commands.status import status_document
from llmc.core.lifecycle.effects import MergeWork
from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.known import read_known
from llmc.fleet.landing import offer_of
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import Machine, Member, change_fleet
from llmc.fleet.shapes import shaped_board
from llmc.fleet.terminals import terminal_elsewhere
from llmc.fleet.transport import fetch, keep_backups
from llmc.git.backup import list_backups
from llmc.perform.accept import NotMergedError
from llmc.site import Site
from llmc.store.config_file import set_table
from testing.story import Story

PROGRAM = Path(__file__).parents[2] / "testing" / "lying_machine.py"
ESCAPE = "\x1b]0;owned\x07\x1b[2J"


class Liar:
    """`evil`, a machine of the root of a story."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.place = story.place / "evil"
        self.place.mkdir()
        member = Member("evil", "id-of-evil", "/nowhere", "llmc")
        fleet = change_fleet(story.root, lambda fleet: replace(fleet, members=MappingProxyType({"evil": member})))
        command = shlex.join([sys.executable, str(PROGRAM), str(self.place)])
        set_table(story.root.config_file, ("machines", "evil"), {"command": command})
        self.greeting: dict[str, Any] = {"protocol": 1, "version": "0", "machine": "id-of-evil", "epoch": 1}
        self.greeting["hub"] = fleet.hub
        self.says(first=self.greets())

    def says(self, *, first: bytes | None = None, answer: bytes = b"") -> None:
        if first is not None:
            (self.place / "first").write_bytes(first)
        (self.place / "answer").write_bytes(answer)

    def greets(self, **other: object) -> bytes:
        return b"llmc-remote " + json.dumps({**self.greeting, **other}).encode() + b"\n"

    def answers(self, said: dict[str, Any]) -> None:
        self.says(answer=json.dumps({"id": "?", **said}).replace('"?"', "ID").encode() + b"\n")

    @property
    def site(self) -> Site:
        return self.story.site

    @property
    def machine(self) -> Machine:
        return Calls(self.site).machine("evil")

    def look(self, within: float = 20.0) -> dict[str, Any]:
        with Calls(self.site, 20.0) as calls:
            return calls.ask("evil", {"op": "run", "words": ["status"]}, within)


@pytest.fixture
def liar(story: Story) -> Liar:
    story.begin("adam")
    return Liar(story)


def test_a_greeting_that_is_none_is_told_in_words(liar: Liar) -> None:
    greetings: dict[bytes, str] = {
        b"banner\n" * 2000: "nobody greeted",
        b"llmc-remote {broken\n": "speaks differently",
        b"llmc-remote " + b"[" * 100_000 + b"\n": "speaks differently",
        liar.greets(protocol=7, version=ESCAPE): "speaks differently",
        liar.greets(epoch="many", machine=["x"]): "is not the machine that it was",
        liar.greets(hub="another"): "belongs to another hub",
    }
    for first, words in greetings.items():
        liar.says(first=first)
        with pytest.raises(LlmcError, match=words) as refused:
            liar.look()
        assert "\x1b" not in refused.value.what + refused.value.hint


def test_answers_that_are_none_end_or_are_left_out(liar: Liar) -> None:
    """A line without an end, numbers of other questions, and codes that are none."""
    liar.says(answer=b"x" * (34 << 20))
    with pytest.raises(UnreachableError, match="a line of more than 32 MiB"):
        liar.look()
    liar.says(answer=b'{"id": true}\n{"id": "1"}\n{"id": -5}\n[1]\n{"id": ID, "code": "no", "out": 7, "err": []}\n')
    assert liar.look()["code"] == "no"
    with Calls(liar.site) as calls:
        answer = calls.look("evil", "status")
    assert (answer.code, answer.out, answer.err) == (3, "", "")
    liar.says(answer=b"")
    with pytest.raises(UnreachableError):
        liar.look(within=0.2)


def test_a_board_of_lies_leaves_a_board_that_can_be_shown(liar: Liar) -> None:
    worker = {"name": "eve", "status": "needs_review", "work": "needs_review", "session": "up", "agent": "demo"}
    worker["last_words"] = worker["current_prompt"] = f"hello {ESCAPE}"
    lies: list[Any] = [
        worker,
        {**worker, "name": "../../etc"},
        {**worker, "name": "-rf"},
        {**worker, "name": f"a{ESCAPE}"},
        {**worker, "name": "mallory", "evidence": 7, "attention": "?", "asked": {"options": {}}, "usage": [1]},
        {**worker, "name": "trent", "last_activity_unix": 1e308, "created_at_unix": "now", "troubles": [3, None]},
        {**worker, "name": "adam", "status": ESCAPE, "work": 1, "conflicts": {"with_workers": {"eve": 5}}},
        None,
        ["a worker"],
    ]
    liar.answers({"code": 0, "board": {"workers": lies, "branch": 3, "daemon": []}, "now_unix": "soon"})
    liar.look()
    document = status_document(liar.story.root)
    assert [each["name"] for each in document["workers"]] == ["adam", "eve", "mallory", "trent", "adam@evil"]
    shown = status_text(document)
    assert "\x1b" not in shown + json.dumps(document)
    assert "eve@evil" in shown
    assert (read_known(liar.story.root)[0]["state"], shaped_board(7)["workers"]) == ("ok", [])
    for words in (["task", "list"], ["machine", "list"], ["status", "--json"], ["doctor"]):
        said = liar.story.try_llmc(*words)
        assert said.code in (0, 1)
        assert "\x1b" not in said.out + said.err
        assert "bug" not in said.err


def test_what_would_land_is_named_by_objects_and_nothing_else(liar: Liar) -> None:
    offer = {"head": "--upload-pack=sh", "tree": "a" * 40, "base": None, "message": "good", "reviewed": True}
    liar.answers({"code": 0, "out": json.dumps(offer)})
    with Calls(liar.site) as calls, pytest.raises(NotMergedError, match="does not say what would land"):
        offer_of(liar.site, calls, liar.machine, "eve", "b" * 40, MergeWork())
    liar.answers({"code": 0, "out": "null"})
    with Calls(liar.site) as calls, pytest.raises(NotMergedError):
        offer_of(liar.site, calls, liar.machine, "eve", "b" * 40, MergeWork())


def test_backups_of_a_machine_change_none_that_is_here(liar: Liar) -> None:
    git, root = liar.site.git, liar.story.root.path
    (tip,) = git.objects(root, "refs/remotes/origin/main")
    other = git.text(root, "commit-tree", f"{tip}^{{tree}}", "-m", "another")
    theirs = "refs/llmc/machines/evil/backup"
    names = {"adam/20260101T000000Z-1": other, "eve/20260101T000000Z-1": other, "eve/20260101T000000Z-2": tip}
    for name, sha in names.items():
        git.run(root, "update-ref", f"{theirs}/{name}", str(sha))
    git.run(root, "update-ref", "refs/llmc/backup/eve/20260101T000000Z-1", str(tip))
    here = frozenset(liar.site.ledger.load().workers)
    assert keep_backups(git, root, "evil", here) == ["refs/llmc/backup/eve/20260101T000000Z-2"]
    assert git.objects(root, "refs/llmc/backup/eve/20260101T000000Z-1") == (tip,)
    assert git.objects(root, "refs/llmc/backup/adam/20260101T000000Z-1") == (None,)
    assert list_backups(git, root, "eve") == ()


def test_a_terminal_shows_text_and_colours_and_nothing_else(liar: Liar) -> None:
    worker = {"name": "eve", "work": "idle", "status": "idle", "session": "up"}
    frame = {"rows": [f"one{ESCAPE}\x1b[31mred", 7, "x\ny"] * 2000, "width": 10**9, "height": 3, "cursor": ["a", -4]}
    liar.answers({"code": 0, "board": {"workers": [worker]}, "seen": "1", "frame": frame})
    liar.look()
    terminal = terminal_elsewhere(liar.site, "eve")
    assert terminal is not None
    shown = terminal.look()
    terminal.close()
    assert shown is not None
    assert (shown.height, len(shown.rows), shown.cursor) == (3, 3, (0, 0))
    assert "owned" not in "".join(shown.rows) or "\x1b]" not in "".join(shown.rows)
    assert shown.rows[0].endswith("\x1b[31mred")


def test_git_does_not_wait_for_a_machine_that_says_nothing(liar: Liar) -> None:
    """It takes the connection, and a push or a fetch would wait for its first word."""
    with pytest.raises(LlmcError, match="git could not talk to evil"):
        fetch(liar.site.git, liar.machine, liar.story.root.path, "refs/heads/main", begins_within=0.2)


def test_who_has_no_machines_loads_nothing_for_them() -> None:
    asked = "import llmc.daemon.daemon, llmc.commands.status, sys; print([m for m in sys.modules if 'llmc.fleet' in m])"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "[]\n"
