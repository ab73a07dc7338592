"""Asking the model for a turn's next step."""

import time
from collections.abc import Sequence

from services.agent import metrics, render
from services.agent.moves import AskModel
from services.agent.ports import Ports
from shared import subjects
from shared.conversation.fold import Turn
from shared.conversation.log import ConversationLog
from shared.messages.conversation import ModelReplied, UserMessage
from shared.messages.live import Delta, Reset
from shared.messages.parts import Text
from shared.model.errors import ModelError, TooLong
from shared.model.types import ChatReply, ChatRequest
from shared.profiles import Profile

# The share of the history that is sent again after a provider said the request is too long.
_SMALLER = 0.25


class Asking:
    """Renders the log, calls the model, and turns its reply into the event that goes into the log."""

    def __init__(self, ports: Ports, log: ConversationLog, history: render.History, profile: Profile) -> None:
        self._ports = ports
        self._log = log
        self._history = history
        self._profile = profile

    async def ask(self, turn: Turn, move: AskModel, steering: Sequence[int]) -> ModelReplied:
        """The model's reply to the log as it is now, with the `steering` inputs shown. Raises `ModelError`."""
        began = time.monotonic()
        try:
            reply = await self._complete(turn, move, self._render(turn, move, steering))
        except TooLong:
            reply = await self._complete(turn, move, self._render(turn, move, steering, budget_share=_SMALLER))
        elapsed = time.monotonic() - began
        metrics.MODEL_SECONDS.observe(elapsed)
        metrics.MODEL_TOKENS.labels("in").inc(reply.usage.tokens_in)
        metrics.MODEL_TOKENS.labels("out").inc(reply.usage.tokens_out)
        metrics.MODEL_COST.inc(reply.cost_usd)
        return self._replied(turn, move.step, reply, steering, elapsed)

    def _render(self, turn: Turn, move: AskModel, steering: Sequence[int], *, budget_share: float = 1.0) -> ChatRequest:
        return render.request(
            self._log.state,
            self._history,
            profile=self._profile,
            tools=self._ports.toolbox().specs(turn.route.groups if turn.route else []),
            max_tokens=self._ports.settings.model.max_output,
            move=move,
            steering=steering,
            budget_share=budget_share,
        )

    async def _complete(self, turn: Turn, move: AskModel, request: ChatRequest) -> ChatReply:
        subject = subjects.live(self._log.state.conversation_id)

        async def on_delta(text: str) -> None:
            await self._ports.bus.publish(subject, Delta(turn_id=turn.turn_id, step=move.step, text=text))

        async def on_reset() -> None:
            await self._ports.bus.publish(subject, Reset(turn_id=turn.turn_id, step=move.step))

        left_s = self._profile.limits.wall_s - (self._ports.clock() - turn.started_at).total_seconds()
        streamed = self._somebody_watches(turn)
        try:
            reply = await self._ports.model.complete(
                request,
                timeout_s=max(1.0, min(self._ports.settings.model.timeout_s, left_s)),
                on_delta=on_delta if streamed else None,
                on_reset=on_reset if streamed else None,
            )
        except ModelError as exc:
            metrics.MODEL_CALLS.labels(type(exc).__name__).inc()
            raise
        metrics.MODEL_CALLS.labels("ok").inc()
        return reply

    async def void(self, turn: Turn, step: int) -> None:
        """Take back what was streamed of a step: it is not the answer."""
        if self._somebody_watches(turn):
            subject = subjects.live(self._log.state.conversation_id)
            await self._ports.bus.publish(subject, Reset(turn_id=turn.turn_id, step=step))

    def _somebody_watches(self, turn: Turn) -> bool:
        """Token deltas are made only for turns whose sender asked for them: streaming costs several times as much."""
        events = (self._log.state.inputs.get(seq) for seq in turn.inputs)
        return any(isinstance(event, UserMessage) and event.live for event in events)

    def _replied(
        self, turn: Turn, step: int, reply: ChatReply, steering: Sequence[int], elapsed_s: float
    ) -> ModelReplied:
        calls = self._ports.toolbox().resolve(
            reply.calls,
            turn_id=turn.turn_id,
            step=step,
            groups=turn.route.groups if turn.route else [],
            most=self._profile.limits.calls_per_step,
        )
        return ModelReplied(
            turn_id=turn.turn_id,
            step=step,
            model=reply.model,
            finish=reply.finish,
            at=self._ports.clock(),
            content=[Text(text=reply.text)] if reply.text else [],
            calls=calls,
            inputs=list(steering),
            usage=reply.usage,
            cost_usd=reply.cost_usd,
            elapsed_s=round(elapsed_s, 4),
            attempts=reply.attempts,
        )
