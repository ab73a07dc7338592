"""What holds for every phrase and every moment."""

import contextlib
import time
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from shared.when import Moment, NotUnderstood, describe, parse, parse_duration
from shared.when.words import LANGUAGES, Language, lexicon

ZONES = ["America/Bogota", "Europe/Madrid", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC", "Cuba"]
languages = st.sampled_from(LANGUAGES)
zones = st.sampled_from(ZONES)
nows = st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
words = sorted(
    {" ".join(phrase) for known in LANGUAGES for row in lexicon(known).phrases.values() for phrase, _ in row}
)
pieces = st.one_of(
    st.sampled_from(words), st.integers(0, 2100).map(str), st.sampled_from([":30", "/12", "h", "-", "º"])
)
like_phrases = st.lists(pieces, max_size=8).map(" ".join)


def moment(at: datetime, zone: str, kind: Literal["instant", "date"]) -> Moment:
    local = at.astimezone(ZoneInfo(zone))
    return Moment(at=at, local=local, zone=zone, kind=kind, all_day=kind == "date")


@given(now=nows, ahead=st.integers(1, 9 * 365 * 86_400), zone=zones, language=languages)
@example(now=datetime(2026, 10, 24, 12, tzinfo=UTC), ahead=45_000, zone="Europe/Madrid", language="es")
@example(now=datetime(2026, 10, 24, 12, tzinfo=UTC), ahead=48_600, zone="Europe/Madrid", language="en")
def test_an_instant_that_is_described_is_read_back(now: datetime, ahead: int, zone: str, language: Language) -> None:
    at = now.replace(microsecond=0) + timedelta(seconds=ahead)
    told = describe(moment(at, zone, "instant"), language)
    if at > now:
        read = parse(told, now=now, zone="America/Bogota", language=language)
        assert (at, zone, "instant") == (read.at, read.zone, read.kind)


@given(now=nows, ahead=st.integers(1, 9 * 365), zone=zones, language=languages)
def test_a_date_that_is_described_is_read_back(now: datetime, ahead: int, zone: str, language: Language) -> None:
    day = (now.astimezone(ZoneInfo(zone)) + timedelta(days=ahead)).date()
    meant = parse(day.isoformat(), now=now, zone=zone, language=language)
    read = parse(describe(meant, language), now=now, zone=zone, language=language)
    assert (meant.at, day, "date") == (read.at, read.local.date(), read.kind)


def outcome(text: str, now: datetime, zone: str, language: Literal["es", "en", ""]) -> NotUnderstood | Moment:
    try:
        return parse(text, now=now, zone=zone, language=language)
    except NotUnderstood as refused:
        return refused


@given(
    text=st.one_of(st.text(max_size=220), like_phrases),
    now=nows,
    zone=zones,
    language=st.sampled_from(["es", "en", ""]),
)
def test_any_text_is_a_moment_to_come_within_ten_years_or_refused_with_a_reason_and_a_remedy(
    text: str, now: datetime, zone: str, language: Literal["es", "en", ""]
) -> None:
    match outcome(text, now, zone, language):
        case Moment(at=at, kind=kind):
            assert kind == "date" or at > now
            assert timedelta(days=-2) < at - now < timedelta(days=3654)
        case NotUnderstood(detail=detail, remedy=remedy):
            assert detail
            assert remedy


@given(text=st.one_of(st.text(max_size=40), like_phrases))
def test_any_text_is_a_length_of_time_or_refused(text: str) -> None:
    with contextlib.suppress(NotUnderstood):
        assert parse_duration(text) >= timedelta(0)


@given(
    text=like_phrases, alien=st.sampled_from(["quizás", "perhaps", "x", "§", "tal vez"]), now=nows, language=languages
)
def test_a_word_that_is_not_known_is_never_passed_over(
    text: str, alien: str, now: datetime, language: Language
) -> None:
    refused = outcome(f"{text} {alien}"[-200:], now, "UTC", language)
    assert isinstance(refused, NotUnderstood)
    assert set(alien.split()) <= set(refused.words)


def test_a_moment_survives_json_and_is_still_described_in_its_zone() -> None:
    now = datetime(2026, 11, 30, 15, tzinfo=UTC)
    read = parse("mañana a las 19:05", now=now, zone="America/Bogota", language="es")
    stored = msgspec.json.decode(msgspec.json.encode(read), type=Moment)
    assert describe(read, "es") == describe(stored, "es")


def test_reading_takes_less_than_a_millisecond() -> None:
    now = datetime(2026, 11, 30, 15, tzinfo=UTC)
    text = "dentro de 3 días a las ocho menos cuarto de la tarde, por favor"
    best = min(_seconds(text, now) for _ in range(50))
    assert best < 0.001


def _seconds(text: str, now: datetime) -> float:
    start = time.perf_counter()
    parse(text, now=now, zone="America/Bogota")
    return time.perf_counter() - start
