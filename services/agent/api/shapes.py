"""The JSON that callers get, as structs."""

from datetime import datetime
from typing import Literal

import msgspec

from shared.messages.conversation import ResultStatus, TurnStatus
from shared.messages.routing import Matched

Status = Literal["accepted", "running", "answered", "failed", "cancelled", "waiting"]
CallStatus = Literal["running", "ok", "error", "timeout", "unknown", "refused"]
FINAL: frozenset[Status] = frozenset({"answered", "failed", "cancelled", "waiting"})


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what is shown: every field is always there. Times are UTC, durations seconds."""


class UsageView(View, frozen=True):
    """Tokens read and written by models."""

    tokens_in: int
    tokens_out: int


class ActionView(View, frozen=True):
    """A receipt: a call with side effects and how it ended."""

    call_id: str
    name: str
    status: ResultStatus


class RouteView(View, frozen=True):
    """Why these tool groups were offered."""

    layer: str
    groups: list[str]
    tier: str
    scores: dict[str, float]
    matched: list[Matched]
    elapsed_us: float
    reason: str


class CallView(View, frozen=True):
    """A tool call. `refused` says why it was not run; `full_ref` names the uncut result when `truncated`."""

    call_id: str
    name: str
    group: str
    arguments: msgspec.Raw
    status: CallStatus
    elapsed_s: float
    refused: str
    truncated: bool
    full_ref: str


class StepView(View, frozen=True):
    """One model call that counted."""

    step: int
    model: str
    finish: str
    text: str
    elapsed_s: float
    attempts: int
    usage: UsageView
    cost_usd: float
    calls: list[CallView]


class TurnView(View, frozen=True):
    """A whole turn: from the inputs it answers to its answer. `turn_id` is empty while it has not begun."""

    turn_id: str
    conversation_id: str
    status: Status
    answer: str
    actions: list[ActionView]
    route: RouteView | None
    steps: list[StepView]
    usage: UsageView
    cost_usd: float
    models_tried: list[str]
    reason: str
    error_ref: str
    profile: str
    epoch: int
    inputs: list[int]
    started_at: datetime | None
    ended_at: datetime | None


class FileView(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="blob"):
    """A stored file, in the form in which it is attached to a message. Sides are 0 for what is no image."""

    sha256: str
    media_type: str
    bytes: int
    name: str
    width: int
    height: int


class MessageView(View, frozen=True):
    """One message as people see it. The last three are empty for those of users, `user_id` for those of Jada."""

    seq: int
    role: Literal["user", "assistant"]
    user_id: str
    text: str
    attachments: list[FileView]
    at: datetime
    turn_id: str
    status: TurnStatus | None
    actions: list[ActionView]


class EventView(View, frozen=True):
    """One event as it is stored; its fields are those of docs/subjects.md."""

    seq: int
    kind: str
    event: msgspec.Raw
