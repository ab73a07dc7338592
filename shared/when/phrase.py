"""What a phrase says, before any clock or calendar is asked."""

from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from shared.when.words import Part

Which = Literal["coming", "after", "next_week"]


class Span(msgspec.Struct, frozen=True):
    """A length of time: calendar months and days, which keep the hour on the wall, and exact seconds."""

    months: int = 0
    days: int = 0
    seconds: int = 0

    def __add__(self, other: "Span") -> "Span":
        return Span(self.months + other.months, self.days + other.days, self.seconds + other.seconds)


class Near(msgspec.Struct, frozen=True):
    """A day counted from today."""

    days: int


class Weekday(msgspec.Struct, frozen=True):
    """A day of the week, Monday 0. `week` counts calendar weeks from this one, if the phrase says the week."""

    weekday: int
    which: Which = "coming"
    week: int | None = None


class Dated(msgspec.Struct, frozen=True):
    """A day of the month; without month or year, the next one that is still to come.

    `relative_month` counts months from this one. `weekday` is what the phrase says besides, to be checked. `numeric`
    when day and month were two numbers, in an order the language decides or leaves open.
    """

    day: int
    month: int | None = None
    year: int | None = None
    relative_month: int | None = None
    weekday: int | None = None
    numeric: bool = False


class After(msgspec.Struct, frozen=True):
    """A length of time counted from now."""

    span: Span


Day = Near | Weekday | Dated | After | date


class Clock(msgspec.Struct, frozen=True):
    """An hour as said. `dial` when it may be before or after noon; `digital` when written as 7:30.

    24 is the midnight that ends the day. `custom` marks an hour that is our convention ("first thing").
    """

    hour: int
    minute: int = 0
    second: int = 0
    dial: bool = False
    digital: bool = False
    custom: bool = False


class Phrase(msgspec.Struct, kw_only=True):
    """Everything a phrase says; `words` holds, by slot, the words that said it."""

    words: dict[str, str]
    day: Day | None = None
    instant: datetime | None = None
    clock: Clock | None = None
    parts: list[Part] = []
    zone: ZoneInfo | None = None
    offset: timedelta | None = None
    unmarked: bool = False  # a length of time without "in"
