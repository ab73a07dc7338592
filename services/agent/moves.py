"""What a turn does next, decided from what the log says and nothing else."""

from datetime import datetime
from typing import Literal

import msgspec

from shared.conversation.fold import Turn
from shared.messages.conversation import CallRequested, Usage
from shared.profiles import TurnLimits

LimitName = Literal["steps", "tokens", "wall", "cost"]


class AskModel(msgspec.Struct, frozen=True):
    """Call the model. On the last step allowed it may not call tools, so that it answers with what it has.

    `correct`: its last reply claimed what no tool did, and it is told so.
    """

    step: int
    last: bool
    correct: bool = False


class AwaitCalls(msgspec.Struct, frozen=True):
    """Dispatch these calls (again, after a take-over: jobs are stored once per call) and wait for their outcomes."""

    calls: list[CallRequested]


class StopAtLimit(msgspec.Struct, frozen=True):
    """A limit is reached: end the turn with what was done."""

    limit: LimitName


Move = AskModel | AwaitCalls | StopAtLimit


def next_move(turn: Turn, limits: TurnLimits, *, now: datetime) -> Move:
    """The next move of a running turn. Calls under way are waited for even past a limit: their outcome is owed."""
    if turn.pending:
        return AwaitCalls(turn.pending)
    limit = limit_reached(turn, limits, now=now)
    if limit is not None:
        return StopAtLimit(limit)
    step = len(turn.replies) + 1
    correct = bool(turn.replies and turn.replies[-1].unbacked)
    return AskModel(step, last=step == limits.steps and step > 1, correct=correct)


def may_correct(turn: Turn, limits: TurnLimits) -> bool:
    """Whether a false claim in the next reply may be put right by the model: once per turn, if a step is left."""
    return len(turn.replies) + 1 < limits.steps and not any(reply.unbacked for reply in turn.replies)


def limit_reached(turn: Turn, limits: TurnLimits, *, now: datetime) -> LimitName | None:
    """The first limit a turn has reached, if any."""
    spent = usage_of(turn)
    if len(turn.replies) >= limits.steps:
        return "steps"
    if spent.tokens_in + spent.tokens_out >= limits.tokens:
        return "tokens"
    if (now - turn.started_at).total_seconds() >= limits.wall_s:
        return "wall"
    if limits.cost_usd and cost_of(turn) >= limits.cost_usd:
        return "cost"
    return None


def usage_of(turn: Turn) -> Usage:
    """Tokens of all model calls of a turn."""
    return sum((reply.usage for reply in turn.replies), Usage())


def cost_of(turn: Turn) -> float:
    """USD spent on model calls of a turn."""
    return sum(reply.cost_usd for reply in turn.replies)
