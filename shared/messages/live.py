"""Transient progress on `live.<cid>`: never stored, nobody may depend on it."""

from shared.messages.base import Codec, Message


class Delta(Message, frozen=True, tag="live.delta"):
    """More text of the answer being written."""

    turn_id: str
    step: int
    text: str


class Reset(Message, frozen=True, tag="live.reset"):
    """The text shown for this step is void: the model call failed half way and is made again."""

    turn_id: str
    step: int


class Progress(Message, frozen=True, tag="live.progress"):
    """A tool says how far it is."""

    turn_id: str
    call_id: str
    text: str


Live = Delta | Reset | Progress
events: Codec[Live] = Codec(Live)
