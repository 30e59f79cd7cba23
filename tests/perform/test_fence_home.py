"""Settings and logins of a CLI go into its fence; a login that it renews there comes back, and nothing else does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.perform.fence_home import bring_back, furnish
from testing.story import Story, told_in

LOGINS = {
    "claude": (".claude/.credentials.json", ".claude/settings.json"),
    "codex": (".codex/auth.json", ".codex/config.toml"),
    "gemini": (".gemini/oauth_creds.json", ".gemini/settings.json"),
    "opencode": (".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
}
OLD, NEW = {"token": "old", "until": 1}, {"token": "new", "until": 2}


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam", sandbox__mode="bwrap")


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_logins_are_copied_in_and_only_renewed_ones_come_back(story: Story, tmp_path: Path) -> None:
    site, person = story.site, Path(os.environ["HOME"])
    home = Path(story.root.fence_home("adam"))
    for agent, (login, settings) in LOGINS.items():
        theirs, inside = write(person / login, OLD), home / login
        write(person / settings, "kept = 1")
        furnish(site, "adam", agent)
        assert json.loads(inside.read_text()) == OLD
        assert (home / settings).read_text() == "kept = 1"

        write(home / settings, "hooked = 1")
        write(inside, NEW)
        bring_back(site, "adam", agent)
        assert json.loads(theirs.read_text()) == NEW
        assert theirs.stat().st_mode & 0o777 == 0o600
        assert (person / settings).read_text() == "kept = 1"

        for odd in ("", "no JSON", [1], {**NEW, "hooks": "x"}, {"token": "x"}, "x" * 300_000):
            write(inside, odd)
            bring_back(site, "adam", agent)
            assert json.loads(theirs.read_text()) == NEW

        elsewhere = write(tmp_path / "elsewhere" / inside.name, {"token": "planted", "until": 3})
        inside.unlink()
        inside.symlink_to(elsewhere)
        bring_back(site, "adam", agent)
        assert json.loads(theirs.read_text()) == NEW
        inside.unlink()
        os.mkfifo(inside)
        bring_back(site, "adam", agent)
        inside.unlink()

        inside.parent.rename(f"{inside.parent}.old")
        inside.parent.symlink_to(elsewhere.parent)
        write(theirs, {"token": "by the person", "until": 4})
        furnish(site, "adam", agent)
        assert json.loads(elsewhere.read_text()) == {"token": "planted", "until": 3}
        assert json.loads(inside.read_text()) == {"token": "by the person", "until": 4}

        write(inside, {"token": "renewed", "until": 5})
        write(theirs, {"token": "renewed by the person", "until": 6})
        bring_back(site, "adam", agent)
        assert json.loads(theirs.read_text())["until"] == 6


def test_of_claudes_own_file_nothing_about_other_projects_goes_in(story: Story) -> None:
    write(
        Path(os.environ["HOME"], ".claude.json"), {"oauthAccount": {"a": 1}, "projects": {"/x": {}}, "mcpServers": {}}
    )
    furnish(story.site, "adam", "claude")
    assert json.loads(Path(story.root.fence_home("adam"), ".claude.json").read_text()) == {"oauthAccount": {"a": 1}}
