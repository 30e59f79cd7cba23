"""More agent CLIs that LLMC knows by name, with hooks as Claude Code has them: what each needs to run in a test."""

from __future__ import annotations

import json
import re
from pathlib import Path

from llmc.agents.kimi import trust_record
from testing.real_clis import KEY, RealAgent, merge_settings


def _prepare_qwen(home: Path, _url: str) -> None:
    quiet = {"general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}}
    logged_in = {"security": {"auth": {"selectedType": "openai"}}}
    # The ripgrep that it brings along may not be executable: it says so at the start, with its path.
    merge_settings(home / ".qwen" / "settings.json", {**quiet, **logged_in, "tools": {"useRipgrep": False}})


def _accept_qwen(home: Path, directory: Path) -> None:
    merge_settings(home / ".qwen" / "trustedFolders.json", {str(directory): "TRUST_FOLDER"})


def _accept_copilot(home: Path, directory: Path) -> None:
    settings = home / ".copilot" / "config.json"
    lines = settings.read_text().splitlines() if settings.exists() else ["{}"]
    had = json.loads("\n".join(line for line in lines if not line.startswith("//")))
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({**had, "trusted_folders": [*had.get("trusted_folders", []), str(directory)]}))


KIMI_SETTINGS = """\
default_model = "loopback"
telemetry = false

[providers.loopback]
type = "openai"
base_url = "{url}/v1"
api_key = "{key}"

[models.loopback]
provider = "loopback"
model = "scripted"
max_context_size = 200000
"""


def _prepare_kimi(home: Path, url: str) -> None:
    settings = home / ".kimi-code"
    settings.mkdir()
    (settings / "config.toml").write_text(KIMI_SETTINGS.format(url=url, key=KEY))
    (settings / "tui.toml").write_text("[upgrade]\nauto_install = false\n")


def _accept_kimi(home: Path, directory: Path) -> None:
    name, told = trust_record(str(directory))
    record = home / ".kimi-code" / "workspace-trust" / name
    record.parent.mkdir(exist_ok=True)
    record.write_text(told)


def _with_spaces(text: str) -> str:
    return text.replace("\t", "    ").strip()


HOOK_AGENTS = (
    RealAgent(
        name="qwen",
        argv=("qwen", "--yolo"),
        composer=re.compile(r"Type your message"),
        submits=str.strip,
        variables={"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "scripted"},
        prepare=_prepare_qwen,
        accept=_accept_qwen,
    ),
    RealAgent(
        name="copilot",
        argv=("copilot", "--allow-all"),
        composer=re.compile(r"^❯(?s:.*)/ commands", re.MULTILINE),  # before that it loads, and takes no Enter
        submits=_with_spaces,
        variables={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "scripted",
        },
        prepare=lambda _home, _url: None,
        accept=_accept_copilot,
    ),
    RealAgent(
        name="kimi",
        argv=("kimi", "--auto"),
        composer=re.compile(r"^ │ >", re.MULTILINE),
        submits=_with_spaces,
        variables={"KIMI_CODE_NO_AUTO_UPDATE": "1"},
        prepare=_prepare_kimi,
        accept=_accept_kimi,
    ),
)
