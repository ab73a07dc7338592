"""Which dates a day of a phrase can be, the first first, on a given today."""

from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from shared.when import civil
from shared.when.errors import Refusal
from shared.when.moment import date_words
from shared.when.phrase import Dated, Near, Weekday
from shared.when.words import Lexicon


def dates(day: Near | Weekday | Dated | date, today: date, lexicon: Lexicon, words: tuple[str, ...]) -> list[date]:
    """The dates that `day`, said in `words`, can be: none, or several when the first may be past.

    Refusal if it has two readings.

    - A weekday is its next occurrence; today counts only with an hour that is still to come, and never for "que
      viene" and "próximo".
    - English "next friday" is the one of the calendar week (Monday first) after this one.
    - A day of the month is the next such day; a day and month, of the next year that has it.
    """
    match day:
        case Near(days=days):
            return [today + timedelta(days=days)]
        case Weekday():
            return _weekday(day, today)
        case Dated():
            return list(_dated(_ordered(day, today, lexicon, words), today))
    return [day]


def _weekday(day: Weekday, today: date) -> list[date]:
    if day.week is not None or day.which == "next_week":
        return [civil.week_of(today, 1 if day.week is None else day.week, day.weekday)]
    first = today + timedelta(days=(day.weekday - today.weekday()) % 7)
    later = first + timedelta(days=7)
    return [later] if first == today and day.which == "after" else [first, later]


def _dated(day: Dated, today: date) -> Iterable[date]:
    if day.relative_month is not None:
        start, _ = civil.add_months(today.replace(day=1), day.relative_month)
        return _one(start.year, start.month, day.day)
    if day.month is None:
        return civil.monthly(today, day.day)
    if day.year is None:
        return civil.yearly(today, day.month, day.day)
    return _one(day.year, day.month, day.day)


def _one(year: int, month: int, day: int) -> list[date]:
    return [date(year, month, day)] if civil.exists(year, month, day) else []


def _ordered(said: Dated, today: date, lexicon: Lexicon, words: tuple[str, ...]) -> Dated:
    """Which number of "12/5" is the month; if both orders are dates, the weekday said may decide."""
    if not said.numeric or lexicon.day_first or said.month is None:
        return said
    swapped = msgspec.structs.replace(said, day=said.month, month=said.day)
    firsts = [(order, on) for order in (said, swapped) for on in list(_dated(order, today))[:1]]
    fitting = [(order, on) for order, on in firsts if on.weekday() == said.weekday] or firsts
    if len({on for _, on in fitting}) > 1:
        first, second = (date_words(on, lexicon.texts) for _, on in fitting)
        raise Refusal("ambiguous", words, reading_1=first, reading_2=second)
    return fitting[0][0] if fitting else said
