"""Events of one turn, `1-t` unless said otherwise."""

from collections.abc import Sequence
from typing import Any

import msgspec

from shared.messages.conversation import ModelReplied, ToolFinished, TurnEnded, TurnStarted, Usage
from shared.messages.parts import Text
from shared.messages.routing import RouteDecision
from tests.unit.agent.turns import AT, call


def plain(view: Any) -> Any:
    return msgspec.to_builtins(view)


def started(turn_id: str = "1-t", *inputs: int, epoch: int = 1) -> TurnStarted:
    route = RouteDecision(layer="keywords", groups=["notes"])
    return TurnStarted(
        turn_id=turn_id, epoch=epoch, owner="a", lease=1, inputs=list(inputs or (1,)), at=AT, route=route
    )


def replied(number: int, *calls: str, turn_id: str = "1-t", inputs: Sequence[int] = ()) -> ModelReplied:
    return ModelReplied(
        turn_id=turn_id,
        step=number,
        model="m",
        finish="calls" if calls else "stop",
        at=AT,
        content=[Text(text=f"text {number}")],
        calls=[call(name) for name in calls],
        inputs=list(inputs),
    )


def finished(call_id: str, turn_id: str = "1-t") -> ToolFinished:
    return ToolFinished(call_id=call_id, turn_id=turn_id, name=call_id, status="ok", at=AT, elapsed_s=0.5)


def ended(turn_id: str = "1-t", *inputs: int, status: Any = "answered", final: ModelReplied | None = None) -> TurnEnded:
    return TurnEnded(
        turn_id=turn_id,
        status=status,
        answer="listo",
        inputs=list(inputs or (1,)),
        at=AT,
        final=final,
        usage=Usage(tokens_in=5, tokens_out=2),
        models_tried=["m"],
    )
