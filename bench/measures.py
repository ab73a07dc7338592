"""The arithmetic of a bench: percentiles, ratios, differences. Pure."""

import math
from collections.abc import Mapping, Sequence

import msgspec

# nats-server, server/filestore.go, fileStoreMsgSizeRaw: length, sequence, time and subject length before a record,
# a checksum after it, and a length before headers, if there are any.
_RECORD_BYTES = 22 + 8
_HEADER_LENGTH_BYTES = 4


class Spread(msgspec.Struct, frozen=True):
    """How a series is spread; in the unit of the series."""

    n: int
    min: float
    p50: float
    p95: float
    p99: float
    max: float


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of all values do not exceed (nearest rank)."""
    if not values:
        raise ValueError("no percentile of nothing")
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def spread(values: Sequence[float]) -> Spread:
    """The spread of a series, rounded to a thousandth."""
    shares = (0.0, 0.5, 0.95, 0.99, 1.0)
    low, p50, p95, p99, high = (round(percentile(values, share), 3) for share in shares)
    return Spread(len(values), low, p50, p95, p99, high)


def ratio(measured: float, reference: float) -> float:
    """How many times the reference, to a hundredth."""
    return round(measured / reference, 2)


def per_turn_ms(before: Mapping[str, float], after: Mapping[str, float], turns: int) -> dict[str, float]:
    """What each process used between two readings in seconds, in milliseconds per turn."""
    return {name: round((after[name] - before[name]) * 1000 / turns, 3) for name in before}


def quietest_tenth(blocks: Sequence[Mapping[str, float]], *, leave_out: str) -> dict[str, float]:
    """The block whose sum, one process left out, stands at the tenth percentile of all."""
    sums = [sum(value for name, value in block.items() if name != leave_out) for block in blocks]
    return dict(blocks[sums.index(percentile(sums, 0.1))])


def record_bytes(subject: str, headers: Mapping[str, str], data: bytes) -> int:
    """The bytes nats-server writes to store a message; what the `bytes` of a stream's state add up."""
    size = _RECORD_BYTES + len(subject.encode()) + len(data)
    if headers:
        lines = sum(len(f"{name}: {value}\r\n".encode()) for name, value in headers.items())
        size += _HEADER_LENGTH_BYTES + len("NATS/1.0\r\n") + lines + len("\r\n")
    return size
