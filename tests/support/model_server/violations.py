"""What is wrong with a request, and how each dialect says so over HTTP."""

from typing import NamedTuple

import msgspec

from tests.support.model_server.terms import Dialect, JsonObject


class Finding(NamedTuple):
    """One place where a request breaks a rule; `code` replaces the rule's own when one rule has several codes."""

    message: str
    param: str | None = None
    code: str | None = None
    extra: JsonObject | None = None


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A broken rule with the answer the provider gives: `kind` is ours, everything else goes on the wire."""

    kind: str
    message: str
    status: int = 400
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    extra: JsonObject = {}


def envelope(violation: Violation, dialect: Dialect) -> JsonObject:
    """The error body as the dialect shapes it.

    Mistral's is flat, and a list of details for unknown fields; llama.cpp repeats the status as a number.
    """
    if dialect == "mistral":
        message: str | JsonObject = violation.message
        if violation.status == 422:
            detail = {"type": "extra_forbidden", "loc": ["body", violation.param], "msg": violation.message}
            message = {"detail": [detail]}
        # Its codes are numbers; the words are OpenAI's.
        code = violation.code if violation.code and violation.code.isdigit() else None
        return {"object": "error", "message": message, "type": violation.type, "param": None, "code": code}
    if dialect == "llamacpp":
        error = {"code": violation.status, "message": violation.message, "type": violation.type}
        return {"error": error | violation.extra}
    error = {
        "message": violation.message,
        "type": violation.type,
        "param": violation.param,
        "code": violation.code,
    }
    return {"error": error | violation.extra}
