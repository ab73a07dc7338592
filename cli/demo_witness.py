"""What the demo sees pass on the bus: which subject, which event, which process."""

import asyncio
from collections.abc import Callable

from nats.aio.msg import Msg

from shared import subjects
from shared.bus import Bus
from shared.messages import conversation as messages
from shared.messages import tools as tool_messages
from shared.messages.base import Message, Unknown
from shared.messages.conversation import ModelReplied, ReminderDue, ToolFinished, TurnEnded, TurnStarted
from shared.messages.tools import ToolJob

_SUBJECTS = ("conv.*.in", "conv.*.log", "conv.*.tool", "tool.*.*")
Event = Message | Unknown
Show = Callable[[str], None]


class Witness:
    """Listens to everything, shows one line for each event, and lets the demo wait for one."""

    def __init__(self, bus: Bus, show: Show) -> None:
        self._bus = bus
        self._show = show
        self._owner = ""
        self._waiting: list[tuple[Callable[[Event], bool], asyncio.Future[Event]]] = []

    async def start(self) -> None:
        """Begin to listen."""
        for subject in _SUBJECTS:
            await self._bus.subscribe(subject, self._on_message)

    def expect(self, wanted: Callable[[Event], bool]) -> "asyncio.Future[Event]":
        """The next event that is `wanted`, from now on."""
        future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, future))
        return future

    async def _on_message(self, message: Msg) -> None:
        if message.subject.startswith(f"{subjects.TOOL_CANCEL}."):
            return
        codec = tool_messages.jobs if message.subject.startswith("tool.") else messages.events
        event = codec.decode(message.data)
        if isinstance(event, TurnStarted):
            self._owner = _pid(event.owner)
        # Waiting comes first: the demo may want to act before the next event.
        for waiting in [waiting for waiting in self._waiting if waiting[0](event)]:
            self._waiting.remove(waiting)
            if not waiting[1].done():
                waiting[1].set_result(event)
        self._show(f"   · {message.subject:<28} {self._what(event)}")

    def _what(self, event: Event) -> str:
        match event:
            case TurnStarted():
                groups = ", ".join(event.route.groups) if event.route else ""
                return f"TurnStarted epoch={event.epoch} groups=[{groups}]  ← agent {self._owner}"
            case ModelReplied():
                calls = ", ".join(call.name for call in event.calls)
                return f"ModelReplied calls=[{calls}]  ← agent {self._owner}"
            case TurnEnded():
                return f"TurnEnded {event.status}  ← agent {self._owner}"
            case ToolFinished():
                return f"ToolFinished {event.name}={event.status}  ← tools {_pid(event.worker)}"
            case ToolJob():
                return f"ToolJob  ← agent {self._owner}"
            case ReminderDue():
                return "ReminderDue  ← scheduler"
            case _:
                return f"{type(event).__name__}  ← API"


def _pid(owner: str) -> str:
    """The process id in `<host>.<pid>.<random>`; a host name may hold dots."""
    return owner.rsplit(".", 2)[-2] if owner.count(".") > 1 else owner
