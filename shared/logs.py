"""Structured logs: an event name (`noun.verb_past`) and facts as fields; JSON, or readable on a terminal."""

import logging
import sys
from typing import Any

import msgspec
import structlog

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(*, level: str, style: str) -> None:
    """Set up logging of this process, once. `style` is `json`, `console`, or `auto`: console on a terminal."""
    console = style == "console" or (style == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    if console:
        tail: list[Any] = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        factory: Any = structlog.PrintLoggerFactory(file=sys.stderr)
    else:
        tail = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_dump)]
        factory = structlog.BytesLoggerFactory(file=sys.stderr.buffer)
    structlog.configure(
        processors=[*shared, *tail],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    # Libraries (uvicorn, nats) log through the standard library: warnings and worse, on the same stream.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")


def _dump(event: Any, **_: Any) -> bytes:
    return msgspec.json.encode(event, enc_hook=str)


def get_logger(**bound: Any) -> Any:
    """A logger with `bound` fields on every line."""
    return structlog.get_logger(**bound)
