"""What a client can attach to a conversation: the log of events, and the diffs of workers and of landed tasks."""

from __future__ import annotations

import json
import re
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from llmc.commands.shared.fields import Given
from llmc.errors import LlmcError
from llmc.mcp.desk import Desk
from llmc.mcp.reading import DATA_ONLY, diff_of_worker, events, result

EVENTS = "llmc://events"
DIFF = "text/x-diff"
MARK = {"llmc/note": DATA_ONLY}
BEFORE_DIFF = f"note: {DATA_ONLY}\n\n"
"""Whatever applies a diff passes over it."""
_DIFF = re.compile(r"llmc://(workers|tasks)/([A-Za-z0-9_-]{1,100})/diff")
Context = ServerRequestContext[Any]


class Resources:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def handlers(self) -> dict[str, Any]:
        return {
            "on_list_resources": self._list,
            "on_list_resource_templates": self._templates,
            "on_read_resource": self._read,
        }

    async def _list(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        diffs = [_diff(each["name"]) for each in (await self._desk.status())["workers"] if each["commit_sha"]]
        log = Resource(name="events", uri=EVENTS, mime_type="application/json", description="the last events")
        return ListResourcesResult(resources=[log, *diffs])

    async def _templates(self, context: Context, params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        templates = [
            ResourceTemplate(name=f"diff of a {what}", uri_template=f"llmc://{what}s/{{{name}}}/diff")
            for what, name in (("worker", "worker"), ("task", "id"))
        ]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def _read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        try:
            await self._desk.require_standing()
            text, kind = await self._content(params.uri)
        except LlmcError as refused:
            raise MCPError(INVALID_PARAMS, f"{refused.what} ({refused.hint})") from None
        text = f"{BEFORE_DIFF}{text}" if kind == DIFF else text
        text = text.encode("utf-8", "replace").decode()
        return ReadResourceResult(
            contents=[TextResourceContents(uri=params.uri, mime_type=kind, text=text, _meta=MARK)]
        )

    async def _content(self, uri: str) -> tuple[str, str]:
        if uri == EVENTS:
            found = {"note": DATA_ONLY, **await events(self._desk, Given({}, {}), None)}
            return json.dumps(found, ensure_ascii=False), "application/json"
        diff = _DIFF.fullmatch(uri)
        if diff is None:
            raise LlmcError("there is no such resource", f"{EVENTS}, llmc://workers/NAME/diff, llmc://tasks/ID/diff")
        if diff[1] == "workers":
            await self._desk.require_worker(diff[2], acts=False)
            return await diff_of_worker(self._desk, diff[2]), DIFF
        return str((await result(self._desk, Given({}, {"id": diff[2]}), None))["diff"]), DIFF


def _diff(name: str) -> Resource:
    return Resource(name=f"diff of {name}", uri=f"llmc://workers/{name}/diff", mime_type=DIFF)
