"""Four messages at once in one conversation, over two agents: is each answered, in order, knowing those before?"""

import asyncio

import msgspec
from nats.aio.msg import Msg

from bench.model_server import TOOL_STEPS
from bench.stack import QUEUE_PROFILE, Stack
from shared import subjects
from shared.clock import utc_now
from shared.conversation.log import put_input
from shared.messages import conversation as messages
from shared.messages.conversation import TurnEnded, TurnStarted, UserMessage

MESSAGES = 4
_PATIENCE_S = 20.0


class Races(msgspec.Struct, frozen=True):
    """Of `sent` messages: answered, each by a turn of its own in order of arrival, by a model that saw all earlier.

    `owners` is how many agents ran turns, over all rounds.
    """

    rounds: int
    sent: int
    answered: int
    in_order: int
    knew_earlier: int
    owners: int


class _Heard:
    """The turns of one conversation as they go by."""

    def __init__(self) -> None:
        self.covered: list[int] = []
        self.owners: set[str] = set()
        self.all_covered = asyncio.Event()

    async def on_log(self, message: Msg) -> None:
        event = messages.events.decode(message.data)
        if isinstance(event, TurnStarted):
            self.owners.add(event.owner)
        if isinstance(event, TurnEnded) and event.status == "answered":
            self.covered += event.inputs
            if len(self.covered) >= MESSAGES:
                self.all_covered.set()


async def race(stack: Stack, rounds: int) -> Races:
    """Start a second agent and run `rounds` races."""
    await stack.start("agent-2", "services.agent")
    await stack.markers_seen()
    answered = in_order = knew_earlier = 0
    owners: set[str] = set()
    for number in range(rounds):
        heard = _Heard()
        order = await _send_at_once(stack, heard, number)
        owners |= heard.owners
        seen = await stack.markers_seen()
        answered += len(set(heard.covered) & set(order))
        in_order += sum(covered == seq for covered, seq in zip(heard.covered, sorted(order), strict=False))
        knew_earlier += known_of(seen, [order[seq] for seq in sorted(order)])
    return Races(rounds, rounds * MESSAGES, answered, in_order, knew_earlier, len(owners))


def known_of(seen: list[list[str]], markers: list[str]) -> int:
    """For how many messages all model requests of their turns held exactly the messages up to them, in order."""
    steps = TOOL_STEPS + 1
    turns = [seen[start : start + steps] for start in range(0, len(seen), steps)]
    return sum(turn == [markers[: n + 1]] * steps for n, turn in enumerate(turns))


async def _send_at_once(stack: Stack, heard: _Heard, number: int) -> dict[int, str]:
    """The markers by stream sequence, once all were answered or nobody answers any more."""
    conversation_id = f"race-{number}"
    listening = await stack.bus.subscribe(subjects.conv_log(conversation_id), heard.on_log)
    markers = [f"RACE-{number}-{n}" for n in range(MESSAGES)]
    stored = await asyncio.gather(*(_send(stack, conversation_id, marker) for marker in markers))
    try:
        await asyncio.wait_for(heard.all_covered.wait(), _PATIENCE_S)
    except TimeoutError:
        print(f"race {number}: {len(heard.covered)} of {MESSAGES} answered within {_PATIENCE_S:g} s")
    await listening.unsubscribe()
    return dict(zip(stored, markers, strict=True))


async def _send(stack: Stack, conversation_id: str, marker: str) -> int:
    message = UserMessage(
        message_id=marker,
        user_id="ana",
        text=f"¿qué notas tengo? {marker}",
        sent_at=utc_now(),
        source="bench",
        profile=QUEUE_PROFILE,
    )
    return (await put_input(stack.bus, conversation_id, message, message_id=marker)).seq
