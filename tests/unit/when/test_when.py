"""Phrases and what they mean, in tables beside this file: the clock and the zone are always given."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shared.when import MAX_LENGTH, NotUnderstood, describe, parse, parse_duration

BOGOTA = "America/Bogota"
MONDAY = datetime(2026, 11, 30, 10, 0, tzinfo=ZoneInfo(BOGOTA))


def table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def phrases(language: str) -> list[tuple[str, str, str, str]]:
    return [
        (text, means, scene["now"], scene["zone"])
        for scene in table(f"{language}.toml")["scene"]
        for text, means in scene["means"].items()
    ]


def at(local: str, zone: str) -> datetime:
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone))


def check(text: str, means: str, now: str, zone: str, language: Any) -> None:
    moment = parse(text, now=at(now, zone), zone=zone, language=language)
    kind = "instant" if "T" in means else "date"
    assert (datetime.fromisoformat(means), kind) == (moment.local.replace(tzinfo=None), moment.kind)
    assert moment.at == moment.local
    assert moment.at.tzinfo is UTC
    assert moment.all_day is (kind == "date")


@pytest.mark.parametrize(("text", "means", "now", "zone"), phrases("es"))
def test_a_spanish_phrase_means_what_the_table_says(text: str, means: str, now: str, zone: str) -> None:
    check(text, means, now, zone, "es")


@pytest.mark.parametrize(("text", "means", "now", "zone"), phrases("en"))
def test_an_english_phrase_means_what_the_table_says(text: str, means: str, now: str, zone: str) -> None:
    check(text, means, now, zone, "en")


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_tables_are_large(language: str) -> None:
    assert len(phrases(language)) >= 150


@pytest.mark.parametrize("case", table("clock_changes.toml")["case"], ids=lambda case: f"{case['zone']} {case['text']}")
def test_where_clocks_change_the_first_instant_that_exists_is_meant_and_told(case: dict[str, str]) -> None:
    moment = parse(case["text"], now=at(case["now"], case["zone"]), zone=case["zone"])
    assert at(case["utc"], "UTC") == moment.at
    if case["assumed"]:
        assert any(case["assumed"] in told for told in moment.assumed)
    else:
        assert moment.assumed == []


@pytest.mark.parametrize(
    ("language", "text", "reason", "words"),
    [
        (language, text, reason, words)
        for language, rows in table("refused.toml").items()
        for text, reason, *words in rows
    ],
)
def test_what_is_not_understood_is_refused_with_its_words(
    language: Any, text: str, reason: str, words: list[str]
) -> None:
    with pytest.raises(NotUnderstood) as refused:
        parse(text, now=MONDAY, zone=BOGOTA, language=language)
    assert (reason, tuple(words)) == (refused.value.reason, refused.value.words)
    assert all(word in refused.value.detail for word in words) or reason in {"past", "too_far", "incomplete"}
    assert refused.value.remedy in str(refused.value)


@pytest.mark.parametrize(
    ("language", "text", "assumed"),
    [(language, text, told) for language, rows in table("assumed.toml").items() for text, told in rows.items()],
)
def test_what_was_not_said_is_told_in_the_language_of_the_phrase(language: Any, text: str, assumed: list[str]) -> None:
    assert assumed == parse(text, now=MONDAY, zone=BOGOTA, language=language).assumed


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("mañana a las 9", "2026-12-01T09:00"),
        ("tomorrow at 9", "2026-12-01T09:00"),
        ("next friday", "2026-12-11T00:00"),
        ("7pm", "2026-11-30T19:00"),
        ("25/12/2026", "2026-12-25T00:00"),
        ("5/12 a las 9:00", "2026-12-05T09:00"),
    ],
)
def test_without_a_language_both_are_tried(text: str, means: str) -> None:
    assert at(means, BOGOTA) == parse(text, now=MONDAY, zone=BOGOTA).local


@pytest.mark.parametrize(("text", "language"), [("hoy a las 8", "es"), ("today at 8:30", "en"), ("esta tarde", "es")])
def test_an_hour_of_today_is_never_moved_to_tomorrow(text: str, language: Any) -> None:
    with pytest.raises(NotUnderstood) as refused:
        parse(text, now=MONDAY.replace(hour=21), zone=BOGOTA, language=language)
    assert refused.value.reason == "past"


def test_without_a_language_a_date_that_one_language_finds_ambiguous_is_refused_with_both_readings() -> None:
    with pytest.raises(NotUnderstood) as refused:
        parse("5/12/2027", now=MONDAY, zone=BOGOTA)
    assert refused.value.reason == "ambiguous"
    assert refused.value.readings == ("Sunday 5 December 2027", "Wednesday 12 May 2027")


def test_without_a_language_the_refusal_of_the_language_that_understood_more_is_told() -> None:
    with pytest.raises(NotUnderstood) as refused:
        parse("tomorrow at 8 with Ann", now=MONDAY, zone=BOGOTA)
    assert refused.value.detail == 'I do not understand "with Ann" in "tomorrow at 8 with Ann".'


def test_a_refusal_is_a_rejection_with_a_remedy_in_each_language_tried() -> None:
    with pytest.raises(NotUnderstood) as refused:
        parse("cuando puedas", now=MONDAY, zone=BOGOTA, language="")
    assert refused.value.code == "time_not_understood"
    assert "Formas que sirven" in refused.value.remedy
    assert "Forms that work" in refused.value.remedy


def test_a_text_over_the_limit_is_refused_and_one_at_the_limit_is_read() -> None:
    padding = " " * (MAX_LENGTH - len("mañana"))
    assert parse(f"mañana{padding}", now=MONDAY, zone=BOGOTA).kind == "date"
    with pytest.raises(NotUnderstood) as refused:
        parse(f"mañana{padding} ", now=MONDAY, zone=BOGOTA)
    assert refused.value.reason == "too_long"


def test_the_zone_a_phrase_names_is_the_zone_of_the_moment() -> None:
    moment = parse("mañana a las 8:00 (Asia/Tokyo)", now=MONDAY, zone=BOGOTA, language="es")
    assert moment.zone == "Asia/Tokyo"
    assert at("2026-12-02T08:00", "Asia/Tokyo") == moment.at  # there it is the first of December already


def test_a_now_without_zone_and_an_unknown_language_are_errors_of_the_caller() -> None:
    with pytest.raises(ValueError, match="time zone"):
        parse("hoy", now=datetime(2026, 11, 30, 10, 0), zone=BOGOTA)  # noqa: DTZ001
    with pytest.raises(ValueError, match="language"):
        parse("hoy", now=MONDAY, zone=BOGOTA, language="fr")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language", "told"),
    [
        ("mañana a las 19:05", "es", "martes 1 de diciembre de 2026, 19:05 (America/Bogota)"),
        ("mañana a las 19:05", "en", "Tuesday 1 December 2026, 19:05 (America/Bogota)"),
        ("el sábado", "es", "sábado 5 de diciembre de 2026 (America/Bogota)"),
        ("en 90 segundos", "en", "Monday 30 November 2026, 10:01:30 (America/Bogota)"),
    ],
)
def test_a_moment_is_described_in_absolute_local_words(text: str, language: Any, told: str) -> None:
    assert told == describe(parse(text, now=MONDAY, zone=BOGOTA, language="es"), language)


def test_an_hour_that_happens_twice_is_described_with_its_offset() -> None:
    now = at("2026-10-24T12:00", "Europe/Madrid")
    first = parse("mañana a las 02:30", now=now, zone="Europe/Madrid", language="es")
    second = parse("2026-10-25T02:30:00+01:00", now=now, zone="Europe/Madrid", language="es")
    assert describe(first, "es") == "domingo 25 de octubre de 2026, 02:30 (Europe/Madrid, UTC+02:00)"
    assert describe(second, "es") == "domingo 25 de octubre de 2026, 02:30 (Europe/Madrid, UTC+01:00)"


@pytest.mark.parametrize(("text", "seconds"), table("durations.toml")["means"].items())
def test_a_length_of_time_is_read_in_either_language(text: str, seconds: int) -> None:
    assert timedelta(seconds=seconds) == parse_duration(text)


@pytest.mark.parametrize(("text", "refusal"), table("durations.toml")["refused"].items())
def test_what_is_no_length_of_time_is_refused_with_its_words(text: str, refusal: list[str]) -> None:
    with pytest.raises(NotUnderstood) as refused:
        parse_duration(text)
    assert refusal == [refused.value.reason, *refused.value.words]
