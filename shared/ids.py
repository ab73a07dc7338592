"""Identifiers Jada makes: UUIDv7 (RFC 9562), so that they sort by the time they were made."""

import os
import time
import uuid


def uuid7() -> str:
    """A new UUIDv7 as 32 lower-case hex digits."""
    millis = time.time_ns() // 1_000_000
    value = (millis & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76  # version 7
    value = value & ~(0x3 << 62) | 0x2 << 62  # RFC variant
    return uuid.UUID(int=value).hex


def turn_id(first_input: int) -> str:
    """A turn's id: the stream sequence of its first input, then a UUIDv7.

    The sequence makes a turn findable from its id alone: the message stored there names the conversation.
    """
    return f"{first_input}-{uuid7()}"


def first_input_of(handle: str) -> int:
    """The input sequence a turn id (or a bare sequence) starts with; `ValueError` when it is neither."""
    head = handle.partition("-")[0]
    if not head.isascii() or not head.isdigit():
        raise ValueError(f"not a turn id: {handle!r}")
    return int(head)


def call_id(turn: str, step: int, position: int) -> str:
    """The id of the call at `position` (from 0) of a step: derived, so a redone step names its calls alike."""
    return f"{turn}.{step}.{position}"
