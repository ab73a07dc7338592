"""The stage of a crash test: a private broker, a scripted model, and services to start, kill and replace."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from services.agent.service import AgentService
from services.tools.service import ToolsService
from shared import ids
from shared.bus import Bus
from shared.clock import utc_now
from shared.conversation.fold import Conversation
from shared.conversation.log import ConversationLog, put_input
from shared.errors import BusUnavailable
from shared.lifecycle import Runner
from shared.messages.conversation import CallAbandoned, TurnEnded, UserMessage
from shared.settings.schema import Agent, Learner, Model, Service, Settings, Tools
from shared.topology import ensure_streams
from tests.support.eventually import eventually
from tests.support.ledger import ledger_group
from tests.support.model_server import Call, ModelServer, Reply, Rule, Script, When
from tests.support.nats import PrivateNats, connected, private_nats

ROOT = Path(__file__).parents[2]

TWO_LINES = Script(
    rules=(
        Rule(
            when=When(tool_results_since_user=0, offered="ledger_add"),
            reply=Reply(calls=(Call(name="ledger_add", arguments={"text": "uno"}),)),
        ),
        Rule(
            when=When(tool_results_since_user=1, offered="ledger_add"),
            reply=Reply(calls=(Call(name="ledger_add", arguments={"text": "dos"}),)),
        ),
        Rule(reply=Reply(text="El libro dice: {last_result}")),
    )
)


class Stage:
    """What a crash test plays on."""

    def __init__(self, nats: PrivateNats, model: ModelServer, bus: Bus, settings: Settings, folder: Path) -> None:
        self.nats = nats
        self.model = model
        self.bus = bus
        self.settings = settings
        self.ledger = folder / "ledger.txt"
        self._stack = AsyncExitStack()

    async def agent(self) -> Runner:
        """A healthy agent in this process."""
        return await self._start("agent", AgentService)

    async def tools(self) -> Runner:
        """A healthy worker of the ledger group in this process."""
        return await self._start("tools", lambda context: ToolsService(context, [ledger_group(self.ledger)]))

    async def crashing(self, service: str, *, at: int, when: str) -> asyncio.subprocess.Process:
        """A service as a process that kills itself at an effect; returns once it is ready."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.support.crashing",
            service,
            f"--at={at}",
            f"--when={when}",
            f"--ledger={self.ledger}",
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **self.nats.environment(), **environment_of(self.settings)},
        )
        self._stack.push_async_callback(_end, process)
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), 20) == b"ready\n"
        return process

    async def say(self, text: str, *, conversation: str = "c", user: str = "ana", profile: str = "") -> int:
        """A user's message; its input sequence."""
        message = UserMessage(message_id=ids.uuid7(), user_id=user, text=text, sent_at=utc_now(), profile=profile)
        return (await put_input(self.bus, conversation, message, message_id=message.message_id)).seq

    async def state(self, conversation: str = "c") -> Conversation:
        """The conversation, folded from everything stored."""
        return (await ConversationLog.open(self.bus, conversation)).state

    async def ended(self, seq: int, *, conversation: str = "c", within_s: float = 25) -> TurnEnded:
        """The end of the turn that covers an input."""

        async def look() -> TurnEnded | None:
            try:
                turns = (await self.state(conversation)).turns
            except BusUnavailable:  # the test may just have killed the broker
                return None
            for turn in turns:
                if turn.ended is not None and seq in turn.ended.inputs:
                    return turn.ended
            return None

        found = await eventually(look, within_s=within_s)
        assert found is not None
        return found

    def effects(self) -> list[str]:
        """The call ids in the ledger, in order."""
        return self.ledger.read_text(encoding="utf-8").split() if self.ledger.exists() else []

    async def assert_sound(self, inputs: Sequence[int], *, conversation: str = "c") -> Conversation:
        """The invariants I1 to I3: one end per input, no overlap, no effect twice, no call without an outcome."""
        state = await self.state(conversation)
        covered = [seq for turn in state.turns if turn.ended for seq in turn.ended.inputs]
        assert sorted(covered) == sorted(inputs)
        assert state.overlaps == 0
        assert state.open is None
        effects = self.effects()
        assert len(effects) == len(set(effects)), "a tool ran twice"
        for turn in state.turns:
            assert not turn.pending, "a call has no outcome"
            for call in turn.calls:
                outcome = turn.outcomes[call.call_id]
                if not isinstance(outcome, CallAbandoned) and outcome.status == "ok":
                    assert call.call_id in effects, "an effect is claimed that never happened"
        return state

    async def _start(self, name: str, build: object) -> Runner:
        runner = Runner(name, build, self.settings)  # type: ignore[arg-type]
        await runner.start()
        self._stack.push_async_callback(runner.stop)
        return runner

    async def close(self) -> None:
        await self._stack.aclose()


def environment_of(settings: Settings) -> dict[str, str]:
    """The environment that gives a process the same settings (secrets aside)."""
    environment = {}
    defaults = Settings()
    for section in msgspec.structs.fields(Settings):
        mine, usual = getattr(settings, section.name), getattr(defaults, section.name)
        for field in msgspec.structs.fields(type(mine)):
            value = getattr(mine, field.name)
            if section.name != "bus" and value != getattr(usual, field.name):
                environment[f"JADA_{section.name}_{field.name}".upper()] = str(value)
    return environment


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


@asynccontextmanager
async def crash_stage(
    folder: Path, script: Script = TWO_LINES, *, profiles: Path | None = None
) -> AsyncIterator[Stage]:
    """A stage whose leases run out quickly, so that take-overs take a second."""
    async with ModelServer(script) as model, private_nats(folder / "nats") as nats:
        settings = Settings(
            bus=nats.bus_settings(),
            agent=Agent(ack_wait_s=1.0, poll_s=0.3, busy_delay_s=0.05, profiles_dir=str(profiles or ROOT / "profiles")),
            tools=Tools(ack_wait_s=1.0, groups="", concurrency=4),
            learner=Learner(window_s=0.2, pull_every_s=0.2),
            service=Service(grace_s=0.3),
            model=Model(url=model.base_url, name="test-model"),
        )
        async with connected(nats.bus_settings()) as bus:
            await ensure_streams(bus.client.jetstream(), settings)
            stage = Stage(nats, model, bus, settings, folder)
            try:
                yield stage
            finally:
                await stage.close()
