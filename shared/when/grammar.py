"""A phrase is a row of clauses in any order: a day, an hour, parts of the day, a zone; each said once.

    phrase   = { lead } clause { { lead } clause }
    clause   = instant | "in" span | span "from now" | day | hour | part | zone | offset
    lead     = "at" (an hour follows) | article (a day follows) | "on", "for", "of" | "around"

Every token is read or the phrase is refused. A length of time without "in" must be the whole phrase.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from shared.when.clocks import clock
from shared.when.cursor import Cursor
from shared.when.days import day
from shared.when.errors import Refusal
from shared.when.phrase import After, Near, Phrase, Span
from shared.when.spans import span
from shared.when.tokens import Token, written
from shared.when.words import Lexicon, Part


class Lead(msgspec.Struct, frozen=True):
    """What the small words before a clause announce; `approx` holds the words that say "around"."""

    at: bool
    article: bool
    approx: str


def read(tokens: list[Token], lexicon: Lexicon) -> Phrase:
    """What the phrase says; Refusal with the words that could not be read."""
    cursor = _start(tokens)
    phrase = Phrase(words={})
    while not cursor.ended():
        start = cursor.at
        lead = _lead(cursor)
        clause = cursor.at
        if lead.approx:
            phrase.words["approx"] = lead.approx
        if cursor.ended():
            if lead.approx and clause - start == 1 and start > 0:
                break  # "a las 8 más o menos"
            raise Refusal("incomplete", cursor.words(start))
        slot = _clause(cursor, phrase, lexicon, lead)
        if slot is None:
            raise Refusal("misplaced", cursor.words(start))
        phrase.words[slot] = " ".join((phrase.words.get(slot, ""), *cursor.words(clause, cursor.at))).strip()
    return phrase


def read_span(tokens: list[Token]) -> Span:
    """The length of time that is the whole phrase; Refusal with the words that could not be read."""
    cursor = _start(tokens)
    said = cursor.attempt(span)
    if said is None or not cursor.ended():
        raise Refusal("misplaced", cursor.words(cursor.at))
    return said


def _start(tokens: list[Token]) -> Cursor:
    unknown = [token for token in tokens if not token.roles]
    if unknown or not tokens:
        raise Refusal("unknown" if unknown else "empty", written(unknown))
    return Cursor(tokens)


def _lead(cursor: Cursor) -> Lead:
    at = article = False
    approx = ""
    while cursor.sees("at", "article", "lead", "of", "approx"):
        at, article = cursor.sees("at"), cursor.sees("article")
        approx = cursor.words(cursor.at)[0] if cursor.sees("approx") else approx
        cursor.skip("at", "article", "lead", "of", "approx")
    return Lead(at, article, approx)


def _clause(cursor: Cursor, phrase: Phrase, lexicon: Lexicon, lead: Lead) -> str | None:
    """Read one clause into its slot, the name of which is returned; None if there is none here."""
    if not lead.at and phrase.day is None and phrase.instant is None and _day(cursor, phrase, lexicon, lead):
        return "day"
    if not lead.article and phrase.clock is None and phrase.instant is None:
        phrase.clock = clock(cursor, bare=lead.at or bool(lead.approx))
        if phrase.clock is not None:
            return "clock"
    if lead.at:
        return None
    if phrase.instant is None and _part(cursor, phrase):
        return "part"
    return "zone" if _zone(cursor, phrase) else None


def _day(cursor: Cursor, phrase: Phrase, lexicon: Lexicon, lead: Lead) -> bool:
    if phrase.clock is None and not phrase.parts:
        phrase.instant = cursor.take("instant", datetime)
    if phrase.instant is None:
        phrase.day = cursor.attempt(lambda here: _from_now(here, phrase)) or day(cursor, lexicon, article=lead.article)
    if phrase.instant is None and phrase.day is None and not phrase.words:
        phrase.day = cursor.attempt(_only_span)
        phrase.unmarked = phrase.day is not None
    return phrase.instant is not None or phrase.day is not None


def _from_now(cursor: Cursor, phrase: Phrase) -> After | None:
    """In 20 minutes, in about 20 minutes; 20 minutes from now."""
    marked = cursor.skip("in")
    approx = cursor.words(cursor.at)[0] if marked and cursor.sees("approx") else ""
    cursor.skip("approx")
    said = cursor.attempt(span)
    if said is None or not (marked or cursor.skip("from_now")):
        return None
    if approx:
        phrase.words["approx"] = approx
    return After(said)


def _only_span(cursor: Cursor) -> After | None:
    """20 minutos, and nothing else; "7h" and "1h30" are hours of the day."""
    if cursor.attempt(lambda here: clock(here, bare=False)) is not None:
        return None
    said = span(cursor)
    return After(said) if said is not None and cursor.ended() else None


def _part(cursor: Cursor, phrase: Phrase) -> bool:
    part = cursor.take("part", Part)
    if part is None and phrase.clock is not None:
        part = cursor.take("after_hour", Part)
    if part is None and (phrase.day is None or phrase.day == Near(0)):
        part = cursor.take("part_today", Part)
        phrase.day = phrase.day if part is None else Near(0)
    if part is not None:
        phrase.parts = [*phrase.parts, part]
    return part is not None


def _zone(cursor: Cursor, phrase: Phrase) -> bool:
    if phrase.zone is None:
        phrase.zone = cursor.take("zone", ZoneInfo)
        if phrase.zone is not None:
            return True
    if phrase.offset is None:
        phrase.offset = cursor.take("offset", timedelta)
        return phrase.offset is not None
    return False
