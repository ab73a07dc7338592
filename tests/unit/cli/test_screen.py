"""What the chat shows of a stream of events."""

import io
from typing import Any

import pytest

from cli.api import ServerEvent
from cli.screen import Screen
from cli.texts import load_texts

Event = tuple[str, dict[str, Any]]
NOTED = [{"call_id": "1", "name": "note_save", "status": "ok"}]


def delta(text: str, step: int = 1) -> Event:
    return "delta", {"turn_id": "t", "step": step, "text": text}


def answer(text: str, turn_id: str = "t", **more: Any) -> Event:
    return "answer", {"turn_id": turn_id, "status": "answered", "answer": text, "actions": [], **more}


def tool(name: str) -> Event:
    return "tool_started", {"turn_id": "t", "call_id": "1", "name": name, "arguments": {}}


def message(user: str, text: str) -> Event:
    return "message", {"role": "user", "user_id": user, "text": text}


def shown(*events: Event) -> str:
    out = io.StringIO()
    screen = Screen(load_texts("en"), user="ana", out=out)
    for name, data in events:
        screen.show(ServerEvent(name, data))
    return out.getvalue()


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([delta("Ho"), delta("la"), answer("Hola")], "Hola\n"),
        ([delta("Hola"), answer("Hola, y más")], "Hola, y más\n"),
        ([answer("Hola"), answer("Hola")], "Hola\n"),
        ([answer("Hola"), delta("Ho")], "Hola\n"),
        ([answer("a"), answer("b", turn_id="u")], "a\nb\n"),
        ([delta("Voy"), tool("note_save"), delta("Ya", 2), answer("Ya")], "Voy\n  … note_save\nYa\n"),
        ([answer("Ya", actions=NOTED)], "Ya\n✓ note_save\n"),
        ([delta("medio"), ("reset", {"turn_id": "t", "step": 1}), delta("todo"), answer("todo")],
         "medio\n(the answer starts again)\ntodo\n"),
        ([delta("otra"), answer("cosa")], "otra\ncosa\n"),
        ([("failed", {"turn_id": "t", "status": "failed", "answer": "", "actions": []})], "failed\n"),
        ([message("ana", "mío"), message("luis", "suyo")], "luis: suyo\n"),
        ([delta("\x1b[2Jborra"), answer("\x1b[2Jborra")], "[2Jborra\n"),
    ],
    ids=[
        "text as it comes", "the rest of an answer", "an answer heard twice", "text after its answer", "two turns",
        "text before a tool", "receipts", "a reply that starts again", "an answer unlike its text", "no answer",
        "other people", "no escape sequences",
    ],
)  # fmt: skip
def test_events_are_shown(events: list[Event], expected: str) -> None:
    assert shown(*events) == expected


def test_only_the_first_news_of_an_end_counts() -> None:
    screen = Screen(load_texts("en"), user="ana", out=io.StringIO())
    events = [ServerEvent(*event) for event in (delta("Ho"), answer("Hola"), answer("Hola"))]
    assert [screen.show(event) for event in events] == [False, True, False]
