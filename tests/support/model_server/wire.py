"""The bytes of an answer and how their sending ends: scripted replies and faults as plain data."""

import json
from typing import Any, Literal

import msgspec

from tests.support.model_server.replies import Completion, as_chunks, as_object
from tests.support.model_server.script import Fault
from tests.support.model_server.terms import Dialect, JsonObject
from tests.support.model_server.violations import Violation, envelope

End = Literal["complete", "cut", "hang"]

DONE = b"data: [DONE]\n\n"
GARBAGE = "<html><body><h1>502 Bad Gateway</h1></body></html>"
# What providers say with each status: kind of error and code (OpenAI's error-codes page).
_STATUS_WORDS = {
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    402: ("insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
    403: ("request_forbidden", "unsupported_country_region_territory", "Country, region, or territory not supported"),
    408: ("timeout", None, "Request timed out."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    503: ("service_unavailable", None, "The engine is currently overloaded, please try again later."),
}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP answer: `frames` are sent one by one, then the body is `end`ed.

    An answer that hangs with no frames sends not even its status. Delays in seconds.
    """

    frames: tuple[bytes, ...]
    status: int = 200
    media_type: str = "application/json"
    headers: dict[str, str] = {}
    content_length: int | None = None
    end: End = "complete"
    delay_s: float = 0.0
    chunk_delay_s: float = 0.0


def refusal(violation: Violation, dialect: Dialect) -> Answer:
    """The answer to a request that breaks a rule."""
    return _whole(_json(envelope(violation, dialect)), status=violation.status)


def answer(completion: Completion, fault: Fault, dialect: Dialect, *, stream: bool, usage: bool) -> Answer:
    """The answer to a legal request: the completion, as `fault` spoils it."""
    spoilt = _instead(fault, dialect, stream=stream)
    if spoilt is None and stream:
        spoilt = _streamed(completion, fault, dialect, usage=usage)
    if spoilt is None:
        spoilt = _plain(completion, fault)
    return msgspec.structs.replace(spoilt, delay_s=fault.delay_s, chunk_delay_s=fault.chunk_delay_s)


def _instead(fault: Fault, dialect: Dialect, *, stream: bool) -> Answer | None:
    """Faults that put something else in place of the whole answer."""
    if fault.hang:
        return Answer(frames=(), end="hang")
    if fault.status is not None:
        wait = fault.retry_after_s
        headers = {} if wait is None else {"retry-after": f"{wait:g}"}
        body = _json(_error(fault.status, dialect)) if fault.body is None else fault.body.encode()
        return _whole(body, status=fault.status, headers=headers, media_type=_media_type(body))
    if fault.error_in_200:
        return _whole(_json(_error(503, dialect)))
    if fault.error_chunk and not stream:
        return _whole(_json(_error(500, dialect)), status=500)
    if fault.garbage and not stream:
        return _whole(GARBAGE.encode(), media_type="text/html")
    return None


def _plain(completion: Completion, fault: Fault) -> Answer:
    whole = as_object(completion)
    if fault.null_choices:
        whole["choices"] = None
    if fault.empty:
        message = {"role": "assistant", "content": None, "refusal": None}
        whole["choices"] = [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    body = _json(whole)
    ends: tuple[tuple[int | None, End], ...] = ((fault.cut_after_chunks, "cut"), (fault.hang_after_chunks, "hang"))
    for after, end in ends:
        if after is not None:
            half = body[: len(body) // 2] if after else b""
            return Answer(frames=(half,), content_length=len(body), end=end)
    return _whole(body)


def _streamed(completion: Completion, fault: Fault, dialect: Dialect, *, usage: bool) -> Answer:
    chunks = as_chunks(completion, usage=usage, usage_in_last=dialect == "mistral")
    if fault.null_choices:
        chunks = [chunk | {"choices": None} for chunk in chunks[:1]]
    if fault.empty:
        chunks = [chunks[0]] + [chunk for chunk in chunks[1:] if not _says_something(chunk)]
    frames = [_event(_json(chunk)) for chunk in chunks]
    end: End = "complete"
    if fault.error_chunk:
        frames = [frames[0], _event(_json(_error(500, dialect)))]
    elif fault.garbage:
        frames = [frames[0], _event(GARBAGE.encode()), DONE]
    elif not fault.no_done:
        frames.append(DONE)
    if fault.cut_after_chunks is not None:
        frames, end = frames[: fault.cut_after_chunks], "cut"
    if fault.hang_after_chunks is not None:
        frames, end = frames[: fault.hang_after_chunks], "hang"
    return Answer(frames=tuple(frames), media_type="text/event-stream", end=end)


def _says_something(chunk: JsonObject) -> bool:
    return any(choice["delta"] for choice in chunk["choices"])


def _error(status: int, dialect: Dialect) -> JsonObject:
    kind, code, message = _STATUS_WORDS.get(
        status, ("server_error", None, "The server had an error while processing your request.")
    )
    return envelope(Violation(kind="fault", status=status, type=kind, code=code, message=message), dialect)


def _whole(
    body: bytes, *, status: int = 200, headers: dict[str, str] | None = None, media_type: str = "application/json"
) -> Answer:
    return Answer(frames=(body,), status=status, headers=headers or {}, media_type=media_type, content_length=len(body))


def _media_type(body: bytes) -> str:
    try:
        json.loads(body)
    except ValueError:
        return "text/html"
    return "application/json"


def _json(value: Any) -> bytes:
    # Unescaped like the providers' own, but for what UTF-8 cannot hold.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"
