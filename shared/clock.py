"""The one place that reads the wall clock; everything else is given a time."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time, zone-aware, in UTC."""
    return datetime.now(UTC)
