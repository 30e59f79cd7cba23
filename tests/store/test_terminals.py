"""The records of terminals: names, and what is left of one that is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmc.core.names import name_problem
from llmc.errors import InvalidUsageError
from llmc.root import Root
from llmc.store.terminals import KnownTerminal, NameTakenError, Terminals, UnknownTerminalError


@pytest.fixture
def terminals(tmp_path: Path) -> Terminals:
    found = Terminals(Root(str(tmp_path)))
    with found.lock():
        return found


def terminal(name: str) -> KnownTerminal:
    return KnownTerminal(name, "/sockets/x", 7, "%1", "main", "@1", "/srv", "", made_here=True, created_at_unix=1.0)


def test_a_record_is_read_back_and_gone_with_all_its_files(terminals: Terminals) -> None:
    terminals.add(terminal("shop"))
    (terminals.directory / "shop" / "status.json").write_text("{}")
    assert terminals.all() == {"shop": terminal("shop")}
    assert terminals.find("shop") == terminal("shop")
    terminals.forget("shop")
    terminals.forget("shop")
    assert terminals.all() == {}
    assert not (terminals.directory / "shop").exists()
    with pytest.raises(UnknownTerminalError):
        terminals.find("shop")


@pytest.mark.parametrize(
    "name", ["", "a b", "a/b", "..", "../x", "1a", "-x", "a;b", "a\nb", "ü", "x" * 41, "a\x1b[31m"]
)
def test_bad_names_are_refused(terminals: Terminals, name: str) -> None:
    with pytest.raises(InvalidUsageError) as refused:
        terminals.require_free(name)
    assert refused.value.what.isprintable()
    with pytest.raises(UnknownTerminalError):
        terminals.find(name)


def test_a_name_is_taken_by_a_terminal_and_by_a_worker(terminals: Terminals, tmp_path: Path) -> None:
    terminals.add(terminal("shop"))
    (tmp_path / ".worktrees" / "adam").mkdir(parents=True)
    for name in ("shop", "adam"):
        with pytest.raises(NameTakenError):
            terminals.require_free(name)
    assert (terminals.free_name("shop"), terminals.free_name("adam")) == ("shop-2", "adam-2")


@pytest.mark.parametrize("wanted", ["shop", "My Shop!", "2024", "..", "", "日本", "a" * 300, "#[fg=red]", "-x-"])
def test_every_directory_gives_a_good_name(terminals: Terminals, wanted: str) -> None:
    assert name_problem(terminals.free_name(wanted)) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "x"}', "\udcff"])
def test_a_record_that_cannot_be_read_is_passed_over(terminals: Terminals, text: str) -> None:
    terminals.add(terminal("good"))
    (terminals.directory / "bad").mkdir()
    (terminals.directory / "bad" / "terminal.json").write_text(text, errors="surrogateescape")
    assert list(terminals.all()) == ["good"]
