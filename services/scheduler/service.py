"""The scheduler's edge to NATS."""

from services.scheduler import metrics
from services.scheduler.firing import occurrence_id, reminder_due
from shared.clock import utc_now
from shared.conversation.log import put_input
from shared.errors import Permanent
from shared.lifecycle import Context
from shared.messages import schedules as messages
from shared.messages.schedules import ReminderScheduled, ScheduleCancelled
from shared.settle import Delivery
from shared.topology import scheduler_consumer
from shared.worker import Worker


class SchedulerService:
    """Turns what the broker fires into inputs. Replicas share the work; the broker is the clock."""

    name = "scheduler"

    def __init__(self, context: Context) -> None:
        self._bus = context.bus
        self._worker = Worker(
            context.bus, scheduler_consumer(), self._handle, concurrency=context.settings.scheduler.concurrency
        )

    async def start(self) -> None:
        """Begin to take firings."""
        await self._worker.start()

    async def stop(self, grace_s: float) -> None:
        """Finish what was taken; the rest is redelivered."""
        await self._worker.stop(grace_s)

    def alive_at(self) -> float:
        """When the pull loop last made progress."""
        return self._worker.alive_at

    def problems(self) -> dict[str, str]:
        """Nothing keeps the scheduler from work but the bus."""
        return {}

    def degraded(self) -> dict[str, str]:
        """It depends on nothing it could work without."""
        return {}

    async def _handle(self, delivery: Delivery) -> None:
        firing = messages.firings.decode(delivery.data)
        match firing:
            case ReminderScheduled():
                due = reminder_due(firing, now=utc_now())
                await put_input(self._bus, firing.conversation_id, due, message_id=occurrence_id(firing))
                metrics.FIRINGS.labels("delivered").inc()
                metrics.LATENESS_SECONDS.observe(due.late_s)
            case ScheduleCancelled():
                metrics.FIRINGS.labels("cancelled").inc()
            case _:
                raise Permanent(f"a firing of an unknown kind: {firing.type}")


def build_service(context: Context) -> SchedulerService:
    """The scheduler on one connection."""
    return SchedulerService(context)
