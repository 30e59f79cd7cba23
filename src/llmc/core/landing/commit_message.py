"""The message of the one commit that lands: what the person wants to read, without advertisements."""

from __future__ import annotations

import re
from unicodedata import category

_TOOLS = frozenset(
    (
        *("claude", "anthropic", "codex", "openai", "chatgpt", "gpt", "gemini", "opencode", "copilot", "cursor"),
        *("cursoragent", "aider", "devin", "windsurf", "amp", "ampcode", "goose", "crush", "qwen", "kimi", "jules"),
        *("warp", "cline", "roo", "kilo", "kiro", "droid", "openhands", "augment", "zencoder", "llmc", "demo agent"),
    )
)
_GIVEN_NAMES = frozenset(("claude", "devin", "jules", "kimi"))
"""Tools that are called like people: only an address tells them apart."""
_EPITHETS = frozenset(
    (
        *("code", "cli", "agent", "ai", "bot", "assist", "assistant", "coder", "integration", "context", "swe"),
        *("google", "github", "labs", "factory", "via", "using", "the", "app", "desktop", "web"),
        *("opus", "sonnet", "haiku", "fable", "pro", "flash", "mini", "max", "preview", "thinking"),
    )
)
"""What may stand beside a tool's name without making it a person's."""
_TOOL_DOMAINS = frozenset(
    (
        *("anthropic.com", "openai.com", "google.com", "opencode.ai", "cursor.com", "aider.chat", "ampcode.com"),
        *("charm.land", "warp.dev", "continue.dev", "factory.ai", "devin.ai", "cognition.ai", "all-hands.dev"),
        *("alibabacloud.com", "kilocode.ai", "codeium.com"),
    )
)
_TOOL_MAILBOXES = frozenset(("noreply", "no-reply", "agent", "bot", "ai", "assistant"))
_CREDIT_TRAILER = (
    r"(?i)\s*(?:[a-z]+(?:-[a-z]+)*-by|(?:generated|made|created|built|written)-(?:with|using)|ai-(?:agent|tool|model))"
    r"\s*:\s*(?P<name>[^<]*)(?:<(?P<email>[^>]*)>)?\s*"
)
_CREDIT_LINE = (
    r"(?i)\W*(?:(?:generated|created|written|made|built|authored|coded|assisted|implemented) (?:with|by|using)|via)"
    r"\s(?P<name>.*)"
)
_SESSION_LINK = (
    r"(?i)\W*(?:(?:claude|codex|chatgpt|gemini|opencode|copilot|cursor|amp|aider|devin|jules|warp)(?:-[a-z]+)*"
    r"-(?:session|thread|task|conversation|chat|run)(?:-(?:id|url|link))?\s*:.*"
    r"|(?:[a-z]+(?: [a-z]+)?:\s*)?\W*https?://(?:claude\.ai/(?:code|chat|share)|chatgpt\.com/(?:codex|c|share|s)"
    r"|ampcode\.com/threads|opncd\.ai/s|opencode\.ai/s|cursor\.com/(?:agents|background-agent)|app\.devin\.ai/sessions"
    r"|jules\.google\.com/(?:task|session)|app\.warp\.dev/(?:conversation|session))\S*\s*)"
)
_LINK_TARGET = r"\(?\bhttps?://[^\s)]*\)?"
_VERSION = r"v?\d\w*|[a-z]\d+"


_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b."
)
_JOINERS = "\u200c\u200d"
"""Of letters and of the parts of one emoji."""


def without_controls(text: str) -> str:
    """Without what a terminal acts upon or a reader cannot see: escape sequences, control characters, text direction.

    Lines, tabs and joiners stay. Bytes that were no UTF-8 stay too, as long as they are none of the old control codes.
    """
    return "".join(c for c in _ESCAPE_SEQUENCE.sub("", text) if c in "\n\t" or not _controls(c))


