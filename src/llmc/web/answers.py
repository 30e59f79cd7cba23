"""Answers in JSON."""

from __future__ import annotations

import json

from starlette.responses import Response


class JsonAnswer(Response):
    """Bytes that are no text stay escapes, as in the answers of the commands."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
