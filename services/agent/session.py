"""One conversation while this process works on it: the deliveries it holds and the turns it runs from them."""

import asyncio
from collections.abc import Awaitable, Callable

from services.agent import metrics
from services.agent.arrivals import next_inputs
from services.agent.listening import Listening
from services.agent.members import Members
from services.agent.ports import Ports
from services.agent.profile_choice import profile_for, profile_named
from services.agent.render import History
from services.agent.routing import route_request
from services.agent.turn import TurnRunner
from shared import ids
from shared.conversation.fold import Conversation, Turn
from shared.conversation.log import ConversationLog
from shared.errors import FenceLost, Retryable
from shared.logs import get_logger
from shared.messages.conversation import CancelRequested, Input, TurnStarted
from shared.profiles import Profile
from shared.settle import HandBack, LetGo

# Deliveries one conversation may hold; more are handed back, so that one chatty group cannot fill the worker.
_MAX_HELD = 16

logger = get_logger()


class Memory:
    """What is kept of a conversation between turns: its log as far as read, and its rendered history."""

    def __init__(self, log: ConversationLog, members: Members) -> None:
        self.log = log
        self.history = History()
        self.members = members


class Session:
    """Owns one conversation from the first delivery until none is held.

    A held delivery is kept in progress by the worker, and that is the lease: while this process lives, the turn's
    lease input is not delivered to anybody else.
    """

    def __init__(self, ports: Ports, remember: Callable[[], Awaitable[Memory]]) -> None:
        self._ports = ports
        self._remember = remember
        self._held: dict[int, asyncio.Future[None]] = {}
        self._events: dict[int, Input] = {}
        self._memory_or_none: Memory | None = None
        self._listening: Listening | None = None
        self.draining = False

    async def hold(self, seq: int, event: Input) -> None:
        """Keep a delivery until its input is covered. Returns to ack it; raises to hand it back or to let it go."""
        if len(self._held) >= _MAX_HELD and seq not in self._held:
            raise HandBack(self._ports.settings.agent.busy_delay_s * 4)
        # Redelivered to its own holder: this process was slow to say that it is at work. Only the new one counts.
        self._resolve(seq, LetGo())
        future = self._held[seq] = asyncio.get_running_loop().create_future()
        self._events[seq] = event
        if self._listening is not None:
            self._state.apply(seq, event)
            self._listening.hear(event)
        await future

    async def run(self) -> bool:
        """Work until no delivery is held; whether what is remembered of the conversation may be trusted afterwards.

        Never raises: whatever goes wrong, the deliveries are handed back.
        """
        try:
            self._memory_or_none = await self._remember()
            listening = Listening(self._ports.bus, self._state)
            await listening.start()
            self._listening = listening
            while self._held:
                await self._step()
        except FenceLost:
            metrics.FENCES_LOST.inc()
            await self._yield_to_other_owner()
        except Retryable as exc:
            logger.warning("session.interrupted", error=repr(exc))
            self._release(HandBack(1.0))
        except Exception:
            logger.exception("session.failed")
            self._release(HandBack(1.0))
        else:
            return True
        finally:
            if self._listening is not None:
                await self._listening.stop()
            self._release(HandBack(0.0))
        return False

    @property
    def _memory(self) -> Memory:
        if self._memory_or_none is None:
            raise RuntimeError("the conversation is not loaded yet")
        return self._memory_or_none

    @property
    def _log(self) -> ConversationLog:
        return self._memory.log

    @property
    def _state(self) -> Conversation:
        return self._memory.log.state

    @property
    def _id(self) -> str:
        return self._state.conversation_id

    async def _step(self) -> None:
        """Settle what is covered, then run one turn if there is one to run."""
        if self._listening is not None:
            self._listening.new_input = False
        await self._log.refresh_inputs()
        for seq, event in self._events.items():
            self._state.apply(seq, event)
        self._settle_covered()
        if not self._held:
            return
        if self.draining:
            self._release(HandBack(0.0))
        elif self._state.open is not None:
            await self._resume(self._state.open)
        elif waiting := self._state.pending_inputs():
            await self._begin(waiting[0])
        else:
            self._settle_leftovers()

    def _settle_covered(self) -> None:
        for seq in [s for s in self._held if s in self._state.covered]:
            self._resolve(seq)

    def _settle_leftovers(self) -> None:
        """Held inputs that want no answer: cancel requests for which there is nothing to cancel (any more)."""
        for seq in list(self._held):
            if isinstance(self._state.inputs.get(seq), CancelRequested) or seq < self._state.checkpoint.seq:
                self._resolve(seq)
        if self._held:
            # An input we hold is neither waiting nor covered: what we know is stale.
            raise FenceLost(f"held inputs {sorted(self._held)} are not in the log as read")

    async def _begin(self, first: int) -> None:
        """Start a turn over the oldest waiting input and those that join it. Any held delivery serves as its lease."""
        profile, borrowed = await profile_for(self._ports, self._state, first)
        inputs = next_inputs(self._state, profile)
        allowed = self._ports.toolbox().allowed(profile.groups)
        decision, _ = await asyncio.gather(
            self._ports.router.route(route_request(self._state, inputs, profile, allowed)),
            self._memory.members.note(self._state, inputs),
        )
        started = TurnStarted(
            turn_id=ids.turn_id(inputs[0]),
            epoch=1,
            owner=self._ports.owner,
            lease=min(self._held),
            inputs=inputs,
            at=self._ports.clock(),
            profile=profile.name,
            profile_rev=profile.revision,
            route=decision,
            profile_borrowed=borrowed,
        )
        await self._log.append(started, event_id=f"{started.turn_id}.1.started")
        await self._run_turn(profile)

    async def _resume(self, turn: Turn) -> None:
        """Take over an open turn if its lease was redelivered to us; otherwise its owner lives and we wait."""
        if turn.lease not in self._held:
            self._release(HandBack(self._ports.settings.agent.busy_delay_s))
            return
        await self._log.refresh()
        if self._state.open is not turn:
            return
        metrics.TAKEOVERS.inc()
        profile = profile_named(self._ports, turn.profile)
        started = TurnStarted(
            turn_id=turn.turn_id,
            epoch=turn.epoch + 1,
            owner=self._ports.owner,
            lease=turn.lease,
            inputs=turn.first_inputs,
            at=self._ports.clock(),
            profile=profile.name,
            profile_rev=profile.revision,
            route=turn.route,
            profile_borrowed=turn.profile_borrowed,
        )
        await self._log.append(started, event_id=f"{turn.turn_id}.{started.epoch}.started.{self._ports.owner}")
        logger.info("turn.taken_over", turn_id=turn.turn_id, epoch=started.epoch)
        await self._run_turn(profile)

    async def _run_turn(self, profile: Profile) -> None:
        if self._listening is None:
            raise RuntimeError("a turn cannot run before the session listens")
        self._listening.cancel.clear()
        turn = self._state.open
        if turn is None:
            raise FenceLost("the turn just started is not open")
        await TurnRunner(self._ports, self._log, self._memory.history, self._listening, profile).run(turn)
        self._settle_covered()

    async def _yield_to_other_owner(self) -> None:
        """Somebody else appended first: hand back what is held, but never settle the lease of their turn.

        Handing it back would look as if its owner were gone; acking it would take away the proof that it is.
        """
        try:
            await self._log.refresh()
        except Retryable:
            self._release(HandBack(1.0))
            return
        turn = self._state.open
        if turn is not None and turn.owner != self._ports.owner and turn.lease in self._held:
            self._resolve(turn.lease, LetGo())
        self._settle_covered()
        self._release(HandBack(self._ports.settings.agent.busy_delay_s))

    def _resolve(self, seq: int, outcome: Exception | None = None) -> None:
        future = self._held.pop(seq, None)
        self._events.pop(seq, None)
        if future is None or future.done():
            return
        if outcome is None:
            future.set_result(None)
        else:
            future.set_exception(outcome)

    def _release(self, outcome: Exception) -> None:
        for seq in list(self._held):
            self._resolve(seq, outcome)
