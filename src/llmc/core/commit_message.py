"""The message of the one commit that lands: what the person wants to read, without advertisements."""

from __future__ import annotations

import re

_TOOLS = frozenset(
    (
        *("claude", "anthropic", "codex", "openai", "chatgpt", "gpt", "gemini", "opencode", "copilot", "cursor"),
        *("cursoragent", "aider", "devin", "windsurf", "amp", "ampcode", "goose", "crush", "qwen", "kimi", "jules"),
        *("llmc", "demo agent"),
    )
)
_EPITHETS = frozenset(
    (
        *("code", "cli", "agent", "ai", "bot", "assist", "assistant", "coder", "integration", "context"),
        *("google", "github", "labs", "via", "opus", "sonnet", "haiku", "pro", "flash", "mini"),
    )
)
"""What may stand beside a tool's name without making it a person's."""
_TOOL_DOMAINS = frozenset(
    ("anthropic.com", "openai.com", "google.com", "opencode.ai", "cursor.com", "aider.chat", "ampcode.com")
)
_CREDIT_TRAILER = re.compile(
    r"\s*(?:co-authored-by|co-developed-by|authored-by|(?:ai-)?assisted-by|(?:generated|made|created)-(?:by|with))"
    r"\s*:\s*(?P<name>[^<]*)(?:<(?P<email>[^>]*)>)?\s*",
    re.IGNORECASE,
)
_CREDIT_LINE = re.compile(
    r"\W*(?:(?:generated|created|written|made|authored|coded) (?:with|by|using)|via)\s(?P<name>.*)", re.IGNORECASE
)
_SESSION_LINK = re.compile(r"\s*(?:claude-session|codex-session|amp-thread-id)\s*:.*", re.IGNORECASE)
_LINK_TARGET = re.compile(r"\(?\bhttps?://[^\s)]*\)?")
_VERSION = re.compile(r"v?\d\w*|[a-z]\d+")


def clean_message(message: str) -> str:
    """Drops the lines that credit a tool; a person's own trailers stay."""
    kept = [line.rstrip() for line in message.splitlines() if not _credits_a_tool(line)]
    return _tidy("\n".join(kept))


def _credits_a_tool(line: str) -> bool:
    trailer = _CREDIT_TRAILER.fullmatch(line)
    if trailer is not None:
        return _is_tool(trailer["name"]) or _is_address_of_tool(trailer["email"] or "")
    credit = _CREDIT_LINE.fullmatch(line)
    return (credit is not None and _is_tool(credit["name"])) or _SESSION_LINK.fullmatch(line) is not None


def _is_tool(name: str) -> bool:
    """Whether this names a tool and nobody else: `Claude Opus 4.5` does, `Claude Monet` does not."""
    words = re.findall(r"demo agent|\w+", _LINK_TARGET.sub("", name).lower())
    others = [word for word in words if word not in _TOOLS]
    return len(others) < len(words) and all(word in _EPITHETS or _VERSION.fullmatch(word) for word in others)


def _is_address_of_tool(email: str) -> bool:
    user, _, domain = email.strip().lower().rpartition("@")
    if domain == "users.noreply.github.com":  # 12345+name
        return _is_tool(user.rpartition("+")[2])
    return user in ("noreply", "no-reply") and domain in _TOOL_DOMAINS


def _tidy(text: str) -> str:
    """No blank lines at the ends, never two in a row."""
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def message_for(messages: list[str], task: str) -> str:
    """One message for the work: the commit's own; of several the first leads and the rest are listed."""
    cleaned = [m for m in (clean_message(m) for m in messages) if m.strip()]
    if not cleaned:
        return first_line(task) + "\n"
    if len(cleaned) == 1:
        return cleaned[0]
    rest = "\n".join(f"- {first_line(m)}" for m in cleaned[1:] if first_line(m) != first_line(cleaned[0]))
    return _tidy(f"{cleaned[0]}\n{rest}")


def first_line(text: str, limit: int = 72) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "work")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
