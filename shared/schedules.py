"""One-shot schedules kept by the broker (ADR-51): armed, listed, cancelled. The scheduler handles what fires."""

from datetime import UTC, datetime

import msgspec

from shared import subjects
from shared.bus import Bus
from shared.ids import uuid7
from shared.messages import schedules as messages
from shared.messages.base import Unknown, encode
from shared.messages.schedules import ReminderScheduled, ScheduleCancelled


class Pending(msgspec.Struct, frozen=True):
    """A schedule that has not fired, and its sequence in the stream."""

    reminder: ReminderScheduled
    seq: int


class Schedules:
    """Pending one-shot schedules. The broker is the clock: nothing polls, and one it missed while down fires late."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def arm(self, reminder: ReminderScheduled) -> None:
        """Schedule it; the same id replaces what was pending under it."""
        due_at = reminder.due_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        await self._bus.append_bytes(
            subjects.schedule(reminder.user_id, reminder.schedule_id),
            encode(reminder),
            msg_id=uuid7(),
            headers={
                "Nats-Schedule": f"@at {due_at}",
                "Nats-Schedule-Target": subjects.due(reminder.user_id, reminder.schedule_id),
            },
        )

    async def pending(self, user_id: str) -> list[Pending]:
        """A user's pending schedules, the next one first."""
        found = []
        for stored in await self._bus.read(subjects.schedules_of(user_id)):
            reminder = messages.reminders.decode(stored.data)
            if isinstance(reminder, Unknown):
                continue  # a newer kind, not ours to list
            found.append(Pending(reminder, stored.seq))
        return sorted(found, key=lambda p: p.reminder.due_at)

    async def cancel(self, pending: Pending, *, at: datetime) -> None:
        """Cancel it in one atomic step; `FenceLost` when it fired or was cancelled in the meantime."""
        reminder = pending.reminder
        schedule = subjects.schedule(reminder.user_id, reminder.schedule_id)
        await self._bus.append_bytes(
            subjects.due(reminder.user_id, reminder.schedule_id),
            encode(ScheduleCancelled(schedule_id=reminder.schedule_id, user_id=reminder.user_id, at=at)),
            msg_id=f"{reminder.schedule_id}.{pending.seq}.cancelled",
            expect=pending.seq,
            headers={
                "Nats-Scheduler": schedule,
                "Nats-Schedule-Next": "purge",
                "Nats-Expected-Last-Subject-Sequence-Subject": schedule,
            },
        )
