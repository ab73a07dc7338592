"""Which passages a search finds, and in which order."""

from datetime import UTC, datetime

import pytest

from services.tools.groups.memory.search import Passage, passage_in, query_words, rank
from shared.direct import StoredMessage
from shared.messages.base import encode
from shared.messages.conversation import ReminderDue, TurnEnded, UserMessage

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("¿Qué te dije del dentista?", ["dije", "dentista"]),
        ("DENTISTA, dentista", ["dentista"]),
        ("el té", ["el", "te"]),
        ("Camión español", ["camion", "espanol"]),
        ("a.b/c", ["a", "b", "c"]),
        ("", []),
        ("¿?", []),
    ],
)
def test_a_query_is_its_telling_words(query: str, expected: list[str]) -> None:
    assert query_words(query) == expected


def passages(*texts: str) -> list[Passage]:
    return [Passage(seq, "user", text, AT) for seq, text in enumerate(texts, 1)]


@pytest.mark.parametrize(
    ("texts", "query", "expected"),
    [
        (["el dentista es el lunes", "compra pan"], "dentista", [1]),
        (["dentista", "Dentista", "DENTISTA lunes"], "dentista", [3, 2, 1]),
        (["dentista lunes", "dentista"], "dentista lunes", [1, 2]),
        (["dentista"], "dentista lunes martes", []),
        (["dentista lunes"], "dentista lunes martes", [1]),
        (["la camión"], "camion", [1]),
        (["nada"], "dentista", []),
        (["nada"], "¿?", []),
        ([], "dentista", []),
    ],
)
def test_passages_with_most_of_the_words_come_first_then_the_newest(
    texts: list[str], query: str, expected: list[int]
) -> None:
    assert [p.seq for p in rank(passages(*texts), query_words(query))] == expected


def stored(data: bytes) -> StoredMessage:
    return StoredMessage(7, "conv.c.in", data, {}, "")


def ended(status: str) -> bytes:
    return encode(TurnEnded(turn_id="1-t", status=status, answer="listo", inputs=[1], at=AT))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (encode(UserMessage(message_id="m", user_id="ana", text="hola", sent_at=AT)), ("user", "hola")),
        (encode(UserMessage(message_id="m", user_id="luis", text="hola", sent_at=AT)), ("luis", "hola")),
        (ended("answered"), ("assistant", "listo")),
        (ended("failed"), None),
        (ended("cancelled"), None),
        (encode(ReminderDue(schedule_id="r", user_id="ana", text="pan", due_at=AT)), None),
        (b'{"type":"input.sticker"}', None),
        (b"not json", None),
        (b'{"type":"input.user_message"}', None),
    ],
)
def test_only_what_people_wrote_and_we_answered_can_be_found(data: bytes, expected: tuple[str, str] | None) -> None:
    found = passage_in(stored(data), "ana")
    assert (None if found is None else (found.said_by, found.text)) == expected
