"""Responses: structs as JSON, and their schemas for OpenAPI."""

from collections.abc import Mapping
from typing import Any

import msgspec
from fastapi import Response


def json_response(view: msgspec.Struct, status: int = 200, *, headers: Mapping[str, str] | None = None) -> Response:
    """A struct as a JSON response."""
    return Response(msgspec.json.encode(view), status, headers=headers, media_type="application/json")


def responses(kinds: Mapping[int, type[msgspec.Struct]]) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of what an endpoint answers, by status; errors are always problems."""
    described: dict[int | str, dict[str, Any]] = {
        status: {
            "description": (kind.__doc__ or "").partition("\n")[0],
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}},
        }
        for status, kind in kinds.items()
    }
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    described["default"] = {"description": "What is wrong.", "content": {"application/problem+json": problem}}
    return described
