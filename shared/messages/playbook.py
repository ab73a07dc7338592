"""Events of the playbook (`playbook.<scope>`). Only the first step of the pipeline exists so far: capture."""

from datetime import datetime

import msgspec

from shared.messages.base import Codec, Message


class StudiedTurn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished turn worth studying: where it is, which tools it used and how their calls ended."""

    turn_id: str
    ended_seq: int
    tools: list[str]
    failed: list[str] = []


class TurnsCaptured(Message, frozen=True, tag="playbook.turns_captured"):
    """Finished turns of one user in one conversation, coalesced over a window, queued to be learned from."""

    capture_id: str
    user_id: str
    conversation_id: str
    turns: list[StudiedTurn]
    at: datetime


PlaybookEvent = TurnsCaptured
events: Codec[PlaybookEvent] = Codec(PlaybookEvent)
