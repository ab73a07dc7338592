"""A conversation told as it happens: stored events and live text in, the events of a stream out. Pure.

Live text overtakes the log it belongs to, and the log overtakes live text; told is always in the order of the turn.
"""

from collections import OrderedDict

import msgspec

from services.agent.api.shapes import View
from services.agent.api.views import message_view, takes
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

_MAX_STEPS_HELD = 8
_MAX_CHARS_HELD = 100_000


class Accepted(View, frozen=True):
    """The message is stored; `turn_url` leads to its turn."""

    message_id: str
    input_seq: int
    turn_url: str
    status: str = "accepted"


class Routed(View, frozen=True):
    """A turn began with these tool groups."""

    turn_id: str
    layer: str
    groups: list[str]
    tier: str


class Stepped(View, frozen=True):
    """A model call ended and counts."""

    turn_id: str
    step: int
    model: str


class LiveDelta(View, frozen=True):
    """More text of the answer being written."""

    turn_id: str
    step: int
    text: str


class LiveReset(View, frozen=True):
    """The text shown for this step is void."""

    turn_id: str
    step: int


class ToolStarted(View, frozen=True):
    """A tool call is on its way."""

    turn_id: str
    call_id: str
    name: str
    arguments: msgspec.Raw


class ToolEnded(View, frozen=True):
    """A tool call ended, or is no longer waited for."""

    turn_id: str
    call_id: str
    name: str
    status: str
    elapsed_s: float


class Told(msgspec.Struct, frozen=True):
    """One event of the stream. Without a body it is the end of turn `turn_id`, and its body is the turn's view."""

    name: str
    body: View | None
    turn_id: str = ""


class _Held(msgspec.Struct):
    reset: bool = False
    text: str = ""


class LiveText:
    """Live text not told yet, joined by step: who is slow gets larger pieces. Beyond the bound it is dropped."""

    def __init__(self) -> None:
        self._steps: OrderedDict[tuple[str, int], _Held] = OrderedDict()

    def add(self, event: Delta | Reset) -> None:
        """Keep a piece of text; a reset voids what is held of its step."""
        key = (event.turn_id, event.step)
        held = self._steps.setdefault(key, _Held())
        if isinstance(event, Reset):
            held.reset, held.text = True, ""
        else:
            held.text = (held.text + event.text)[:_MAX_CHARS_HELD]
        while len(self._steps) > _MAX_STEPS_HELD:
            self._steps.popitem(last=False)

    def take(self) -> list[Delta | Reset]:
        """Everything held, which is then forgotten."""
        taken: list[Delta | Reset] = []
        for (turn_id, step), held in self._steps.items():
            if held.reset:
                taken.append(Reset(turn_id=turn_id, step=step))
            if held.text:
                taken.append(Delta(turn_id=turn_id, step=step, text=held.text))
        self._steps.clear()
        return taken


class Narrator:
    """Tells one turn, the one that takes the input at `only_seq`; or, with 0, everything in a conversation."""

    def __init__(self, *, only_seq: int = 0) -> None:
        self._only_seq = only_seq
        self._turn_id = ""
        self._step = 0
        self._running: dict[str, CallRequested] = {}
        self._early = LiveText()

    def resume(self, turn: Turn) -> None:
        """Go on with a turn that is under way."""
        self._turn_id, self._step = turn.turn_id, len(turn.replies)
        self._running = {call.call_id: call for call in turn.pending}

    def hear(self, event: Delta | Reset) -> list[Told]:
        """What to tell of a piece of live text: it is kept while its time has not come, dropped when it is over."""
        if event.turn_id == self._turn_id and event.step <= self._step:
            return []
        if event.turn_id != self._turn_id or event.step > self._step + 1 or self._running:
            self._early.add(event)
            return []
        if isinstance(event, Reset):
            return [Told("reset", LiveReset(turn_id=event.turn_id, step=event.step))]
        return [Told("delta", LiveDelta(turn_id=event.turn_id, step=event.step, text=event.text))]

    def tell(self, seq: int, event: ConversationEvent | Unknown) -> list[Told]:
        """What to tell of a stored event; they come in the order of the stream."""
        told = self._find_own(event)
        match event:
            case UserMessage() if not self._only_seq and (shown := message_view(seq, event)):
                told.append(Told("message", shown))
            case TurnStarted():
                told += self._start(event)
            case ModelReplied() if event.turn_id == self._turn_id:
                told += self._reply(event)
            case ToolFinished():
                told += self._outcome(event.call_id, event.status, event.elapsed_s)
            case CallAbandoned():
                call = self._running.get(event.call_id)
                told += self._outcome(event.call_id, "unknown" if call and call.side_effects != "none" else "timeout")
            case TurnEnded() if event.turn_id == self._turn_id:
                told += self._end(event)
            case _:
                pass
        return told + self._hear_again()

    def _find_own(self, event: ConversationEvent | Unknown) -> list[Told]:
        """Notice that a running turn takes the input that is followed: its message joined at this step."""
        turn_id = takes(event, self._only_seq) if self._only_seq else ""
        if not turn_id or turn_id == self._turn_id or isinstance(event, TurnStarted):
            return []
        reply = event.final if isinstance(event, TurnEnded) else event
        self._turn_id = turn_id
        self._step = reply.step - 1 if isinstance(reply, ModelReplied) else 0
        return self._hear_again()

    def _start(self, event: TurnStarted) -> list[Told]:
        if event.turn_id == self._turn_id:
            # Taken over: what its first owner was saying is said again from the start of the step.
            return [Told("reset", LiveReset(turn_id=event.turn_id, step=self._step + 1))]
        if self._only_seq and self._only_seq not in event.inputs:
            return []
        self._turn_id, self._step, self._running = event.turn_id, 0, {}
        route = event.route
        return [
            Told(
                "routed",
                Routed(
                    turn_id=event.turn_id,
                    layer=route.layer if route else "fixed",
                    groups=route.groups if route else [],
                    tier=route.tier if route else "fast",
                ),
            )
        ]

    def _reply(self, event: ModelReplied) -> list[Told]:
        self._step = event.step
        calls = [call for call in event.calls if not call.refused]
        self._running |= {call.call_id: call for call in calls}
        return [Told("step", Stepped(turn_id=event.turn_id, step=event.step, model=event.model))] + [
            Told(
                "tool_started",
                ToolStarted(turn_id=event.turn_id, call_id=call.call_id, name=call.name, arguments=call.arguments),
            )
            for call in calls
        ]

    def _outcome(self, call_id: str, status: str, elapsed_s: float = 0.0) -> list[Told]:
        call = self._running.pop(call_id, None)
        if call is None:
            return []  # of another turn, or a second result: the first one counts
        ended = ToolEnded(turn_id=self._turn_id, call_id=call_id, name=call.name, status=status, elapsed_s=elapsed_s)
        return [Told("tool_finished", ended)]

    def _end(self, event: TurnEnded) -> list[Told]:
        told = self._reply(event.final) if event.final is not None else []
        self._turn_id, self._step, self._running = "", 0, {}
        name = "answer" if event.status in ("answered", "waiting") else "failed"
        return [*told, Told(name, None, event.turn_id)]

    def _hear_again(self) -> list[Told]:
        return [told for event in self._early.take() for told in self.hear(event)]
