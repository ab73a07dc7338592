"""Calendar arithmetic on local dates and times, and their way to instants where clocks change."""

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal

Change = Literal["", "gap", "twice"]


def instant(local: datetime, zone: tzinfo) -> tuple[datetime, Change]:
    """The UTC instant of naive `local` on the clocks of `zone`.

    A time that clocks skip ("gap") becomes the first instant after it that they show; of a time they show twice
    ("twice"), the first.
    """
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if first == second:
        return first, ""
    if first < second:
        return first, "twice"
    return _change_between(second, first, zone), "gap"


def _change_between(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """The second at which the offset of `zone` changes, between two instants around it."""
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=int((after - before).total_seconds()) // 2)
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def add_months(day: date, months: int) -> tuple[date, bool]:
    """`day` moved by `months`, and whether it had to become the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last)), day.day > last


def exists(year: int, month: int, day: int) -> bool:
    """Whether that date is in the calendar."""
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def yearly(today: date, month: int, day: int) -> Iterator[date]:
    """The dates with that month and day from the year of `today` on; none if no year has it."""
    if exists(2000, month, day):  # a leap year
        years = range(today.year, today.year + 9)  # 29 February is never further away
        yield from (date(year, month, day) for year in years if exists(year, month, day))


def monthly(today: date, day: int) -> Iterator[date]:
    """The dates with that day of the month from the month of `today` on."""
    for month in range(today.month - 1, today.month + 12):
        year, index = today.year + month // 12, month % 12 + 1
        if exists(year, index, day):
            yield date(year, index, day)


def week_of(today: date, weeks: int, weekday: int) -> date:
    """The `weekday` (Monday 0) of the calendar week `weeks` after that of `today`."""
    return today + timedelta(days=weekday - today.weekday() + 7 * weeks)
