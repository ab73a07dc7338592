"""Moments in natural Spanish and English, read by an explicit grammar that understands all of a phrase or refuses.

The rules for what is not said stand where they are applied: hours in `hours`, days in `calendar_days`, clock changes
in `civil`. Whatever is taken without being said is told in `Moment.assumed`; a time of day is never invented from
the present one, except where a length of time in days asks for it ("in 2 weeks").
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal, TypeVar
from zoneinfo import ZoneInfo

from shared.text import clean
from shared.when.errors import NotUnderstood, Reason, Refusal
from shared.when.grammar import read, read_span
from shared.when.moment import Moment, describe
from shared.when.resolve import Resolver
from shared.when.tokens import tokenize
from shared.when.words import LANGUAGES, Language, Texts, lexicon

__all__ = ["MAX_LENGTH", "Moment", "NotUnderstood", "Reason", "describe", "parse", "parse_duration"]

MAX_LENGTH = 200

T = TypeVar("T")


def parse(text: str, *, now: datetime, zone: str, language: Literal["es", "en", ""] = "") -> Moment:
    """The moment that `text` names, seen at `now` (aware) by somebody in `zone` (an IANA name).

    Without a `language` both are tried; a phrase that one of them finds ambiguous, or that they read differently, is
    refused. NotUnderstood if any word is not understood, or the phrase names no one moment to come within ten years.
    """
    if now.tzinfo is None:
        raise ValueError("now needs a time zone")
    here = ZoneInfo(zone)

    def read_in(chosen: Language) -> Moment:
        words = lexicon(chosen)
        return Resolver(read(tokenize(clean(text), words), words), now, here, words).moment()

    found = _try(text, language, read_in, lambda texts: texts.remedy)
    first, last = found[0], found[-1]
    if (first.at, first.kind) != (last.at, last.kind):
        readings = {"reading_1": describe(first, "es"), "reading_2": describe(last, "en")}
        raise Refusal("ambiguous", (text,), **readings).told(text, lexicon("es"), lexicon("es").texts.remedy)
    return first


def parse_duration(text: str, *, language: Literal["es", "en", ""] = "") -> timedelta:
    """The length of time that `text` names: "20 minutos", "hora y media", "1h30", "90s".

    A day is 24 hours; months and years have no one length. NotUnderstood as for `parse`.
    """

    def read_in(chosen: Language) -> timedelta:
        span = read_span(tokenize(clean(text), lexicon(chosen)))
        if span.months:
            raise Refusal("no_length", (text,))
        return timedelta(days=span.days, seconds=span.seconds)

    return _try(text, language, read_in, lambda texts: texts.duration_remedy)[0]


def _try(text: str, language: str, read_in: Callable[[Language], T], remedy: Callable[[Texts], str]) -> list[T]:
    """What `text` means in each language asked for that understands it; NotUnderstood if none does."""
    languages = [known for known in LANGUAGES if language in {"", known}]
    if not languages:
        raise ValueError(f"no language {language!r}")
    found: list[T] = []
    refusals: list[tuple[Refusal, Language]] = []
    for known in languages:
        try:
            if len(text) > MAX_LENGTH:
                raise Refusal("too_long", limit=str(MAX_LENGTH))  # noqa: TRY301 - told like any other refusal
            found.append(read_in(known))
        except Refusal as refusal:
            refusals.append((refusal, known))
    ambiguous = [pair for pair in refusals if pair[0].reason == "ambiguous"]
    if found and not ambiguous:
        return found
    closest, known = min(ambiguous or refusals, key=lambda pair: (pair[0].reason == "unknown", len(pair[0].words)))
    remedies = " ".join(remedy(lexicon(tried).texts) for tried in languages)
    raise closest.told(text, lexicon(known), remedies)
