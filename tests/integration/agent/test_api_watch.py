import asyncio
import time
from pathlib import Path

from services.agent.api.reading import page_back
from services.agent.api.watch import Watch
from shared import subjects
from shared.bus import EXPECT, MSG_ID, Bus
from shared.clock import utc_now
from shared.conversation.log import ConversationLog, put_input
from shared.ids import uuid7
from shared.messages.base import encode
from shared.messages.conversation import TurnEnded, TurnStarted, UserMessage
from shared.settings.schema import Agent
from tests.integration.agent.conftest import SCRIPT
from tests.support.system import PROFILES, running_system


def message(number: int = 0) -> UserMessage:
    return UserMessage(message_id=f"m{number}", user_id="ana", text="hola", sent_at=utc_now())


def ended() -> TurnEnded:
    return TurnEnded(turn_id="1-t", status="answered", answer="listo", inputs=[1], at=utc_now())


async def test_who_waits_is_told_at_once_and_not_at_the_next_look(tmp_path: Path) -> None:
    patient = Agent(profiles_dir=str(PROFILES), poll_s=60)
    async with running_system(tmp_path, SCRIPT, agent=patient) as system:
        began = time.monotonic()
        assert (await system.say("guarda una nota: x", wait_s=10)).status_code == 200
        assert time.monotonic() - began < 5


async def test_what_was_not_heard_is_found_by_looking(bus: Bus) -> None:
    deaf = Watch(bus, "c1", poll_s=0.05)
    assert (await deaf.news(0.01)).stored == []
    stored = await put_input(bus, "c1", message(), message_id="m")
    news = await deaf.news(2)
    assert [m.seq for m in news.stored] == [stored.seq]
    assert (await deaf.news(0.01)).stored == []


async def test_what_the_broker_refused_to_store_is_not_told(bus: Bus) -> None:
    watch = Watch(bus, "c1", poll_s=30)
    await watch.open()
    try:
        log = await ConversationLog.open(bus, "c1")
        started = TurnStarted(turn_id="1-t", epoch=1, owner="a", lease=1, inputs=[1], at=utc_now())
        await log.append(started, event_id="started")
        assert len((await watch.news(2)).stored) == 1
        stale = {MSG_ID: "stale", EXPECT: "99"}
        await bus.client.publish(subjects.conv_log("c1"), encode(ended()), headers=stale)
        assert (await watch.news(0.3)).stored == []
        await log.append(ended(), event_id="ended")
        assert len((await watch.news(2)).stored) == 1
    finally:
        await watch.close()


async def test_more_than_a_page_of_news_comes_whole_and_in_order(bus: Bus) -> None:
    watch = Watch(bus, "c1", poll_s=30)
    await watch.open()
    try:
        await asyncio.gather(*(put_input(bus, "c1", message(n), message_id=f"m{n}") for n in range(250)))
        seen: list[int] = []
        while len(seen) < 250:
            seen += [m.seq for m in (await watch.news(5)).stored]
        assert seen == list(range(1, 251))
    finally:
        await watch.close()


async def test_pages_cross_wide_gaps_left_by_other_conversations(bus: Bus) -> None:
    async def fill(conversation: str, count: int) -> list[int]:
        stored = await asyncio.gather(
            *(put_input(bus, conversation, message(n), message_id=uuid7()) for n in range(count))
        )
        return [s.seq for s in stored]

    mine = []
    for number in (1, 2, 3):
        mine += await fill(f"c{number}", 1)
        await fill("busy", 900)
    reads = []
    for conversation in ("c1", "c2", "c3"):
        page, before = await page_back(
            bus, subjects.conv_all(conversation), before=10_000, limit=5, show=lambda stored: stored.seq
        )
        reads += page
        assert before is None
    assert reads == mine
    page, before = await page_back(bus, "conv.busy.>", before=mine[2], limit=5, show=lambda stored: stored.seq)
    assert page == list(range(mine[2] - 5, mine[2]))
    assert before == page[0]
