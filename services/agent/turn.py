"""One turn, from its start in the log to its end: the loop of moves and their effects."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import msgspec

from services.agent import answers, metrics, render
from services.agent.arrivals import steering_inputs
from services.agent.asking import Asking
from services.agent.claim_check import unbacked_claims
from services.agent.dispatch import Dispatcher
from services.agent.ending import Ending
from services.agent.listening import Listening
from services.agent.moves import AskModel, AwaitCalls, StopAtLimit, may_correct, next_move
from services.agent.ports import Ports
from shared.conversation.fold import Turn
from shared.conversation.log import ConversationLog
from shared.errors import Retryable
from shared.messages.conversation import ModelReplied, ReminderDue
from shared.messages.parts import plain_text
from shared.profiles import Profile

T = TypeVar("T")


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
        self._listening = listening
        self._profile = profile
        self._dispatcher = Dispatcher(ports, log, listening, profile)
        self._asking = Asking(ports, log, history, profile)
        self._ending = Ending(ports, log, history, self._dispatcher, profile)

    async def run(self, turn: Turn) -> None:
        """Run until the turn has ended. Raises `Retryable` (fence lost, broker away) to be resumed by redelivery."""
        if turn.epoch > self._ports.settings.agent.max_epochs:
            await self._ending.failed(turn, RuntimeError(f"taken over {turn.epoch - 1} times without an end"))
            return
        try:
            await self._loop(turn)
        except _Cancelled:
            await self._ending.cancelled(turn)
        except Retryable:
            raise
        except Exception as exc:  # noqa: BLE001 - any fault ends the turn with an answer, never silently
            await self._ending.failed(turn, exc)

    async def _loop(self, turn: Turn) -> None:
        due = [e for e in (self._log.state.inputs.get(seq) for seq in turn.first_inputs) if isinstance(e, ReminderDue)]
        if due:
            await self._ending.answered(turn, answers.reminder(self._profile.language, due), reason="reminder")
        while turn.ended is None:
            await self._raise_if_cancelled(turn)
            match next_move(turn, self._profile.limits, now=self._ports.clock()):
                case AwaitCalls(calls):
                    await self._dispatcher.run(turn, calls)
                case StopAtLimit(limit):
                    metrics.LIMITS.labels(limit).inc()
                    answer = answers.at_limit(self._profile.language, turn, self._profile.limits, limit)
                    await self._ending.answered(turn, answer, reason=f"limit:{limit}")
                case AskModel() as move:
                    await self._ask(turn, move)

    async def _ask(self, turn: Turn, move: AskModel) -> None:
        steering = steering_inputs(self._log.state, turn, self._profile)
        replied = await self._unless_cancelled(turn, self._asking.ask(turn, move, steering))
        if replied.calls:
            await self._log.append(replied, event_id=f"{turn.turn_id}.{turn.epoch}.replied.{move.step}")
        elif replied.finish == "refused":
            await self._ending.refused(turn)
        else:
            await self._answer(turn, replied)

    async def _answer(self, turn: Turn, replied: ModelReplied) -> None:
        """End with the model's answer, unless it claims what the log does not contain: then it is corrected, once.

        What it claims again is replaced by the truth if it is certain, and passes if it is only implied.
        """
        found = unbacked_claims(turn, self._log.state, plain_text(replied.content))
        correct = may_correct(turn, self._profile.limits)
        if found is None or not (correct or found.certain):
            await self._ending.answered(turn, plain_text(replied.content), final=replied)
            return
        await self._asking.void(turn, replied.step)
        if correct:
            metrics.FALSE_CLAIMS.labels("corrected").inc()
            marked = msgspec.structs.replace(replied, unbacked=found.sentences)
            await self._log.append(marked, event_id=f"{turn.turn_id}.{turn.epoch}.replied.{replied.step}")
            return
        metrics.FALSE_CLAIMS.labels("replaced").inc()
        marked = msgspec.structs.replace(replied, content=[], unbacked=found.sentences)
        answer = answers.unbacked(self._profile.language, turn)
        await self._ending.answered(turn, answer, final=marked, reason="unbacked_claim")

    async def _raise_if_cancelled(self, turn: Turn) -> None:
        if self._listening.new_input:
            self._listening.new_input = False
            await self._log.refresh_inputs()
        if self._log.state.cancel_requested(turn):
            raise _Cancelled
        self._listening.cancel.clear()

    async def _unless_cancelled(self, turn: Turn, work: Awaitable[T]) -> T:
        task = asyncio.ensure_future(work)
        heard = asyncio.ensure_future(self._listening.cancel.wait())
        try:
            while not task.done():
                await asyncio.wait({task, heard}, return_when=asyncio.FIRST_COMPLETED)
                if heard.done() and not task.done():
                    await self._raise_if_cancelled(turn)
                    heard = asyncio.ensure_future(self._listening.cancel.wait())
            return await task
        finally:
            task.cancel()
            heard.cancel()
