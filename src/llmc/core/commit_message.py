"""The message of the one commit that lands: what the person wants to read, without advertisements."""

from __future__ import annotations

import re

_TOOLS = (
    r"claude|anthropic|codex|openai|chatgpt|gpt-?\d|gemini|opencode|copilot|cursor|aider|devin|windsurf|"
    r"amp|ampcode|goose|crush|qwen|kimi|jules|noreply@google\.com|llmc demo agent|demo agent"
)
_CREDIT_TRAILER = re.compile(
    rf"^\s*(co-authored-by|co-developed-by|assisted-by|generated-by|ai-assisted-by|authored-by)\s*:.*\b({_TOOLS})\b.*$",
    re.IGNORECASE,
)
_CREDIT_LINE = re.compile(
    rf"^\W*((generated|created|written|made|authored) (with|by|using)|via)\b.*\b({_TOOLS})\b.*$", re.IGNORECASE
)
_SESSION_LINK = re.compile(r"^\s*(claude-session|codex-session|session-id)\s*:.*$", re.IGNORECASE)


def clean_message(message: str) -> str:
    """Drops the lines that credit a tool; a person's own trailers stay."""
    kept = [line.rstrip() for line in message.splitlines() if not _credits_a_tool(line)]
    return _tidy("\n".join(kept))


def _credits_a_tool(line: str) -> bool:
    return bool(_CREDIT_TRAILER.match(line) or _CREDIT_LINE.match(line) or _SESSION_LINK.match(line))


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
