"""The pure fold: events of one conversation, in order, to the state that decisions are made from."""

import re
from datetime import datetime

import msgspec

from shared.messages.base import Unknown
from shared.messages.conversation import (
    ApprovalRequested,
    CallAbandoned,
    CallRequested,
    CancelRequested,
    ConversationEvent,
    Input,
    ModelReplied,
    Redacted,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from shared.messages.routing import RouteDecision

Outcome = ToolFinished | CallAbandoned
CHECKPOINT_HEADER = "Jada-Checkpoint"
_HEADER = re.compile("([0-9]{1,19}) ([0-9]{1,19}) ([0-9]{1,19}) ([0-9]{1,19})")


class Checkpoint(msgspec.Struct, frozen=True):
    """Where reading a conversation may start: all before `seq` is closed and outside what is rendered.

    `turns` and `tokens` count what lies before, so that a reader who starts here renders the same bytes. Turns that
    began before `log` are among them even if they began after `seq`: an older input may have waited for its turn.
    """

    seq: int = 1
    turns: int = 0
    tokens: int = 0
    log: int = 0

    def header(self) -> str:
        """The form that travels in the header of every log event."""
        return f"{self.seq} {self.turns} {self.tokens} {self.log}"

    @classmethod
    def from_header(cls, value: str) -> "Checkpoint":
        """The checkpoint in a header; the very beginning when there is none or it is not ours."""
        found = _HEADER.fullmatch(value)
        return cls(*(int(field) for field in found.groups())) if found else cls()


class Turn:
    """One turn as the log tells it. `started_seq` is the sequence of its first `TurnStarted`."""

    def __init__(self, seq: int, started: TurnStarted) -> None:
        self.turn_id = started.turn_id
        self.started_seq = seq
        self.started_at: datetime = started.at
        self.profile = started.profile
        self.profile_borrowed = started.profile_borrowed
        self.route: RouteDecision | None = started.route
        self.epoch = started.epoch
        self.owner = started.owner
        self.lease = started.lease
        self.first_inputs = list(started.inputs)
        self.replies: list[ModelReplied] = []
        self.reply_seqs: list[int] = []
        self.outcomes: dict[str, Outcome] = {}
        self.outcome_seqs: dict[str, int] = {}
        self.ended: TurnEnded | None = None
        self.ended_seq = 0

    @property
    def inputs(self) -> list[int]:
        """Every input the model has been shown in this turn, in order of arrival at it."""
        return self.first_inputs + [seq for reply in self.replies for seq in reply.inputs]

    @property
    def calls(self) -> list[CallRequested]:
        """Every call of the turn, in order."""
        return [call for reply in self.replies for call in reply.calls]

    @property
    def pending(self) -> list[CallRequested]:
        """Calls that were (or have to be) dispatched and have no outcome."""
        return [call for call in self.calls if not call.refused and call.call_id not in self.outcomes]


class Conversation:
    """What is known of a conversation. Changed by `apply` only; applying an event twice changes nothing."""

    def __init__(self, conversation_id: str, checkpoint: Checkpoint | None = None) -> None:
        self.conversation_id = conversation_id
        self.checkpoint = checkpoint or Checkpoint()
        self.fence = 0
        self.inputs_read_to = self.checkpoint.seq - 1
        self.inputs: dict[int, Input] = {}
        self.covered: set[int] = set()
        self.turns: list[Turn] = []
        self.open: Turn | None = None
        self.redactions: dict[tuple[int, int], Redacted] = {}
        self.profile = ""
        self.overlaps = 0

    def pending_inputs(self) -> list[int]:
        """Inputs that want an answer, in order: not covered, not in the open turn, and no cancel request."""
        taken = set(self.open.inputs) if self.open else set()
        return [
            seq
            for seq in sorted(self.inputs)
            if seq not in self.covered and seq not in taken and not isinstance(self.inputs[seq], CancelRequested)
        ]

    def cancel_requested(self, turn: Turn) -> int:
        """The sequence of a cancel request that is meant for `turn`, or 0."""
        for seq, event in self.inputs.items():
            if isinstance(event, CancelRequested) and seq not in self.covered:
                named = event.turn_id == turn.turn_id
                if named or (not event.turn_id and seq > max(turn.first_inputs, default=0)):
                    return seq
        return 0

    def users(self) -> set[str]:
        """Everybody who wrote, within what was read."""
        return {event.user_id for event in self.inputs.values() if isinstance(event, UserMessage)}

    def apply(self, seq: int, event: ConversationEvent | Unknown) -> None:
        """Fold one event. Log events arrive in order; inputs and results may come early or more than once."""
        match event:
            case TurnStarted() | ModelReplied() | CallAbandoned() | ApprovalRequested() | Redacted() | TurnEnded():
                if seq > self.fence:
                    self.fence = seq
                    self._apply_log(seq, event)
            case ToolFinished():
                self._apply_outcome(seq, event)
            case Unknown():
                if event.type.startswith("log."):
                    self.fence = max(self.fence, seq)
            case _:
                self.inputs.setdefault(seq, event)
                self.inputs_read_to = max(self.inputs_read_to, seq)

    def _apply_log(self, seq: int, event: ConversationEvent) -> None:
        match event:
            case TurnStarted():
                self._start(seq, event)
            case ModelReplied() if self._is_open(event.turn_id):
                self._reply(seq, event)
            case CallAbandoned():
                self._apply_outcome(seq, event)
            case Redacted():
                # The first one stands: what is rendered of a finished turn changes at most once.
                self.redactions.setdefault((event.target_seq, event.part), event)
            case TurnEnded():
                self._end(seq, event)
            case _:
                return

    def _start(self, seq: int, event: TurnStarted) -> None:
        if not event.profile_borrowed:
            self.profile = event.profile
        if seq < self.checkpoint.log:
            return
        if self.open is not None and self.open.turn_id == event.turn_id:
            self.open.epoch, self.open.owner, self.open.lease = event.epoch, event.owner, event.lease
            return
        if self.open is not None:
            self.overlaps += 1
        self.open = Turn(seq, event)
        self.turns.append(self.open)

    def _reply(self, seq: int, event: ModelReplied) -> None:
        if self.open is not None:
            self.open.replies.append(event)
            self.open.reply_seqs.append(seq)

    def _apply_outcome(self, seq: int, event: Outcome) -> None:
        for turn in reversed(self.turns):
            if turn.turn_id == event.turn_id:
                if turn.ended is None and event.call_id not in turn.outcomes:
                    turn.outcomes[event.call_id] = event
                if turn.outcomes.get(event.call_id) == event:
                    # A result heard before it was read comes without its sequence (0) first.
                    turn.outcome_seqs[event.call_id] = max(seq, turn.outcome_seqs.get(event.call_id, 0))
                return

    def _end(self, seq: int, event: TurnEnded) -> None:
        self.covered.update(event.inputs)
        if self.open is not None and self.open.turn_id == event.turn_id:
            if event.final is not None:
                self._reply(seq, event.final)
            self.open.ended, self.open.ended_seq = event, seq
            self.open = None

    def _is_open(self, turn_id: str) -> bool:
        return self.open is not None and self.open.turn_id == turn_id

    def forget_before(self, turns: int, tokens: int) -> None:
        """Drop the oldest `turns` ended turns, which held `tokens` tokens, and move the checkpoint past them."""
        dropped, self.turns = self.turns[:turns], self.turns[turns:]
        if not dropped:
            return
        needed = [min([t.started_seq, *t.inputs]) for t in self.turns]
        needed += self.pending_inputs()[:1]
        start = min(needed, default=self.fence + 1)
        self.checkpoint = Checkpoint(
            seq=start,
            turns=self.checkpoint.turns + len(dropped),
            tokens=self.checkpoint.tokens + tokens,
            log=self.turns[0].started_seq if self.turns else self.fence + 1,
        )
        self.inputs = {seq: e for seq, e in self.inputs.items() if seq >= start}
        self.covered = {seq for seq in self.covered if seq >= start}
