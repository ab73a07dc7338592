"""Trace context over a hop: the trace goes on, the span is new, nonsense starts afresh."""

import contextvars
import re
from collections.abc import Mapping

import pytest

from shared import tracing

VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
FORM = re.compile("00-[0-9a-f]{32}-[0-9a-f]{16}-01")


def enter(headers: Mapping[str, str] | None) -> tuple[str, str]:
    """The trace id and the traceparent sent on, in a context of their own."""

    def run() -> tuple[str, str]:
        identity = tracing.enter(headers)
        return identity, tracing.outgoing()[tracing.HEADER]

    return contextvars.Context().run(run)


def test_a_valid_trace_is_continued_under_a_new_span() -> None:
    identity, sent = enter({"traceparent": VALID})
    assert identity == "0af7651916cd43dd8448eb211c80319c"
    assert FORM.fullmatch(sent)
    assert identity in sent
    assert "b7ad6b7169203331" not in sent


@pytest.mark.parametrize(
    "headers",
    [
        None,
        {},
        {"traceparent": ""},
        {"traceparent": "00-abc-def-01"},
        {"traceparent": "nonsense"},
        {"traceparent": f"00-{'z' * 32}-b7ad6b7169203331-01"},
        {"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"},
        {"traceparent": f"00-{'ñ' * 32}-b7ad6b7169203331-01"},
    ],
)
def test_without_a_valid_trace_a_new_one_begins(headers: Mapping[str, str] | None) -> None:
    identity, sent = enter(headers)
    assert FORM.fullmatch(sent)
    assert re.fullmatch("[0-9a-f]{32}", identity)
    assert identity != "0" * 32
    assert identity in sent


def test_outside_of_any_trace_nothing_is_sent() -> None:
    assert contextvars.Context().run(tracing.outgoing) == {}


def test_two_fresh_traces_differ() -> None:
    assert enter(None)[0] != enter(None)[0]
