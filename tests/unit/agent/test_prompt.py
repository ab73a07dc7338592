"""The words around a conversation: identity first, clock on each message."""

from datetime import UTC, datetime

import pytest

from services.agent import prompt
from shared.profiles import Profile

AT = datetime(2026, 12, 1, 0, 5, tzinfo=UTC)


def test_the_identity_comes_first_and_word_for_word() -> None:
    profile = Profile(identity="Soy {Jada} %s.\n\n- breve", user_facts="Vive en Cali", language="es")
    system = prompt.system_prompt(profile)
    assert system.startswith("Soy {Jada} %s.\n\n- breve\n\nReglas:\n")
    assert system.endswith("Lo que sabes de la persona:\nVive en Cali")


def test_without_identity_or_facts_the_rules_stand_alone() -> None:
    system = prompt.system_prompt(Profile(language="en"))
    assert system.startswith("Rules:\n")
    assert "What you know" not in system


def test_the_same_profile_gives_the_same_bytes() -> None:
    profile = Profile(identity="Soy Jada.")
    assert prompt.system_prompt(profile) == prompt.system_prompt(profile)


@pytest.mark.parametrize(
    ("language", "zone", "expected"),
    [
        ("es", "America/Bogota", "[lunes 2026-11-30 19:05 America/Bogota]"),
        ("en", "America/Bogota", "[Monday 2026-11-30 19:05 America/Bogota]"),
        ("es", "UTC", "[martes 2026-12-01 00:05 UTC]"),
        ("en", "Asia/Kathmandu", "[Tuesday 2026-12-01 05:50 Asia/Kathmandu]"),
    ],
)
def test_a_message_carries_the_time_it_was_written_on_the_profiles_clock(
    language: str, zone: str, expected: str
) -> None:
    profile = Profile(language=language, time_zone=zone)  # type: ignore[arg-type]
    assert prompt.stamp(AT, profile) == expected


def test_braces_in_what_a_note_quotes_are_text() -> None:
    assert prompt.note("es", "reminder_due", text="{n} {0}") == "[venció un recordatorio: {n} {0}]"
