"""The conversations this replica works on, and those it remembers."""

import asyncio
from collections import OrderedDict

import structlog

from services.agent import metrics
from services.agent.members import Members
from services.agent.ports import Ports
from services.agent.session import Memory, Session
from shared import subjects
from shared.conversation.log import ConversationLog
from shared.messages import conversation as messages
from shared.messages.base import Unknown
from shared.settle import Delivery, HandBack


class Sessions:
    """Hands each delivery to the session of its conversation; at most `agent.concurrency` sessions run at once."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._running: dict[str, tuple[Session, asyncio.Task[None]]] = {}
        self._memories: OrderedDict[str, Memory] = OrderedDict()
        self._draining = False

    async def handle(self, delivery: Delivery) -> None:
        """The worker's handler: returns when the input is covered by an ended turn."""
        conversation_id = subjects.conversation_of(delivery.subject)
        event = messages.inputs.decode(delivery.data)
        if isinstance(event, Unknown):
            return  # a newer kind of input: kept in the stream, not ours to answer
        await self._session(conversation_id).hold(delivery.seq, event)

    async def stop(self, grace_s: float) -> None:
        """Let running turns end within the grace period; hand back everything else at once."""
        self._draining = True
        for session, _ in self._running.values():
            session.draining = True
        tasks = [task for _, task in self._running.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _session(self, conversation_id: str) -> Session:
        running = self._running.get(conversation_id)
        if running is not None:
            return running[0]
        if self._draining:
            raise HandBack(0.0)
        if len(self._running) >= self._ports.settings.agent.concurrency:
            raise HandBack(self._ports.settings.agent.busy_delay_s)
        session = Session(self._ports, lambda: self._remember(conversation_id))
        task = asyncio.create_task(self._run(conversation_id, session))
        self._running[conversation_id] = (session, task)
        metrics.OPEN_CONVERSATIONS.set(len(self._running))
        return session

    async def _run(self, conversation_id: str, session: Session) -> None:
        """Run a session; forget its memory unless it ended in good order, for what it knows may be stale."""
        structlog.contextvars.bind_contextvars(conversation_id=conversation_id)
        clean = False
        try:
            clean = await session.run()
        finally:
            del self._running[conversation_id]
            metrics.OPEN_CONVERSATIONS.set(len(self._running))
            if not clean:
                self._memories.pop(conversation_id, None)

    async def _remember(self, conversation_id: str) -> Memory:
        memory = self._memories.pop(conversation_id, None)
        if memory is None:
            log = await ConversationLog.open(self._ports.bus, conversation_id)
            memory = Memory(log, Members(self._ports.bus))
        self._memories[conversation_id] = memory
        while len(self._memories) > max(1, self._ports.settings.agent.cache_conversations):
            self._memories.popitem(last=False)
        return memory
