"""One turn, from its start in the log to its end: the loop of moves and their effects."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from services.agent import answers, metrics, render
from services.agent.arrivals import steering_inputs
from services.agent.dispatch import Dispatcher
from services.agent.listening import Listening
from services.agent.moves import AskModel, AwaitCalls, StopAtLimit, next_move
from services.agent.ports import Ports
from services.agent.receipts import actions_of
from shared import ids, subjects
from shared.conversation.fold import Turn
from shared.conversation.log import ConversationLog
from shared.errors import Retryable
from shared.logs import get_logger
from shared.messages.conversation import ModelReplied, ReminderDue, TurnEnded, TurnStatus, Usage, UserMessage
from shared.messages.live import Delta, Reset
from shared.messages.parts import Text
from shared.model.errors import ModelError, TooLong
from shared.model.types import ChatReply, ChatRequest
from shared.profiles import Profile

T = TypeVar("T")
logger = get_logger()


class _Cancelled(Exception):
    """A cancel request was heard."""


class TurnRunner:
    """Runs the open turn of one conversation to its end.

    Every effect is an append or a job, in an order in which a crash between any two of them resumes: a reply is in
    the log before its calls are dispatched, and the end before the inputs are acknowledged.
    """

    def __init__(
        self, ports: Ports, log: ConversationLog, history: render.History, listening: Listening, profile: Profile
    ) -> None:
        self._ports = ports
        self._log = log
        self._history = history
        self._listening = listening
        self._profile = profile
        self._dispatcher = Dispatcher(ports, log, listening, profile)

    async def run(self) -> None:
        """Run until the turn has ended. Raises `Retryable` (fence lost, broker away) to be resumed by redelivery."""
        turn = self._turn
        if turn.epoch > self._ports.settings.agent.max_epochs:
            await self._fail(RuntimeError(f"taken over {turn.epoch - 1} times without coming to an end"))
            return
        try:
            await self._loop(turn)
        except _Cancelled:
            await self._end_cancelled()
        except Retryable:
            raise
        except ModelError as exc:
            await self._fail(exc)
        except Exception as exc:  # noqa: BLE001 - any fault of ours ends the turn with an answer, never silently
            await self._fail(exc)

    @property
    def _turn(self) -> Turn:
        turn = self._log.state.open
        if turn is None:
            raise RuntimeError("no open turn")
        return turn

    async def _loop(self, turn: Turn) -> None:
        due = [e for e in (self._log.state.inputs.get(seq) for seq in turn.first_inputs) if isinstance(e, ReminderDue)]
        if due:
            await self._end("answered", answers.reminder(self._profile.language, due), reason="reminder")
            return
        while self._log.state.open is turn:
            await self._raise_if_cancelled(turn)
            match next_move(turn, self._profile.limits, now=self._ports.clock()):
                case AwaitCalls(calls):
                    await self._dispatcher.run(turn, calls)
                case StopAtLimit(limit):
                    metrics.LIMITS.labels(limit).inc()
                    answer = answers.at_limit(self._profile.language, turn, self._profile.limits, limit)
                    await self._end("answered", answer, reason=f"limit:{limit}")
                case AskModel() as move:
                    await self._ask(turn, move)

    async def _raise_if_cancelled(self, turn: Turn) -> None:
        if self._listening.new_input:
            self._listening.new_input = False
            await self._log.refresh_inputs()
        if self._log.state.cancel_requested(turn):
            raise _Cancelled
        self._listening.cancel.clear()

    async def _ask(self, turn: Turn, move: AskModel) -> None:
        steering = steering_inputs(self._log.state, turn, self._profile)
        began = time.monotonic()
        reply = await self._complete(turn, move, steering)
        elapsed = time.monotonic() - began
        metrics.MODEL_SECONDS.observe(elapsed)
        metrics.MODEL_TOKENS.labels("in").inc(reply.usage.tokens_in)
        metrics.MODEL_TOKENS.labels("out").inc(reply.usage.tokens_out)
        metrics.MODEL_COST.inc(reply.cost_usd)
        event = self._replied(turn, move.step, reply, steering, elapsed)
        if event.calls:
            await self._log.append(event, event_id=f"{turn.turn_id}.{turn.epoch}.replied.{move.step}")
        elif reply.finish == "refused":
            await self._end("failed", answers.say(self._profile.language, "model_refused"), reason="refused")
        else:
            await self._end("answered", reply.text, final=event)

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

    async def _complete(self, turn: Turn, move: AskModel, steering: Sequence[int]) -> ChatReply:
        """The model's reply; once more with a quarter of the history when the provider says it is too long."""
        try:
            return await self._call_model(turn, move, self._render(move, steering))
        except TooLong:
            return await self._call_model(turn, move, self._render(move, steering, budget_share=0.25))

    def _render(self, move: AskModel, steering: Sequence[int], *, budget_share: float = 1.0) -> ChatRequest:
        route = self._turn.route
        return render.request(
            self._log.state,
            self._history,
            profile=self._profile,
            tools=self._ports.toolbox().specs(route.groups if route else []),
            max_tokens=self._ports.settings.model.max_output,
            steering=steering,
            last=move.last,
            budget_share=budget_share,
        )

    async def _call_model(self, turn: Turn, move: AskModel, request: ChatRequest) -> ChatReply:
        subject = subjects.live(self._log.state.conversation_id)

        async def on_delta(text: str) -> None:
            await self._ports.bus.publish(subject, Delta(turn_id=turn.turn_id, step=move.step, text=text))

        async def on_reset() -> None:
            await self._ports.bus.publish(subject, Reset(turn_id=turn.turn_id, step=move.step))

        left_s = self._profile.limits.wall_s - (self._ports.clock() - turn.started_at).total_seconds()
        streamed = self._somebody_watches(turn)
        try:
            reply = await self._unless_cancelled(
                self._ports.model.complete(
                    request,
                    timeout_s=max(1.0, min(self._ports.settings.model.timeout_s, left_s)),
                    on_delta=on_delta if streamed else None,
                    on_reset=on_reset if streamed else None,
                )
            )
        except ModelError as exc:
            metrics.MODEL_CALLS.labels(type(exc).__name__).inc()
            raise
        metrics.MODEL_CALLS.labels("ok").inc()
        return reply

    def _somebody_watches(self, turn: Turn) -> bool:
        """Token deltas are made only for turns whose sender asked for them: streaming costs several times as much."""
        events = (self._log.state.inputs.get(seq) for seq in turn.inputs)
        return any(isinstance(event, UserMessage) and event.live for event in events)

    async def _unless_cancelled(self, work: Awaitable[T]) -> T:
        task = asyncio.ensure_future(work)
        heard = asyncio.ensure_future(self._listening.cancel.wait())
        try:
            while not task.done():
                await asyncio.wait({task, heard}, return_when=asyncio.FIRST_COMPLETED)
                if heard.done() and not task.done():
                    await self._raise_if_cancelled(self._turn)
                    heard = asyncio.ensure_future(self._listening.cancel.wait())
            return await task
        finally:
            task.cancel()
            heard.cancel()

    async def _end_cancelled(self) -> None:
        turn = self._turn
        for call in turn.pending:
            await self._dispatcher.abandon(turn, call, "cancelled")
        await self._end("cancelled", answers.cancelled(self._profile.language, turn), reason="cancelled")

    async def _fail(self, exc: Exception) -> None:
        """End the turn with an honest answer and a reference that leads to the log line."""
        ref = ids.uuid7()[-8:]
        turn = self._turn
        language = self._profile.language
        if isinstance(exc, ModelError):
            answer, reason = answers.model_failure(language, exc, ref), f"{type(exc).__name__}: {exc.gist}"
            logger.warning("turn.model_failed", turn_id=turn.turn_id, error_ref=ref, error=reason)
        else:
            answer, reason = answers.failure(language, turn, ref), repr(exc)
            logger.error("turn.failed", turn_id=turn.turn_id, error_ref=ref, exc_info=exc)
        for call in turn.pending:
            await self._dispatcher.abandon(turn, call, "turn_failed")
        await self._end("failed", answer, reason=reason[:500], error_ref=ref)

    async def _end(
        self,
        status: TurnStatus,
        answer: str,
        *,
        final: ModelReplied | None = None,
        reason: str = "",
        error_ref: str = "",
    ) -> None:
        turn = self._turn
        state = self._log.state
        covered = [*turn.inputs, *(final.inputs if final else [])]
        cancel = state.cancel_requested(turn)
        replies = [*turn.replies, *([final] if final else [])]
        event = TurnEnded(
            turn_id=turn.turn_id,
            status=status,
            answer=answer,
            inputs=[*covered, cancel] if cancel else covered,
            at=self._ports.clock(),
            final=final,
            actions=actions_of(turn),
            calls=len(turn.calls),
            usage=sum((reply.usage for reply in replies), Usage()),
            cost_usd=sum(reply.cost_usd for reply in replies),
            models_tried=list(dict.fromkeys(reply.model for reply in replies)),
            reason=reason,
            error_ref=error_ref,
        )
        self._history.trim(state, self._profile)
        await self._log.append(event, event_id=f"{turn.turn_id}.{turn.epoch}.ended")
        metrics.TURNS.labels(status).inc()
        metrics.TURN_SECONDS.observe(max(0.0, (event.at - turn.started_at).total_seconds()))
