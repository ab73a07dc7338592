"""Tool calls out, outcomes back."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from services.agent import metrics
from services.agent.listening import Listening
from services.agent.ports import Ports
from shared import subjects
from shared.conversation.fold import Turn
from shared.conversation.log import ConversationLog
from shared.messages.conversation import CallAbandoned, CallRequested, UserMessage
from shared.messages.tools import ToolJob
from shared.profiles import Profile

# A worker may finish a moment after its deadline, and its result needs a moment to arrive.
_MARGIN_S = 5.0


class Dispatcher:
    """Runs the calls of one turn through the `TOOLS` queue."""

    def __init__(self, ports: Ports, log: ConversationLog, listening: Listening, profile: Profile) -> None:
        self._ports = ports
        self._log = log
        self._listening = listening
        self._profile = profile

    async def run(self, turn: Turn, calls: Sequence[CallRequested]) -> None:
        """Dispatch `calls` and wait until each has an outcome; calls past their deadline are abandoned.

        Returns early when a cancel request is heard. Jobs are stored once per call id, so dispatching again after a
        take-over is harmless.
        """
        began = self._ports.clock()
        await asyncio.gather(*(self._dispatch(turn, call, began) for call in calls))
        while turn.pending and not self._listening.cancel.is_set():
            await self._wait_for_news()
            now = self._ports.clock()
            for call in turn.pending:
                if now > self._give_up_at(call, began):
                    await self.abandon(turn, call, "deadline")

    async def abandon(self, turn: Turn, call: CallRequested, reason: str) -> None:
        """Stop waiting for a call and ask its worker, if there is one, to stop too."""
        await self._ports.bus.publish(
            subjects.tool_cancel(call.call_id),
            CallAbandoned(turn_id=turn.turn_id, call_id=call.call_id, reason=reason, at=self._ports.clock()),
        )
        await self._log.append(
            CallAbandoned(turn_id=turn.turn_id, call_id=call.call_id, reason=reason, at=self._ports.clock()),
            event_id=f"{turn.turn_id}.{turn.epoch}.abandoned.{call.call_id}",
        )
        metrics.CALLS_ABANDONED.labels(reason).inc()

    async def _dispatch(self, turn: Turn, call: CallRequested, now: datetime) -> None:
        conversation_id = self._log.state.conversation_id
        job = ToolJob(
            call_id=call.call_id,
            turn_id=turn.turn_id,
            conversation_id=conversation_id,
            user_id=self._user_of(turn),
            group=call.group,
            name=call.name,
            arguments=call.arguments,
            reply_to=subjects.conv_tool(conversation_id),
            after_seq=turn.started_seq,
            start_by=now + timedelta(seconds=self._ports.settings.agent.queue_wait_s),
            deadline_s=call.deadline_s,
            profile=self._profile.name,
            language=self._profile.language,
            time_zone=self._profile.time_zone,
        )
        await self._ports.bus.append(subjects.tool_job(call.group, call.name), job, msg_id=call.call_id)

    async def _wait_for_news(self) -> None:
        self._listening.news.clear()
        try:
            await asyncio.wait_for(self._listening.news.wait(), self._ports.settings.agent.poll_s)
        except TimeoutError:
            # Nothing heard for a while: a result may have been missed over a reconnection.
            await self._log.refresh_results()

    def _give_up_at(self, call: CallRequested, began: datetime) -> datetime:
        """A job may wait in the queue, run for its deadline, and be redelivered once if its worker dies."""
        agent, tools = self._ports.settings.agent, self._ports.settings.tools
        return began + timedelta(seconds=agent.queue_wait_s + call.deadline_s + tools.ack_wait_s + _MARGIN_S)

    def _user_of(self, turn: Turn) -> str:
        first = self._log.state.inputs.get(turn.first_inputs[0])
        return first.user_id if isinstance(first, UserMessage) else getattr(first, "user_id", "")
