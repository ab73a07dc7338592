"""W3C trace context (https://www.w3.org/TR/trace-context/) carried through every hop in the `traceparent` header.

Ids only: a full tracer may later read the same header.
"""

import os
import re
from collections.abc import Mapping
from contextvars import ContextVar

HEADER = "traceparent"
_VALID = re.compile("[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_current: ContextVar[str] = ContextVar("traceparent", default="")


def new_traceparent() -> str:
    """A fresh trace, sampled."""
    return f"00-{os.urandom(16).hex()}-{os.urandom(8).hex()}-01"


def current() -> str:
    """The traceparent of the work at hand, or an empty text outside of any."""
    return _current.get()


def trace_id(traceparent: str) -> str:
    """The trace id in a traceparent, or an empty text when it is none."""
    valid = _VALID.fullmatch(traceparent)
    return valid[1] if valid else ""


def enter(headers: Mapping[str, str] | None) -> str:
    """Continue the trace in `headers` (a new one if there is none valid) in this context; returns its trace id."""
    incoming = (headers or {}).get(HEADER, "")
    identity = trace_id(incoming)
    if identity:
        _current.set(f"00-{identity}-{os.urandom(8).hex()}-01")
        return identity
    fresh = new_traceparent()
    _current.set(fresh)
    return trace_id(fresh)


def outgoing() -> dict[str, str]:
    """The header to send along; empty outside of any trace."""
    traceparent = _current.get()
    return {HEADER: traceparent} if traceparent else {}
