"""The other agent CLIs that LLMC knows by name: what each needs to run in a test, as in testing/real_clis.py."""

from __future__ import annotations

import re
from pathlib import Path

from testing.real_clis import KEY, RealAgent, loopback_provider, merge_settings


def _prepare_kilo(home: Path, url: str) -> None:
    merge_settings(home / ".config" / "kilo" / "config.json", {**loopback_provider(url), "snapshot": False})


def _prepare_pi(home: Path, url: str) -> None:
    settings = home / ".pi" / "agent"
    loopback = {"baseUrl": f"{url}/pi/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": "scripted"}]}
    merge_settings(settings / "models.json", {"providers": {"loopback": loopback}})
    merge_settings(settings / "settings.json", {"defaultProvider": "loopback", "defaultModel": "scripted"})


def _prepare_cline(home: Path, url: str) -> None:
    """As `cline auth` leaves it."""
    name = "openai-compatible"
    settings = {"provider": name, "apiKey": KEY, "model": "scripted", "baseUrl": f"{url}/cline/v1"}
    provider = {"settings": settings, "updatedAt": "2026-11-16T00:00:00.000Z", "tokenSource": "manual"}
    known = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": {name: provider}}
    merge_settings(home / ".cline" / "data" / "settings" / "providers.json", known)


def _prepare_aider(home: Path, _url: str) -> None:
    """What it has fetched about models within the last day; without this it tries to for half a minute."""
    models = {"openai/scripted": {"max_input_tokens": 200_000, "max_output_tokens": 8192}}
    merge_settings(home / ".aider" / "caches" / "model_prices_and_context_window.json", models)


OTHER_AGENTS = (
    RealAgent(
        name="kilo",
        argv=("kilo",),
        composer=re.compile(r"ctrl\+p commands"),
        submits=str,
        variables={"KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_MODELS_FETCH": "1"},
        prepare=_prepare_kilo,
        accept=lambda _home, _directory: None,  # it asks nothing
        keeps_transcripts=False,
    ),
    RealAgent(
        name="pi",
        argv=("pi",),
        composer=re.compile(r"─{9,}\s+─{9,}"),
        submits=lambda text: text.replace("\t", "    ").strip(),
        variables={"PI_OFFLINE": "1"},
        prepare=_prepare_pi,
        accept=lambda _home, _directory: None,  # it asks nothing
    ),
    RealAgent(
        name="cline",
        argv=("cline", "--auto-approve", "true"),
        composer=re.compile(r"❯ (?:What can I do for you\?|Ask anything)"),
        submits=str.strip,
        variables={
            "CLINE_DISABLE_CLINE_PASS_NOTICE": "1",
            "CLINE_SANDBOX": "1",  # or a daemon stays behind
            "CLINE_SANDBOX_DATA_DIR": "{home}/.cline/data",
        },
        prepare=_prepare_cline,
        accept=lambda _home, _directory: None,  # it asks nothing
        proof="composer",
        keeps_transcripts=False,
        tells_usage=False,
    ),
    RealAgent(
        name="aider",
        argv=(
            "aider",
            "--no-gitignore",
            "--no-check-update",
            "--no-show-model-warnings",
            "--no-analytics",
            "--no-show-release-notes",
            "--yes-always",
        ),
        composer=re.compile(r"^>\s*\Z", re.MULTILINE),
        submits=str,
        variables={
            "OPENAI_API_BASE": "{url}/aider/v1",
            "OPENAI_API_KEY": KEY,
            "AIDER_MODEL": "openai/scripted",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
        prepare=_prepare_aider,
        accept=lambda _home, _directory: None,  # it asks nothing
        proof="composer",
        keeps_transcripts=False,
        tells_usage=False,
    ),
)
