"""What a turn leaves in the store: messages and bytes, by stream, beside the content that people and tools put in."""

import msgspec
from nats.aio.msg import Msg

from bench.measures import record_bytes
from bench.stack import Stack
from bench.turns import NextConversation, Watch, run_turns
from shared.bus import Bus
from shared.messages import conversation as messages
from shared.messages.conversation import ModelReplied, ToolFinished, TurnEnded, UserMessage
from shared.topology import STREAMS, stream_of

# The learner's captures are no part of a turn: nothing waits for them, and a window may hold many turns.
TURN_STREAMS = ("CONVERSATIONS", "TOOLS", "KV_members")


class Stored(msgspec.Struct, frozen=True):
    """Per turn: stored messages and bytes by stream, those of the turn itself, and the content among the bytes."""

    messages: dict[str, float]
    bytes: dict[str, float]
    turn_messages: float
    turn_bytes: float
    content_bytes: float
    beside_content_bytes: float


class _Tap:
    """Listens to everything that is stored; a work queue forgets its messages, so its state can't be read later."""

    def __init__(self) -> None:
        self.job_bytes = 0
        self.content = 0

    async def on_job(self, message: Msg) -> None:
        self.job_bytes += record_bytes(message.subject, message.headers or {}, message.data)

    async def on_event(self, message: Msg) -> None:
        self.content += content_bytes(message.data)


def content_bytes(data: bytes) -> int:
    """The bytes of an event that somebody said or a tool returned, each counted once however often it is stored.

    A call's arguments are counted where the model made them, and not in the job; an answer in `TurnEnded.answer`,
    and not in the reply beside it.
    """
    match messages.events.decode(data):
        case UserMessage() as event:
            return len(event.text.encode())
        case ModelReplied() as event:
            return len(msgspec.json.encode(event.content)) + sum(len(bytes(call.arguments)) for call in event.calls)
        case ToolFinished() as event:
            return len(msgspec.json.encode(event.content))
        case TurnEnded() as event:
            return len(event.answer.encode())
        case _:
            return 0


async def stored_per_turn(stack: Stack, watch: Watch, where: NextConversation, turns: int) -> Stored:
    """Run turns and see what each of them left behind."""
    tap, bus = _Tap(), stack.bus
    await stack.learner_idle()
    taps = [await bus.subscribe("tool.*.*", tap.on_job), await bus.subscribe("conv.>", tap.on_event)]
    before = await _states(bus)
    await run_turns(watch, where, range(turns))
    await stack.learner_idle()
    after = await _states(bus)
    for subscription in taps:
        await subscription.unsubscribe()
    counts = {name: (after[name][0] - before[name][0]) / turns for name in before}
    sizes = {name: (after[name][1] - before[name][1]) / turns for name in before}
    sizes[stream_of("tool.any.any")] = tap.job_bytes / turns
    content = tap.content / turns
    turn_bytes = sum(sizes[name] for name in TURN_STREAMS)
    return Stored(
        messages={name: count for name, count in counts.items() if count},
        bytes={name: size for name, size in sizes.items() if counts[name]},
        turn_messages=sum(counts[name] for name in TURN_STREAMS),
        turn_bytes=turn_bytes,
        content_bytes=content,
        beside_content_bytes=turn_bytes - content,
    )


async def _states(bus: Bus) -> dict[str, tuple[int, int]]:
    """Messages ever stored and bytes held, by stream."""
    jetstream = bus.client.jetstream()
    states = {spec.name: (await jetstream.stream_info(spec.name)).state for spec in STREAMS}
    return {name: (state.last_seq, state.bytes) for name, state in states.items()}
