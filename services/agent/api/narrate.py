"""Stored events and live text as the events of a stream. Pure: who listens decides what becomes of them."""

import msgspec

from services.agent.api.reading import takes
from services.agent.api.shapes import MessageView, View
from services.agent.api.views import message_view
from shared.conversation.fold import Turn
from shared.messages.base import Unknown
from shared.messages.conversation import (
    CallAbandoned,
    CallRequested,
    ConversationEvent,
    ModelReplied,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from shared.messages.live import Delta, Reset


class Accepted(View, frozen=True, tag_field="event", tag="accepted"):
    """The message is stored."""

    message_id: str
    input_seq: int
    turn_url: str


class Routed(View, frozen=True, tag_field="event", tag="routed"):
    """A turn began, with these tool groups."""

    turn_id: str
    layer: str
    groups: list[str]
    tier: str


class Stepped(View, frozen=True, tag_field="event", tag="step"):
    """A model call ended and counts."""

    turn_id: str
    step: int
    model: str


"""
"""
