"""What a finished turn teaches the router, and what it must not."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from services.learner.routing_lessons import Lesson, routing_lesson
from shared.conversation.fold import Conversation
from shared.messages.conversation import CallRequested, ModelReplied, ToolFinished, TurnEnded, TurnStarted, UserMessage
from shared.messages.parts import BlobRef
from shared.messages.routing import RouteDecision

NOW = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
MESSAGE = UserMessage(message_id="m", user_id="ana", text="que no se me pase lo de Ana", sent_at=NOW)
STARTED = TurnStarted(
    turn_id="1-t",
    epoch=1,
    owner="o",
    lease=1,
    inputs=[1],
    at=NOW,
    route=RouteDecision(layer="all", groups=["notes", "reminders"]),
)
CALL = CallRequested(call_id="1-t.1.0", name="set_reminder", group="reminders")
REPLIED = ModelReplied(turn_id="1-t", step=1, model="m", finish="calls", at=NOW, calls=[CALL])
FINISHED = ToolFinished(call_id="1-t.1.0", turn_id="1-t", name="set_reminder", status="ok", at=NOW)
ENDED = TurnEnded(turn_id="1-t", status="answered", answer="hecho", inputs=[1], at=NOW)


def lesson(**changes: Any) -> Lesson | None:
    """The lesson of the turn above, with some of its events changed."""
    state = Conversation("c")
    events = {"message": MESSAGE, "started": STARTED, "replied": REPLIED, "finished": FINISHED, "ended": ENDED}
    for seq, event in enumerate({**events, **changes}.values(), 1):
        state.apply(seq, event)
    return routing_lesson(state.turns[0], state.inputs)


def test_an_utterance_nobody_could_place_is_learned_for_the_group_it_needed() -> None:
    assert lesson() == Lesson("reminders", "que no se me pase lo de Ana", "1-t")


def change(event: msgspec.Struct, **fields: Any) -> msgspec.Struct:
    return msgspec.structs.replace(event, **fields)


OTHER_CALL = CallRequested(call_id="1-t.1.1", name="note_save", group="notes")
UNTEACHABLE = {
    "the router had decided": {"started": change(STARTED, route=RouteDecision(layer="keywords", groups=["notes"]))},
    "no router was asked": {"started": change(STARTED, route=RouteDecision(layer="fixed", groups=["notes"]))},
    "the turn failed": {"ended": change(ENDED, status="failed")},
    "the call failed": {"finished": change(FINISHED, status="error")},
    "its outcome is unknown": {"finished": change(FINISHED, status="unknown")},
    "two groups were needed": {"replied": change(REPLIED, calls=[CALL, OTHER_CALL])},
    "no tool was needed": {"replied": change(REPLIED, calls=[])},
    "the message is long": {"message": change(MESSAGE, text="x" * 201)},
    "the message has several lines": {"message": change(MESSAGE, text="uno\ndos")},
    "the message is blank": {"message": change(MESSAGE, text="  ")},
    "the words are not alone": {
        "message": change(MESSAGE, attachments=[BlobRef(sha256="0" * 64, media_type="text/plain", bytes=1)])
    },
}


@pytest.mark.parametrize("changes", UNTEACHABLE.values(), ids=UNTEACHABLE.keys())
def test_nothing_is_learned_when(changes: dict[str, Any]) -> None:
    assert lesson(**changes) is None
