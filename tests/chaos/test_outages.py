"""The broker dies, replicas race, workers die with jobs in hand, everything is restarted in any order."""

import asyncio
import random
from pathlib import Path

import msgspec
import pytest

from shared.messages.conversation import UserMessage
from tests.support.eventually import eventually
from tests.support.model_server import Fault, Reply, Rule, Script
from tests.support.stage import TWO_LINES, crash_stage

SLOW_TWO_LINES = Script(
    rules=tuple(Rule(when=r.when, reply=r.reply, fault=Fault(delay_s=0.15)) for r in TWO_LINES.rules)
)
ECHO = Script(rules=(Rule(fault=Fault(delay_s=0.05), reply=Reply(text="leído: {last_user}")),))


@pytest.fixture
def queueing(tmp_path: Path) -> Path:
    """A folder with a profile that answers messages one after the other."""
    folder = tmp_path / "profiles" / "default"
    folder.mkdir(parents=True)
    (folder / "profile.toml").write_text('language = "es"\narrival = "queue"\n', encoding="utf-8")
    (folder / "identity.md").write_text("Eres Jada.", encoding="utf-8")
    return folder.parent


@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.2, 0.3, 0.4])
async def test_a_turn_survives_the_death_of_the_broker(tmp_path: Path, after_s: float) -> None:
    async with crash_stage(tmp_path, SLOW_TWO_LINES) as stage:
        await stage.agent()
        await stage.tools()
        seq = await stage.say("apunta en el libro dos asientos")
        await asyncio.sleep(after_s)  # the moment of the kill is what varies
        stage.nats.kill()

        ended = await stage.ended(seq)

        assert ended.status == "answered"
        await stage.assert_sound([seq])


async def test_two_replicas_that_race_for_one_conversation_answer_each_message_once(tmp_path: Path) -> None:
    async with crash_stage(tmp_path) as stage:
        await stage.agent()
        await stage.agent()
        await stage.tools()
        seqs = [await stage.say("apunta en el libro dos asientos", user=f"u{n}") for n in range(6)]

        for seq in seqs:
            assert (await stage.ended(seq)).status == "answered"

        state = await stage.assert_sound(seqs)
        assert len(state.turns) == 6  # six people: nobody's message steers another's turn
        assert len(stage.effects()) == 12


async def test_four_messages_at_once_are_answered_in_order_each_knowing_the_earlier_ones(
    tmp_path: Path, queueing: Path
) -> None:
    async with crash_stage(tmp_path, ECHO, profiles=queueing) as stage:
        await stage.agent()
        await stage.agent()
        seqs = await asyncio.gather(*(stage.say(f"mensaje {n}") for n in range(4)))

        for seq in seqs:
            await stage.ended(seq)

        state = await stage.assert_sound(seqs)
        turns = state.turns
        assert sorted(seqs) == [seq for turn in turns for seq in turn.inputs]
        texts = [_text(state.inputs[turn.inputs[0]]) for turn in turns]
        for text, turn in zip(texts, turns, strict=True):
            assert turn.ended is not None
            assert text in turn.ended.answer
        assert len(stage.model.received) == 4
        for number, request in enumerate(stage.model.received):
            seen = str(request.body["messages"])
            assert all(text in seen for text in texts[: number + 1])
            assert all(f"leído: {text}" in seen or f"] {text}" in seen for text in texts[:number])


async def test_messages_that_arrive_mid_turn_steer_it(tmp_path: Path) -> None:
    """With the default policy the second message is shown at the next model call, and one turn answers both."""
    async with crash_stage(tmp_path, SLOW_TWO_LINES) as stage:
        await stage.agent()
        await stage.tools()
        first = await stage.say("apunta en el libro dos asientos")
        await eventually(lambda: len(stage.model.received) == 1)
        second = await stage.say("y dime cuántos van")

        ended = await stage.ended(first)

        assert ended.inputs == [first, second]
        assert "y dime cuántos van" in str(stage.model.received[-1].body["messages"])
        await stage.assert_sound([first, second])


async def test_a_call_whose_worker_is_killed_is_reported_unknown_and_not_run_again(tmp_path: Path) -> None:
    async with crash_stage(tmp_path) as stage:
        await stage.agent()
        dying = await stage.crashing("tools", at=2, when="after")  # the line is written, the result is not
        seq = await stage.say("apunta en el libro dos asientos")
        assert await dying.wait() == -9
        await stage.tools()

        ended = await stage.ended(seq)

        assert [action.status for action in ended.actions] == ["unknown", "ok"]
        assert len(stage.effects()) == 2
        await stage.assert_sound([seq])


async def test_services_may_start_in_any_order_and_be_absent_for_a_while(tmp_path: Path) -> None:
    """I10: a message waits for the agent, a job for its worker, and everything recovers by itself."""
    async with crash_stage(tmp_path) as stage:
        seq = await stage.say("apunta en el libro dos asientos")
        tools = await stage.tools()
        await tools.stop()
        agent = await stage.agent()
        await asyncio.sleep(0.3)  # the agent works on, its first job waits
        await agent.stop()
        await stage.agent()
        await stage.tools()

        assert (await stage.ended(seq)).status == "answered"
        await stage.assert_sound([seq])


async def test_an_orderly_stop_hands_the_turn_over_at_once(tmp_path: Path) -> None:
    """SIGTERM is not SIGKILL: another replica has the turn long before the lease would run out."""
    hanging = Script(rules=(Rule(fault=Fault(hang=True), times=1), *TWO_LINES.rules))
    async with crash_stage(tmp_path, hanging) as stage:
        stage.settings = msgspec.structs.replace(
            stage.settings, agent=msgspec.structs.replace(stage.settings.agent, ack_wait_s=60.0)
        )
        await stage.tools()
        first = await stage.agent()
        seq = await stage.say("apunta en el libro dos asientos")
        await eventually(lambda: len(stage.model.received) == 1)
        await stage.agent()
        await first.stop()

        assert (await stage.ended(seq, within_s=10)).status == "answered"
        await stage.assert_sound([seq])


async def test_random_kills_lose_nothing(tmp_path: Path) -> None:
    """Many conversations, processes killed at random effects: the prototype's experiment, small enough for CI."""
    chance = random.Random(20261130)
    async with crash_stage(tmp_path) as stage:
        inputs: dict[str, list[int]] = {f"c{n}": [] for n in range(8)}

        async def crash_now_and_then(service: str) -> None:
            for _ in range(4):
                when = chance.choice(["before", "after"])
                process = await stage.crashing(service, at=chance.randint(2, 40), when=when)
                try:
                    await asyncio.wait_for(process.wait(), 3)
                except TimeoutError:  # it waits for the other one: kill it at a random moment instead
                    process.kill()

        async def talk() -> None:
            while not chaos.done():
                conversation = chance.choice(list(inputs))
                inputs[conversation].append(
                    await stage.say("apunta en el libro dos asientos", conversation=conversation)
                )
                await asyncio.sleep(0.05)

        chaos = asyncio.gather(crash_now_and_then("agent"), crash_now_and_then("tools"))
        await talk()
        await chaos
        await stage.agent()
        await stage.tools()
        for conversation, seqs in inputs.items():
            for seq in seqs:
                await stage.ended(seq, conversation=conversation, within_s=40)
            await stage.assert_sound(seqs, conversation=conversation)


def _text(event: object) -> str:
    assert isinstance(event, UserMessage)
    return event.text
