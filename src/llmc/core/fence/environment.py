"""Which variables get into the fence: those of this list, and what LLMC sets itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

PLAIN = frozenset(
    (
        *("PATH", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "USER", "LOGNAME", "SHELL", "NO_COLOR", "FORCE_COLOR"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("GIT_CONFIG_NOSYSTEM", "JAVA_HOME", "GOROOT", "NVM_DIR", "PYENV_ROOT", "RUSTUP_HOME"),
    )
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_LOCALE = re.compile(r"LC_[A-Z]+")
_PLACE = re.compile(r".*_(HOME|DIR|CONFIG|FILE|PATH|SOCK|SOCKET)")
"""What names a place of the person's own is not for the agent, whatever it begins with."""

OF_AGENT: Mapping[str, tuple[str, ...]] = {
    "claude": ("ANTHROPIC_", "CLAUDE_CODE_", "DISABLE_", "IS_SANDBOX", "MAX_THINKING_TOKENS", "API_TIMEOUT_MS"),
    "codex": ("OPENAI_", "CODEX_"),
    "gemini": ("GEMINI_", "GOOGLE_API_KEY", "GOOGLE_GEMINI_", "GOOGLE_GENAI_", "GOOGLE_CLOUD_PROJECT"),
    "opencode": ("OPENCODE_", "ANTHROPIC_", "OPENAI_", "GEMINI_API_KEY", "OPENROUTER_", "DEEPSEEK_", "GROQ_"),
    "kilo": ("KILO_", "ANTHROPIC_", "OPENAI_", "OPENROUTER_"),
    "qwen": ("QWEN_", "OPENAI_", "DASHSCOPE_"),
    "copilot": ("COPILOT_",),
    "kimi": ("KIMI_", "MOONSHOT_"),
    "pi": ("PI_", "ANTHROPIC_", "OPENAI_", "GEMINI_API_KEY"),
    "cline": ("CLINE_", "ANTHROPIC_", "OPENAI_"),
    "aider": ("AIDER_", "ANTHROPIC_", "OPENAI_", "GEMINI_API_KEY", "DEEPSEEK_", "OPENROUTER_"),
}
"""How the names of those begin that each CLI's own settings and login are in."""


def kept_variables(environ: Mapping[str, str], agent: str, *, proxies: bool) -> dict[str, str]:
    """Without an agent, for setup and checks, no login gets in."""
    wanted = set(PLAIN)
    if proxies:
        wanted.update(PROXIES, (name.lower() for name in PROXIES))
    return {name: value for name, value in environ.items() if _is_kept(name, wanted, OF_AGENT.get(agent, ()))}


def _is_kept(name: str, wanted: Collection[str], prefixes: tuple[str, ...]) -> bool:
    if name in wanted or _LOCALE.fullmatch(name):
        return True
    return name.startswith(prefixes) and not _PLACE.fullmatch(name) if prefixes else False
