"""What each CLI needs of its person's settings and login, to be copied into the home that it has in the fence."""

from __future__ import annotations

from collections.abc import Mapping

from llmc.values import Value


class OwnDirectory(Value):
    """One directory of a CLI's."""

    directory: str
    """Below the home."""
    variable: str = ""
    """Names another place for it."""
    settings: tuple[str, ...] = ()
    """Files and directories in it that are copied in at each start."""
    credentials: tuple[str, ...] = ()
    """Files that the CLI itself renews, and that are brought back when it has done so."""
    beside: tuple[str, ...] = ()
    """Files in the home itself, or in the directory where the variable names it."""


_CONFIG, _DATA = (".config", "XDG_CONFIG_HOME"), (".local/share", "XDG_DATA_HOME")

LOGINS: Mapping[str, tuple[OwnDirectory, ...]] = {
    "claude": (
        OwnDirectory(
            ".claude",
            "CLAUDE_CONFIG_DIR",
            ("settings.json", "CLAUDE.md", "agents", "commands", "skills", "output-styles"),
            (".credentials.json",),
            (".claude.json",),
        ),
    ),
    "codex": (
        OwnDirectory(".codex", "CODEX_HOME", ("config.toml", "AGENTS.md", "prompts", "version.json"), ("auth.json",)),
    ),
    "gemini": (
        OwnDirectory(
            ".gemini",
            "",
            ("settings.json", "GEMINI.md", "google_accounts.json", "installation_id", "commands"),
            ("oauth_creds.json",),
        ),
    ),
    "opencode": (
        OwnDirectory(*_CONFIG, settings=("opencode",)),
        OwnDirectory(*_DATA, credentials=("opencode/auth.json",)),
    ),
    "kilo": (OwnDirectory(*_CONFIG, settings=("kilo",)), OwnDirectory(*_DATA, credentials=("kilo/auth.json",))),
    "qwen": (OwnDirectory(".qwen", "QWEN_HOME", ("settings.json", "QWEN.md"), ("oauth_creds.json",)),),
    "copilot": (OwnDirectory(".copilot", "COPILOT_HOME", ("settings.json",), ("config.json",)),),
    "kimi": (OwnDirectory(".kimi-code", "", ("config.toml",), ("credentials.json",)),),
    "pi": (OwnDirectory(".pi", "", ("agent/models.json", "agent/settings.json"), ("agent/auth.json",)),),
    "cline": (OwnDirectory(".cline", "", ("data/settings", "data/globalState.json"), ("data/secrets.json",)),),
    "aider": (OwnDirectory("", "", (".aider.conf.yml", ".aider.model.settings.yml")),),
}

OTHER_PROJECTS = ("projects", "mcpServers", "githubRepoPaths")
"""In `.claude.json`: what was done in other directories, and servers with tokens of their own."""


def own_part(settings: Mapping[str, object]) -> dict[str, object]:
    """Of `.claude.json`, what is about the person's login and not about their other work."""
    return {name: value for name, value in settings.items() if name not in OTHER_PROJECTS}


def is_renewed(old: object, new: object) -> bool:
    """Whether a login that comes out of the fence looks like the one that went in, with other values."""
    return isinstance(old, dict) and isinstance(new, dict) and bool(old) and old.keys() == new.keys() and old != new
