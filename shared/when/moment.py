"""The result of reading a phrase, and how it is told."""

from datetime import date, datetime
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from shared.when.words import Language, Texts, lexicon


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A moment to come.

    `at` is in UTC; `local` is the same instant on the clocks of `zone`, the zone asked for or the one the phrase
    names. `kind` is "date", and `all_day` true, when no hour was said: then `at` is the first instant of that day,
    for today already gone. `assumed` says, in the language of the phrase, each thing that was not said but taken.
    """

    at: datetime
    local: datetime
    zone: str
    kind: Literal["instant", "date"]
    all_day: bool
    assumed: list[str] = []


def describe(moment: Moment, language: Language) -> str:
    """The absolute local time in words: "martes 1 de diciembre de 2026, 19:05 (America/Bogota)".

    `parse` reads it back. Where clocks show the hour twice the offset is added: "(Europe/Madrid, UTC+02:00)".
    """
    texts = lexicon(language).texts
    local = moment.at.astimezone(ZoneInfo(moment.zone))  # a moment that was stored lost the name of its zone
    if moment.kind == "date":
        return f"{date_words(local.date(), texts)} ({moment.zone})"
    offset = (
        "" if local.utcoffset() == local.replace(fold=1 - local.fold).utcoffset() else f", UTC{local.isoformat()[-6:]}"
    )
    return f"{date_words(local.date(), texts)}, {clock_words(local)} ({moment.zone}{offset})"


def date_words(day: date, texts: Texts) -> str:
    """A date in words: "martes 1 de diciembre de 2026"."""
    weekday, month = texts.weekdays[day.weekday()], texts.months[day.month - 1]
    return texts.date.format(weekday=weekday, day=day.day, month=month, year=day.year)


def clock_words(local: datetime) -> str:
    """The 24-hour clock, with seconds only if there are some."""
    return f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
