"""How a turn ends: the one event that covers its inputs, whatever the reason."""

from services.agent import answers, metrics
from services.agent.dispatch import Dispatcher
from services.agent.ports import Ports
from services.agent.receipts import actions_of
from services.agent.render import History
from shared import ids
from shared.conversation.fold import Turn
from shared.conversation.log import ConversationLog
from shared.logs import get_logger
from shared.messages.conversation import ModelReplied, TurnEnded, TurnStatus, Usage
from shared.model.errors import ModelError
from shared.profiles import Profile

logger = get_logger()


class Ending:
    """Appends `TurnEnded` for the turns of one conversation."""

    def __init__(
        self, ports: Ports, log: ConversationLog, history: History, dispatcher: Dispatcher, profile: Profile
    ) -> None:
        self._ports = ports
        self._log = log
        self._history = history
        self._dispatcher = dispatcher
        self._profile = profile

    async def answered(self, turn: Turn, answer: str, *, final: ModelReplied | None = None, reason: str = "") -> None:
        """End with an answer; `final` is the model reply that gave it."""
        await self._append(turn, "answered", answer, final=final, reason=reason)

    async def cancelled(self, turn: Turn) -> None:
        """End because somebody asked to; running tools are asked to stop."""
        await self._abandon(turn, "cancelled")
        await self._append(turn, "cancelled", answers.cancelled(self._profile.language, turn), reason="cancelled")

    async def refused(self, turn: Turn) -> None:
        """End because the model's provider refused to answer; said plainly, and not rendered as dialogue later."""
        await self._append(turn, "failed", answers.say(self._profile.language, "model_refused"), reason="refused")

    async def failed(self, turn: Turn, exc: Exception) -> None:
        """End with an honest answer and a reference that leads to the log line."""
        ref = ids.uuid7()[-8:]
        language = self._profile.language
        if isinstance(exc, ModelError):
            answer, reason = answers.model_failure(language, exc, ref), f"{type(exc).__name__}: {exc.gist}"
            logger.warning("turn.model_failed", turn_id=turn.turn_id, error_ref=ref, error=reason)
        else:
            answer, reason = answers.failure(language, turn, ref), repr(exc)
            logger.error("turn.failed", turn_id=turn.turn_id, error_ref=ref, exc_info=exc)
        await self._abandon(turn, "turn_failed")
        await self._append(turn, "failed", answer, reason=reason[:500], error_ref=ref)

    async def _abandon(self, turn: Turn, reason: str) -> None:
        for call in turn.pending:
            await self._dispatcher.abandon(turn, call, reason)

    async def _append(
        self,
        turn: Turn,
        status: TurnStatus,
        answer: str,
        *,
        final: ModelReplied | None = None,
        reason: str = "",
        error_ref: str = "",
    ) -> None:
        state = self._log.state
        cancel = state.cancel_requested(turn)
        replies = [*turn.replies, *([final] if final else [])]
        event = TurnEnded(
            turn_id=turn.turn_id,
            status=status,
            answer=answer,
            inputs=[*turn.inputs, *(final.inputs if final else []), *([cancel] if cancel else [])],
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
