"""Errors as `application/problem+json` (RFC 9457): a stable code, what is wrong, and what to do about it."""

import tomllib
from functools import cache
from http import HTTPStatus
from pathlib import Path

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from shared import ids
from shared.errors import BusUnavailable, EventTooLarge, JadaError, Rejected, Retryable, StorageFull
from shared.logs import get_logger

_RETRY_AFTER_S = 2
_LANGUAGES = ("en", "es")

log = get_logger()


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The body of an error. `detail` is in English; `title` and `remedy` follow Accept-Language (English, Spanish)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    remedy: str


@cache
def known_problems() -> dict[str, dict[str, tuple[str, str]]]:
    """Title and remedy of every code, by language."""
    raw = tomllib.loads(Path(__file__).with_name("problems.toml").read_text(encoding="utf-8"))
    return msgspec.convert(raw, dict[str, dict[str, tuple[str, str]]])


def starting() -> Rejected:
    """The service is not up yet."""
    return Rejected("starting", "the agent is not connected yet", status=503)


def respond(error: Rejected, accept_language: str) -> Response:
    """An error as a response. An English remedy that came with the error is more to the point than the table's."""
    language = language_of(accept_language)
    title, remedy = known_problems()[error.code][language]
    problem = Problem(
        type=f"urn:jada:problem:{error.code}",
        title=title,
        status=error.status,
        detail=error.detail,
        code=error.code,
        remedy=error.remedy if error.remedy and language == "en" else remedy,
    )
    headers = {"Content-Language": language}
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(_RETRY_AFTER_S)
    return Response(msgspec.json.encode(problem), error.status, headers=headers, media_type="application/problem+json")


def language_of(accept_language: str) -> str:
    """The first of our languages that the header names; English when it names none. Weights are not looked at."""
    for item in accept_language.split(","):
        language = item.strip()[:2].lower()
        if language in _LANGUAGES:
            return language
    return _LANGUAGES[0]


def as_rejected(error: Exception) -> Rejected:
    """Any error as one that callers can be told; a fault of ours is logged and shows as a reference only."""
    match error:
        case Rejected():
            return error
        case StorageFull():
            return Rejected("storage-full", "the broker has no room for this", status=507)
        case BusUnavailable() | Retryable():
            return Rejected("bus-unavailable", "the broker did not confirm in time", status=503)
        case EventTooLarge():
            return Rejected("event-too-large", str(error), status=413)
        case RequestValidationError():
            return Rejected("invalid-parameter", _parameter_detail(error))
        case HTTPException():
            return _from_http(error)
        case _:
            reference = ids.uuid7()[-8:]
            log.error("api.request_failed", error_ref=reference, exc_info=error)
            return Rejected("internal", f"reference {reference}", status=500)


def install(app: FastAPI) -> None:
    """Answer every error that an endpoint raises on purpose; any other is the business of `Guard`."""

    async def handle(request: Request, error: Exception) -> Response:
        return respond(as_rejected(error), request.headers.get("accept-language", ""))

    for kind in (JadaError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, handle)


def _from_http(error: HTTPException) -> Rejected:
    code = {404: "not-found", 405: "method-not-allowed", 400: "invalid-multipart"}.get(error.status_code)
    if code is None:
        return Rejected("internal", str(error.detail), status=error.status_code)
    return Rejected(code, str(error.detail), status=error.status_code)


def _parameter_detail(error: RequestValidationError) -> str:
    return "; ".join(f"{'.'.join(str(part) for part in e['loc'][1:])}: {e['msg']}" for e in error.errors())
