"""The description of the API, made of its table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from llmc import __version__
from llmc.commands.shared.fields import SCHEMAS, Field
from llmc.web.calls import Call

REFUSALS = {
    "400": "the body, or the usage, is invalid",
    "401": "not logged in",
    "403": "a wrong Host, Origin or secret, or a server that only shows",
    "404": "there is no such worker, or no such address",
    "409": "the command was refused",
    "413": "the body is larger than 1 MiB",
}


def openapi(calls: Sequence[Call]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        paths.setdefault(f"/api/v1{call.path}", {})[call.method.lower()] = _operation(call)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "LLMC",
            "version": __version__,
            "description": "The documents are those of the commands' `--json`. The terminal of a worker is a WebSocket "
            "at `/api/v1/workers/{worker}/terminal?control=0|1`.",
        },
        "paths": paths,
        "components": {
            "schemas": {
                "Refusal": {
                    "type": "object",
                    "properties": {"error": {"type": "string"}, "hint": {"type": "string"}},
                    "required": ["error", "hint"],
                }
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(call: Call) -> dict[str, Any]:
    looks = call.method == "GET"
    parameters = [_parameter(name) for name in re.findall(r"{(\w+)}", call.path)]
    operation: dict[str, Any] = {
        "summary": call.summary,
        "operationId": f"{call.method.lower()}{re.sub(r'[^a-z]+', '_', call.path)}".rstrip("_"),
        "parameters": [*parameters, *(_query(field) for field in call.fields if looks)],
        "responses": {"200": _answer(call), **{code: _refusal(text) for code, text in REFUSALS.items()}},
    }
    if not looks:
        operation["requestBody"] = {
            "required": any(field.needed for field in call.fields),
            "content": {"application/json": {"schema": _body(call.fields)}},
        }
    return operation


def _answer(call: Call) -> dict[str, Any]:
    kind = "text/event-stream" if call.path == "/stream" else "application/json"
    return {"description": "the document", "content": {kind: {"schema": {}}}}


def _refusal(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    }


def _parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query(field: Field) -> dict[str, Any]:
    return {"name": field.name, "in": "query", "description": field.text, "schema": SCHEMAS[field.kind]}


def _body(fields: Sequence[Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: {**SCHEMAS[field.kind], "description": field.text} for field in fields},
        "required": [field.name for field in fields if field.needed],
        "additionalProperties": False,
    }
