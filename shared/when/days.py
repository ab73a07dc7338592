"""Days: "hoy", "el viernes que viene", "5 de diciembre", "December 5th", "5/12/2026", "the 15th", "in 2 days"."""

from datetime import date
from typing import cast

import msgspec

from shared.when import clocks
from shared.when.cursor import Cursor
from shared.when.phrase import Dated, Day, Near, Weekday, Which
from shared.when.words import Lexicon


def day(cursor: Cursor, lexicon: Lexicon, *, article: bool) -> Day | None:
    """A day. A number alone is a day of the month only after an `article`."""
    iso = cursor.take("iso", date)
    if iso is not None:
        return iso
    near = cursor.take("day", int)
    if near is not None:
        return Near(near)
    return (
        cursor.attempt(lambda here: _weekday_and_date(here, lexicon))
        or cursor.attempt(_weekday)
        or cursor.attempt(_soon)
        or (cursor.attempt(_day_of_month) if article else None)
    )


def _weekday_and_date(cursor: Cursor, lexicon: Lexicon) -> Dated | None:
    """Viernes 5 de diciembre; el próximo viernes 5; friday the 5th."""
    if cursor.take("which", str) == "next_week":
        return None
    weekday = cursor.take("weekday", int)
    if weekday is None:
        return None
    article = cursor.skip("article")
    said = cursor.attempt(_date)
    if said is None and (article or lexicon.weekday_takes_day):
        said = cursor.attempt(_day_of_month)
    return None if said is None else msgspec.structs.replace(said, weekday=weekday)


def _weekday(cursor: Cursor) -> Weekday | None:
    """Viernes, próximo viernes, el viernes que viene, el viernes de la próxima semana, next week friday."""
    week = cursor.take("week", int)
    before = cursor.take("which", str) if week is None else None
    if week is not None:
        cursor.skip("lead", "article")
    weekday = cursor.take("weekday", int)
    if weekday is None:
        return None
    after = cursor.take("which", str) if before is None else None
    if week is None and before is None and after is None:
        week = cursor.take("week", int)
    return Weekday(weekday, cast("Which", before or after or "coming"), week)


def _soon(cursor: Cursor) -> Dated | None:
    """A date, or one said to be near: "el próximo 5 de diciembre"."""
    which = cursor.take("which", str)
    if which == "next_week":
        return None
    return cursor.attempt(_date) or (cursor.attempt(_day_of_month) if which else None)


def _date(cursor: Cursor) -> Dated | None:
    return cursor.attempt(_numeric) or cursor.attempt(_day_month) or cursor.attempt(_month_day)


def _numeric(cursor: Cursor) -> Dated | None:
    """5/12/2026, 5-12-2026, 5.12.2026, 5/12, 2026/12/5; two numbers alone are a date only with a slash."""
    first = cursor.take("digits", str)
    separator = cursor.separator("/-.")
    second = cursor.take("digits", str) if separator else None
    if first is None or separator is None or second is None or len(second) > 2:
        return None
    third = cursor.take("digits", str) if cursor.separator(separator) else None
    if len(first) == 4:
        return Dated(int(third), int(second), int(first)) if third and len(third) <= 2 else None
    if len(first) > 2 or cursor.sees("sep") or (third is None and separator != "/"):
        return None
    if third is None:
        return Dated(int(first), int(second), numeric=True)
    if len(third) not in {2, 4}:
        return None
    year = int(third) + (2000 if len(third) == 2 else 0)
    return Dated(int(first), int(second), year, numeric=True)


def _day_month(cursor: Cursor) -> Dated | None:
    """5 de diciembre de 2026, 5 dic, 5th of December 2026, primero de enero."""
    number = cursor.attempt(_day_number)
    if number is None:
        return None
    cursor.skip("of")
    month = cursor.take("month", int)
    return None if month is None else Dated(number, month, cursor.attempt(_year))


def _month_day(cursor: Cursor) -> Dated | None:
    """December 5th, 2026; diciembre 5."""
    month = cursor.take("month", int)
    if month is None:
        return None
    cursor.skip("article")
    number = cursor.attempt(_day_number)
    if number is None or clocks.follows_number(cursor):
        return None
    return Dated(number, month, cursor.attempt(_year))


def _year(cursor: Cursor) -> int | None:
    if not cursor.skip("of"):
        cursor.skip("article")  # "del 2026"
    digits = cursor.take("digits", str)
    return int(digits) if digits and len(digits) == 4 and not cursor.sees("sep") else None


def _day_of_month(cursor: Cursor) -> Dated | None:
    """15, 15th of next month; the month is the next one in which that day is still to come."""
    number = cursor.attempt(_day_number)
    if number is None or clocks.follows_number(cursor):
        return None
    return Dated(number, relative_month=cursor.take("relative_month", int))


def _day_number(cursor: Cursor) -> int | None:
    ordinal = cursor.take("ordinal", int)
    if ordinal is not None:
        return ordinal
    number = cursor.take("number", int)
    cursor.skip("suffix")
    return number
