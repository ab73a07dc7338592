"""The learner's edge to NATS. Nothing waits for it: turns end without it, and it catches up when it is back."""

import hashlib

from services.learner import metrics
from services.learner.capture import studied, worth_studying
from services.learner.routing_lessons import routing_lesson
from services.learner.windows import WindowKey, Windows
from shared import ids, subjects
from shared.clock import utc_now
from shared.conversation.fold import Checkpoint, Conversation, Turn
from shared.conversation.log import read_event
from shared.errors import Malformed
from shared.learned_examples import LearnedExamples
from shared.lifecycle import Context
from shared.logs import get_logger
from shared.messages import conversation as messages
from shared.messages import playbook
from shared.messages.conversation import TurnEnded
from shared.messages.playbook import TurnsCaptured
from shared.settle import Delivery
from shared.topology import learner_consumer
from shared.worker import Worker

log = get_logger()

_TURN_ENDED = b'"type":"log.turn_ended"'


class LearnerService:
    """Captures finished turns, each at most once, however often they are delivered."""

    name = "learner"

    def __init__(self, context: Context) -> None:
        self._bus = context.bus
        self._examples = LearnedExamples(context.bus)
        self._max_learned = context.settings.router.max_learned_per_group
        self._windows = Windows(self._capture, window_s=context.settings.learner.window_s)
        self._worker = Worker(
            context.bus,
            learner_consumer(context.settings),
            self._handle,
            concurrency=context.settings.learner.concurrency,
            wants=_ends_a_turn,
            every_s=context.settings.learner.pull_every_s,
        )

    async def start(self) -> None:
        """Begin to read finished turns."""
        await self._worker.start()

    async def stop(self, grace_s: float) -> None:
        """Stop at once: open windows take no harm, their turns are redelivered."""
        await self._windows.stop()
        await self._worker.stop(min(1.0, grace_s))

    def alive_at(self) -> float:
        """When the pull loop last made progress."""
        return self._worker.alive_at

    def problems(self) -> dict[str, str]:
        """Nothing keeps the learner from work but the bus."""
        return {}

    def degraded(self) -> dict[str, str]:
        """It depends on nothing it could work without."""
        return {}

    async def _handle(self, delivery: Delivery) -> None:
        event = messages.events.decode(delivery.data)
        if not isinstance(event, TurnEnded) or not worth_studying(event):
            metrics.TURNS.labels("passed_over").inc()
            return
        conversation_id = subjects.conversation_of(delivery.subject)
        user_id = await self._user_of(event)
        if not user_id:
            metrics.TURNS.labels("no_user").inc()
            return
        await self._windows.add((user_id, conversation_id), event.turn_id)
        metrics.TURNS.labels("captured").inc()

    async def _user_of(self, ended: TurnEnded) -> str:
        """Who the turn was for; scopes fail closed, so without a person nothing is learned."""
        stored = await self._bus.direct.get("CONVERSATIONS", ids.first_input_of(ended.turn_id))
        if stored is None:
            return ""
        try:
            return getattr(messages.inputs.decode(stored.data), "user_id", "")
        except Malformed:
            return ""

    async def _capture(self, key: WindowKey, turn_ids: list[str]) -> None:
        """Queue a window's turns; turns captured before (after a crash, in another grouping) are left out."""
        user_id, conversation_id = key
        subject = subjects.playbook(f"user:{user_id}")
        known, fence = await self._captured(subject)
        fresh = [turn_id for turn_id in dict.fromkeys(turn_ids) if turn_id not in known]
        state = await self._read(conversation_id, fresh)
        found = [turn for turn in state.turns if turn.turn_id in fresh and turn.ended is not None]
        if not found:
            return
        await self._teach_router(found, state)
        turns = [studied(turn) for turn in found]
        capture_id = hashlib.sha256(" ".join(t.turn_id for t in turns).encode()).hexdigest()[:32]
        event = TurnsCaptured(
            capture_id=capture_id, user_id=user_id, conversation_id=conversation_id, turns=turns, at=utc_now()
        )
        await self._bus.append(subject, event, msg_id=f"capture.{capture_id}", expect=fence)

    async def _captured(self, subject: str) -> tuple[set[str], int]:
        known: set[str] = set()
        fence = 0
        for stored in await self._bus.read(subject):
            fence = stored.seq
            try:
                event = playbook.events.decode(stored.data)
            except Malformed as exc:
                log.warning("capture.unreadable", seq=stored.seq, error=str(exc))
                continue
            if isinstance(event, TurnsCaptured):
                known.update(turn.turn_id for turn in event.turns)
        return known, fence

    async def _read(self, conversation_id: str, turn_ids: list[str]) -> Conversation:
        """The part of a conversation that holds these turns."""
        start = min((ids.first_input_of(turn_id) for turn_id in turn_ids), default=1)
        state = Conversation(conversation_id, Checkpoint(seq=start))
        if turn_ids:
            for stored in await self._bus.read(subjects.conv_all(conversation_id), start=start):
                state.apply(stored.seq, read_event(stored))
        return state

    async def _teach_router(self, turns: list[Turn], state: Conversation) -> None:
        """Utterances that nothing had named a group for, and that turned out to need one."""
        for turn in turns if self._max_learned else []:
            lesson = routing_lesson(turn, state.inputs)
            if lesson is None:
                continue
            if await self._examples.add(
                lesson.group, lesson.text, source="outcome", at=utc_now(), turn_id=lesson.turn_id
            ):
                metrics.ROUTING_LESSONS.inc()
                await self._examples.keep_newest(lesson.group, self._max_learned)


def _ends_a_turn(delivery: Delivery) -> bool:
    """Three of four log events are no end of a turn; the tag at the front tells without decoding."""
    return _TURN_ENDED in delivery.data[:64]


def build_service(context: Context) -> LearnerService:
    """The learner on one connection."""
    return LearnerService(context)