def _controls(character: str) -> bool:
    if "\udc80" <= character <= "\udc9f":
        return True
    return category(character) in ("Cc", "Cf", "Zl", "Zp") and character not in _JOINERS


def clean_message(message: str) -> str:
    """Drops the lines that credit a tool, and control characters; a person's own trailers stay."""
    lines = (without_controls(line).rstrip() for line in message.splitlines())
    return _tidy("\n".join(line for line in lines if not _credits_a_tool(line)))


def _credits_a_tool(line: str) -> bool:
    trailer = re.fullmatch(_CREDIT_TRAILER, line)
    if trailer is not None:
        return _is_tool_trailer(trailer["name"], trailer["email"] or "")
    credit = re.fullmatch(_CREDIT_LINE, line)
    return (credit is not None and _is_tool(credit["name"])) or re.fullmatch(_SESSION_LINK, line) is not None


def _is_tool_trailer(name: str, email: str) -> bool:
    if _is_address_of_tool(email):
        return True
    _user, at, domain = email.strip().lower().rpartition("@")
    may_be_person = name.strip().lower() in _GIVEN_NAMES and at and domain not in _TOOL_DOMAINS
    return _is_tool(name) and not may_be_person


def _is_tool(name: str) -> bool:
    """Whether this names a tool and nobody else: `Claude Opus 4.5` does, `Claude Monet` does not."""
    words = re.findall(r"demo agent|\w+", re.sub(_LINK_TARGET, "", name).lower())
    others = [word for word in words if word not in _TOOLS]
    return len(others) < len(words) and all(word in _EPITHETS or re.fullmatch(_VERSION, word) for word in others)


def _is_address_of_tool(email: str) -> bool:
    user, _, domain = email.strip().lower().rpartition("@")
    if domain == "users.noreply.github.com":  # 12345+name
        return _is_tool(user.rpartition("+")[2])
    return domain in _TOOL_DOMAINS and (user in _TOOL_MAILBOXES or (user not in _GIVEN_NAMES and _is_tool(user)))


def _tidy(text: str) -> str:
    """No blank lines at the ends, never two in a row."""
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


_TRAILER = r"[A-Za-z][A-Za-z0-9-]*: \S.*"
_ONCE = ("change-id:",)
"""Trailers that name the commit itself: the one of the first commit holds."""
_FIXUPS = ("fixup! ", "squash! ", "amend! ")


def message_for(messages: list[str], task: str) -> str:
    """One message for the work: the commit's own; of several the first leads, the rest are listed, trailers last."""
    cleaned = [m for m in (clean_message(m) for m in messages) if m.strip()]
    if not cleaned:
        return first_line(clean_message(task)) + "\n"
    parts = [_split(message) for message in cleaned]
    (lead, trailers), rest = parts[0], parts[1:]
    known = {first_line(lead)}
    listed = [
        line for line in (first_line(body) for body, _ in rest) if line not in known and not line.startswith(_FIXUPS)
    ]
    more = [line for _, lines in rest for line in lines if not line.lower().startswith(_ONCE)]
    blocks = (lead, "\n".join(f"- {line}" for line in dict.fromkeys(listed)), "\n".join(_unique(trailers, more)))
    return _tidy("\n\n".join(block for block in blocks if block))


def _split(message: str) -> tuple[str, list[str]]:
    """The text and the trailers of a message: its last paragraph, if that has nothing else and is not the subject."""
    paragraphs = message.strip().split("\n\n")
    lines = paragraphs[-1].splitlines()
    if len(paragraphs) > 1 and all(re.fullmatch(_TRAILER, line) for line in lines):
        return "\n\n".join(paragraphs[:-1]), lines
    return message.strip(), []


def _unique(trailers: list[str], more: list[str]) -> list[str]:
    """In order, each once, whatever its letters' case."""
    kept: dict[str, str] = {}
    for line in (*trailers, *more):
        kept.setdefault(line.lower(), line)
    return list(kept.values())


def first_line(text: str, limit: int = 72) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "work")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
