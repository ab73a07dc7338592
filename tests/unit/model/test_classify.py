"""Failures as servers word them, and what they are."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.model.classify import Failure, classify, failure_of, read_failure, to_error
from shared.model.errors import BadHistory, Denied, ModelError, Refused, TooLong, Transient, Unclassified
from shared.model.retry_after import retry_after_s

WORDINGS: list[tuple[type[ModelError], int, Any]] = [
    # too long
    (
        TooLong,
        400,
        {
            "error": {
                "message": "This model's maximum context length is 128000 tokens. However, you asked for more.",
                "code": "context_length_exceeded",
                "type": "invalid_request_error",
            }
        },
    ),
    (
        TooLong,
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
                "n_ctx": 4096,
            }
        },
    ),
    (
        TooLong,
        400,
        {
            "object": "error",
            "message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            "code": "3051",
        },
    ),
    (
        TooLong,
        413,
        {
            "error": {
                "message": "Request too large for model `llama` ... please reduce your message size",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
    ),
    (
        TooLong,
        400,
        {"error": {"message": "The input token count (1200000) exceeds the maximum number of tokens allowed"}},
    ),
    # refused
    (
        Refused,
        400,
        {
            "error": {
                "code": "content_filter",
                "message": "The response was filtered due to the prompt triggering our content management policy",
            }
        },
    ),
    (
        Refused,
        403,
        {"error": {"code": 403, "message": "model requires moderation. Your input was flagged for violence"}},
    ),
    (Refused, 400, {"error": {"code": "content_policy_violation", "message": "no"}}),
    # denied
    (Denied, 401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}),
    (Denied, 402, {"error": {"message": "Insufficient credits"}}),
    (Denied, 403, {"error": {"message": "Country not supported"}}),
    (Denied, 404, {"error": {"message": "The model `gpt-9` does not exist", "code": "model_not_found"}}),
    (Denied, 404, "404 page not found"),
    (
        Denied,
        429,
        {
            "error": {
                "message": "You exceeded your current quota, please check your plan and billing details",
                "code": "insufficient_quota",
            }
        },
    ),
    (
        Denied,
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "API key not valid. Please pass a valid API key.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    (Denied, 400, {"object": "error", "message": "Invalid model: x", "type": "invalid_model", "code": "1500"}),
    (Denied, 404, {"error": {"message": "No endpoints found that support tool use"}}),
    # passing
    (Transient, 429, {"error": {"message": "Rate limit reached for messages", "code": "rate_limit_exceeded"}}),
    (Transient, 429, {"error": {"message": "Rate limit: context window tokens per minute"}}),
    (Transient, 408, ""),
    (Transient, 500, "Internal Server Error"),
    (Transient, 502, "<html>bad gateway</html>"),
    (Transient, 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
    (Transient, 529, {"error": {"type": "overloaded_error"}}),
    (Transient, 200, {"error": {"code": 502, "message": "Provider returned error"}}),
    (Transient, 200, {"error": {"message": "The server is overloaded"}}),
    (
        Transient,
        400,
        {
            "error": {
                "message": "Failed to call a function. Please adjust your prompt.",
                "code": "tool_use_failed",
                "failed_generation": "x",
            }
        },
    ),
    (Transient, 500, {"error": {"code": 500, "message": "Failed to parse input at pos 12", "type": "server_error"}}),
    # history
    (
        BadHistory,
        400,
        {
            "error": {
                "message": "Assistant message with 'tool_calls' must be followed by results for each 'tool_call_id'.",
                "param": "messages.[3].role",
            }
        },
    ),
    (
        BadHistory,
        400,
        {
            "error": {
                "message": "Invalid parameter: messages with role 'tool' must be a response to a preceding message"
            }
        },
    ),
    (
        BadHistory,
        400,
        {
            "error": {
                "message": "messages.4.content.0.image.source.base64: image exceeds 5 MB maximum",
                "type": "invalid_request_error",
            }
        },
    ),
    (
        BadHistory,
        400,
        {"error": {"message": "At least one of the image dimensions exceed max allowed size: 8000 pixels"}},
    ),
    (
        BadHistory,
        500,
        {
            "error": {
                "code": 500,
                "message": "image input is not supported - hint: provide the mmproj",
                "type": "server_error",
            }
        },
    ),
    (
        BadHistory,
        500,
        {"error": {"message": "Conversation roles must alternate user/assistant/user", "type": "server_error"}},
    ),
    (BadHistory, 404, {"error": {"message": "No endpoints found that support image input", "code": 404}}),
    (BadHistory, 400, {"error": {"message": "text content blocks must be non-empty"}}),
    (
        BadHistory,
        400,
        {
            "error": {
                "message": "Tool call validation failed: attempted to call tool 'x' which was not in request.tools",
                "code": "tool_use_failed",
            }
        },
    ),
    (
        BadHistory,
        422,
        {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", "messages", 2], "msg": "Extra inputs are not permitted"}
            ]
        },
    ),
    (BadHistory, 400, {"error": {"message": "Invalid `signature` in `thinking` block"}}),
    (BadHistory, 413, "Payload Too Large"),
    (BadHistory, 200, {"error": {"message": "tool_call_id not found in messages", "type": "invalid_request_error"}}),
    (
        BadHistory,
        400,
        {
            "object": "error",
            "message": "Expected last role User or Tool but got assistant",
            "type": "invalid_request_message_order",
            "code": "3230",
        },
    ),
    (
        BadHistory,
        400,
        {
            "error": {
                "message": "Please ensure that function call turn comes immediately after a user turn",
                "status": "INVALID_ARGUMENT",
            }
        },
    ),
    # nobody knows
    (Unclassified, 400, {"error": {"message": "Invalid request"}}),
    (Unclassified, 418, "teapot"),
    (Unclassified, 200, {"error": "boom"}),
    (Unclassified, 400, ""),
]


@pytest.mark.parametrize(("expected", "status", "body"), WORDINGS)
def test_a_wording_is_classified(expected: type[ModelError], status: int, body: Any) -> None:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    assert type(to_error(read_failure(status, raw), "openai")) is expected


def test_an_error_inside_a_200_has_the_status_it_names() -> None:
    assert failure_of(200, {"error": {"code": "429", "message": "slow down"}}).status == 429
    assert failure_of(400, {"error": {"code": 500, "message": "x"}}).status == 400


def test_the_gist_is_clean_and_says_status_code_and_words() -> None:
    error = to_error(Failure(status=400, code="c", kind="t", message="x\x00y"), "openai")
    assert error.gist == "HTTP 400 c t: xy"


def test_nonsense_bodies_are_read_without_failing() -> None:
    for body in (b"\xff\xfe\x00", b"[]", b"null", b"3", b'{"error": 7}', b'{"error": {"code": {"a": 1}}}', b"{" * 9000):
        assert classify(read_failure(400, body), "openai") in {Unclassified, BadHistory}


NOW = datetime(2026, 11, 30, 19, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("Mon, 30 Nov 2026 19:00:10 GMT", 10.0),
        ("Mon, 30 Nov 2026 18:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": value}, NOW) == seconds
