"""What each of the real agent CLIs needs to run in a test.

What is prepared is what a user who has logged in once has at home. The questions that a CLI asks about a directory it
sees for the first time are not answered, unless a test says so with `accept`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unicodedata import normalize

KEY = "sk-ant-api03-loopback-only-00000000000000000001"

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RealAgent:
    name: str
    argv: tuple[str, ...]
    """Started so that it does not ask before it acts."""
    composer: re.Pattern[str]
    """On its screen when it takes a prompt."""
    submits: Callable[[str], str]
    """What it makes of a pasted text before the model sees it."""
    variables: Mapping[str, str]
    """What its user has in the environment; `{url}` is where the model is, `{home}` where the user is."""
    prepare: Callable[[Path, str], None]
    """Writes what a user with a model at this address has at home."""
    accept: Callable[[Path, Path], None]
    """Answers, at this home, what the CLI would ask about this directory and about acting unasked."""
    proof: str = "hook"
    """What proves that a text has arrived: one that does not report prompts has only its input line."""
    keeps_transcripts: bool = True
    """In files that can be read."""
    tells_usage: bool = True
    """Whether it writes down, or reports, what its answers cost."""
    tells_cache_writes: bool = False
    """Whether it can tell what was written to a cache: most providers do not."""


def merge_settings(path: Path, more: Settings) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    had = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(_merged(had, more), indent=1))


def _merged(one: Settings, other: Settings) -> Settings:
    both = {key: _merged(one[key], other[key]) for key in one.keys() & other.keys() if isinstance(one[key], dict)}
    return one | other | both


def _prepare_claude(home: Path, _url: str) -> None:
    approved = {"approved": [KEY[-20:]], "rejected": []}
    market = {"officialMarketplaceAutoInstallAttempted": True, "officialMarketplaceAutoInstalled": False}
    merge_settings(home / ".claude.json", {"hasCompletedOnboarding": True, "customApiKeyResponses": approved, **market})
    merge_settings(home / ".claude" / "settings.json", {"theme": "dark"})


def _accept_claude(home: Path, directory: Path) -> None:
    merge_settings(home / ".claude.json", {"projects": {str(directory): {"hasTrustDialogAccepted": True}}})
    merge_settings(home / ".claude" / "settings.json", {"skipDangerousModePermissionPrompt": True})


CODEX_SETTINGS = """\
model = "gpt-6-sol"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
"""


def _prepare_codex(home: Path, url: str) -> None:
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(CODEX_SETTINGS.format(url=url))


def _accept_codex(home: Path, directory: Path) -> None:
    with (home / ".codex" / "config.toml").open("a") as settings:
        settings.write(f'\n[projects."{directory}"]\ntrust_level = "trusted"\n')


def offer_codex_update(home: Path) -> None:
    """The next start of Codex offers a newer version: what it last heard of one is on its disk."""
    settings = home / ".codex" / "config.toml"
    settings.write_text(settings.read_text().replace("check_for_update_on_startup = false\n", ""))
    known = {"latest_version": "99.0.0", "last_checked_at": datetime.now(UTC).isoformat()}
    (home / ".codex" / "version.json").write_text(json.dumps(known))


def _prepare_gemini(home: Path, _url: str) -> None:
    quiet = {"general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}}
    logged_in = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    merge_settings(
        home / ".gemini" / "settings.json", {**quiet, **logged_in, "privacy": {"usageStatisticsEnabled": False}}
    )


def _accept_gemini(home: Path, directory: Path) -> None:
    merge_settings(home / ".gemini" / "trustedFolders.json", {str(directory): "TRUST_FOLDER"})


def _prepare_opencode(home: Path, url: str) -> None:
    settings = home / ".config" / "opencode"
    merge_settings(settings / "opencode.json", loopback_provider(url))
    # At its first start it installs the package that plugins are written against, and with a plugin it waits for that.
    needs = {"dependencies": {"@opencode-ai/plugin": "*"}}
    (settings / "node_modules").mkdir()
    merge_settings(settings / "package.json", needs)
    merge_settings(settings / "package-lock.json", {"packages": {"": needs}})


def loopback_provider(url: str) -> Settings:
    """The settings of opencode, and of what was made from it."""
    models = {"scripted": {"name": "Scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8192}}}
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Loopback", "options": options, "models": models}
    chosen = {"model": "loopback/scripted", "small_model": "loopback/scripted"}
    quiet = {"autoupdate": False, "share": "disabled"}
    return {**chosen, **quiet, "provider": {"loopback": provider}}


INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
OPENCODE_SHOWS = 150
"""A longer paste, or one of three lines, becomes a placeholder with a space after it."""

AGENTS = (
    RealAgent(
        name="claude",
        argv=("claude", "--dangerously-skip-permissions"),
        composer=re.compile(r"^❯\s", re.MULTILINE),
        submits=lambda text: normalize("NFC", text.rstrip().replace("\t", "    ")),
        variables={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # or it refuses to act unasked for root
        },
        prepare=_prepare_claude,
        accept=_accept_claude,
        tells_cache_writes=True,
    ),
    RealAgent(
        name="codex",
        argv=("codex", "--no-daemon", "--dangerously-bypass-approvals-and-sandbox"),
        composer=re.compile(r"^› Ask Codex", re.MULTILINE),
        submits=str.strip,
        variables={"LOOPBACK_KEY": KEY},
        prepare=_prepare_codex,
        accept=_accept_codex,
    ),
    RealAgent(
        name="gemini",
        argv=("gemini", "--yolo"),
        composer=re.compile(r"Gemini CLI v.*Type your message", re.DOTALL),  # the composer alone takes no pastes yet
        submits=lambda text: INVISIBLE.sub("", text).strip(),
        variables={"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": "{url}"},
        prepare=_prepare_gemini,
        accept=_accept_gemini,
    ),
    RealAgent(
        name="opencode",
        argv=("opencode",),
        composer=re.compile(r"ctrl\+p commands"),
        submits=lambda text: f"{text} " if text.count("\n") >= 2 or len(text) > OPENCODE_SHOWS else text,
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        prepare=_prepare_opencode,
        accept=lambda _home, _directory: None,  # it asks nothing
        keeps_transcripts=False,
    ),
)
