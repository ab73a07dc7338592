"""Events of a conversation: inputs (`conv.*.in`), decisions (`conv.*.log`), results (`conv.*.tool`)."""

from datetime import datetime
from typing import Literal

import msgspec

from shared.messages.base import Codec, Message
from shared.messages.parts import BlobRef, Opaque, Part
from shared.messages.routing import RouteDecision

TurnStatus = Literal["answered", "failed", "cancelled", "waiting"]
ResultStatus = Literal["ok", "error", "timeout", "unknown", "refused"]
SideEffects = Literal["none", "reversible", "irreversible"]


class UserMessage(Message, frozen=True, tag="input.user_message"):
    """Somebody wrote. `live` asks for token deltas on `live.<cid>`; `profile_of` borrows another's profile."""

    message_id: str
    user_id: str
    text: str
    sent_at: datetime
    source: str = "api"
    attachments: list[BlobRef | Opaque] = []
    profile: str = ""
    profile_of: str = ""
    live: bool = False


class ReminderDue(Message, frozen=True, tag="input.reminder_due"):
    """A reminder fired. `due_at` is when it should have, `late_s` how much later it did."""

    schedule_id: str
    user_id: str
    text: str
    due_at: datetime
    late_s: float = 0.0


class WorkflowReport(Message, frozen=True, tag="input.workflow_report"):
    """A workflow delivers its outcome into the conversation that owns its schedule."""

    run_id: str
    workflow: str
    user_id: str
    content: list[Part]
    at: datetime


class ApprovalGiven(Message, frozen=True, tag="input.approval_given"):
    """A person answered an `ApprovalRequested`."""

    approval_id: str
    user_id: str
    approved: bool
    at: datetime


class CancelRequested(Message, frozen=True, tag="input.cancel_requested"):
    """Somebody wants the running turn to stop; `turn_id` empty means whichever runs."""

    user_id: str
    at: datetime
    turn_id: str = ""


Input = UserMessage | ReminderDue | WorkflowReport | ApprovalGiven | CancelRequested


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one model call, or of a whole turn."""

    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(tokens_in=self.tokens_in + other.tokens_in, tokens_out=self.tokens_out + other.tokens_out)


class CallRequested(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call of a model reply.

    `arguments` is always a JSON object; what the model wrote instead, when it was none, is kept in `malformed`.
    `refused` says why the call is not dispatched at all (no such tool, arguments that are no object, too many).
    """

    call_id: str
    name: str
    group: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    malformed: str = ""
    refused: str = ""
    side_effects: SideEffects = "none"
    deadline_s: float = 30.0


class Action(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A receipt: a side-effecting call of this turn and how it ended."""

    call_id: str
    name: str
    status: ResultStatus
    summary: str = ""


class TurnStarted(Message, frozen=True, tag="log.turn_started"):
    """A turn begins, or (epoch > 1) is taken over after its owner went away.

    `inputs` are stream sequences of `conv.*.in`; `lease` is the one whose delivery the owner keeps in progress:
    its redelivery proves that the owner is gone. A borrowed profile holds for this turn only.
    """

    turn_id: str
    epoch: int
    owner: str
    lease: int
    inputs: list[int]
    at: datetime
    profile: str = "default"
    profile_rev: str = ""
    profile_borrowed: bool = False
    route: RouteDecision | None = None


class ModelReplied(Message, frozen=True, tag="log.model_replied"):
    """A model call that counts. Appended before its calls are dispatched.

    `inputs` are sequences of inputs that arrived mid-turn and were first shown to the model in this step. `unbacked`
    are its claims of actions that no call of the turn proves: such a reply is nobody's answer.
    """

    turn_id: str
    step: int
    model: str
    finish: str
    at: datetime
    content: list[Part] = []
    calls: list[CallRequested] = []
    inputs: list[int] = []
    usage: Usage = Usage()
    cost_usd: float = 0.0
    elapsed_s: float = 0.0
    attempts: int = 1
    unbacked: list[str] = []


class CallAbandoned(Message, frozen=True, tag="log.call_abandoned"):
    """The coordinator stopped waiting for a call; a result that comes later is not used."""

    turn_id: str
    call_id: str
    reason: str
    at: datetime


class ApprovalRequested(Message, frozen=True, tag="log.approval_requested"):
    """A call waits for a person; the turn is parked."""

    turn_id: str
    approval_id: str
    call_id: str
    at: datetime
    expires_at: datetime


class Redacted(Message, frozen=True, tag="log.redacted"):
    """Part `part` of the event at `target_seq` is no longer rendered; the note stands in its place."""

    target_seq: int
    part: int
    note: str
    reason: str
    at: datetime


class TurnEnded(Message, frozen=True, tag="log.turn_ended"):
    """The one end of a turn. Covers `inputs`; holds the final model reply, so that both are one message.

    `calls` is how many tool calls the turn made, `actions` the receipts of those with side effects.
    """

    turn_id: str
    status: TurnStatus
    answer: str
    inputs: list[int]
    at: datetime
    final: ModelReplied | None = None
    actions: list[Action] = []
    calls: int = 0
    usage: Usage = Usage()
    cost_usd: float = 0.0
    models_tried: list[str] = []
    reason: str = ""
    error_ref: str = ""


LogEvent = TurnStarted | ModelReplied | CallAbandoned | ApprovalRequested | Redacted | TurnEnded


class ToolFinished(Message, frozen=True, tag="tool.finished"):
    """How a tool call ended. Of several for one call, readers take the first.

    `unknown`: a side-effecting call whose worker died; it may or may not have happened and is not run again.
    `full_ref` names the uncut output for `read_result` when `truncated`.
    """

    call_id: str
    turn_id: str
    name: str
    status: ResultStatus
    at: datetime
    content: list[Part] = []
    full_ref: str = ""
    truncated: bool = False
    elapsed_s: float = 0.0
    worker: str = ""


ConversationEvent = Input | LogEvent | ToolFinished

inputs: Codec[Input] = Codec(Input)
events: Codec[ConversationEvent] = Codec(ConversationEvent)
