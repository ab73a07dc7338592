"""The server's wish for a pause (RFC 9110, 10.2.3)."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now` (UTC) until a retry is welcome; `None` when the server names none or nonsense."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    return max(0.0, (moment - now).total_seconds())
