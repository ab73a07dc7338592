"""Fired reminders become inputs of their conversation, exactly once, however many schedulers there are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from nats.js.errors import NotFoundError

from services.scheduler.service import SchedulerService
from shared import subjects
from shared.bus import Bus
from shared.clock import utc_now
from shared.lifecycle import Context
from shared.messages import conversation as messages
from shared.messages.conversation import ReminderDue
from shared.messages.schedules import ReminderScheduled
from shared.schedules import Schedules
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats, connected, settings_for


@asynccontextmanager
async def scheduling(server: PrivateNats) -> AsyncIterator[SchedulerService]:
    async with connected(server.bus_settings(), "scheduler") as bus:
        service = SchedulerService(Context(bus, settings_for(server)))
        await service.start()
        try:
            yield service
        finally:
            await service.stop(1.0)


def reminder(schedule_id: str, in_s: float, *, conversation: str = "c", user: str = "ana") -> ReminderScheduled:
    now = utc_now()
    return ReminderScheduled(
        schedule_id=schedule_id,
        user_id=user,
        conversation_id=conversation,
        text=f"pan {schedule_id}",
        due_at=now + timedelta(seconds=in_s),
        created_at=now,
    )


async def inputs(bus: Bus, conversation: str = "c") -> list[ReminderDue]:
    found = [messages.inputs.decode(m.data) for m in await bus.read(subjects.conv_in(conversation))]
    assert all(isinstance(event, ReminderDue) for event in found)
    return [event for event in found if isinstance(event, ReminderDue)]


async def some(bus: Bus, count: int, conversation: str = "c", *, within_s: float = 10) -> list[ReminderDue]:
    async def enough() -> list[ReminderDue]:
        found = await inputs(bus, conversation)
        return found if len(found) >= count else []

    return await eventually(enough, within_s=within_s)


async def all_settled(bus: Bus) -> bool:
    try:
        info = await bus.client.jetstream().consumer_info("SCHEDULES", "scheduler")
    except NotFoundError:
        return False
    return info.num_pending == 0 and info.num_ack_pending == 0


async def test_a_reminder_that_fires_is_told_to_its_conversation_with_how_late_it_is(
    bus: Bus, nats_server: PrivateNats
) -> None:
    armed = reminder("r1", 0.3)
    async with scheduling(nats_server):
        await Schedules(bus).arm(armed)
        due = (await some(bus, 1))[0]
        await eventually(lambda: all_settled(bus))
    assert (due.schedule_id, due.user_id, due.text, due.due_at) == ("r1", "ana", "pan r1", armed.due_at)
    assert 0 <= due.late_s < 3


async def test_two_schedulers_tell_each_reminder_once(bus: Bus, nats_server: PrivateNats) -> None:
    async with scheduling(nats_server), scheduling(nats_server):
        for number in range(20):
            await Schedules(bus).arm(reminder(f"r{number}", 0.2 + number * 0.01))
        await some(bus, 20)
        await eventually(lambda: all_settled(bus))
        info = await bus.client.jetstream().consumer_info("SCHEDULES", "scheduler")
    assert sorted(due.schedule_id for due in await inputs(bus)) == sorted(f"r{n}" for n in range(20))
    assert info.delivered is not None
    assert info.delivered.consumer_seq == 20


async def test_a_firing_delivered_twice_is_one_input(bus: Bus, nats_server: PrivateNats) -> None:
    armed = reminder("r1", -1)
    async with scheduling(nats_server):
        for number in range(3):
            await bus.append(subjects.due("ana", "r1"), armed, msg_id=f"copy{number}")
        await some(bus, 1)
        await eventually(lambda: all_settled(bus))
    assert len(await inputs(bus)) == 1


async def test_what_fell_due_while_no_scheduler_ran_comes_late_and_says_so(bus: Bus, nats_server: PrivateNats) -> None:
    await Schedules(bus).arm(reminder("missed", -3600))
    await eventually(lambda: bus.read("due.*.*"))
    async with scheduling(nats_server):
        due = (await some(bus, 1))[0]
    assert 3600 <= due.late_s < 3630


async def test_reminders_survive_a_kill_of_the_server(bus: Bus, nats_server: PrivateNats) -> None:
    async with scheduling(nats_server):
        await Schedules(bus).arm(reminder("r1", 0.1))
        await Schedules(bus).arm(reminder("r2", 1.5))
        nats_server.kill()
        # What was lost on its way with the server comes again after `ack_wait`, ten seconds here.
        await some(bus, 2, within_s=20)
        await eventually(lambda: all_settled(bus), within_s=20)
    assert sorted(due.schedule_id for due in await inputs(bus)) == ["r1", "r2"]


async def test_a_cancelled_reminder_says_nothing(bus: Bus, nats_server: PrivateNats) -> None:
    schedules = Schedules(bus)
    async with scheduling(nats_server):
        await schedules.arm(reminder("r1", 0.4))
        await schedules.arm(reminder("r2", 0.5))
        await schedules.cancel((await schedules.pending("ana"))[0], at=utc_now())
        await some(bus, 1)
        await asyncio.sleep(0.3)  # long enough for the cancelled one to have fired
        await eventually(lambda: all_settled(bus))
    assert [due.schedule_id for due in await inputs(bus)] == ["r2"]


@pytest.mark.parametrize("conversation", ["!sala:x.org", "grupo de Ana ñ", "*"])
async def test_a_reminder_finds_a_conversation_of_any_name_and_no_other(
    bus: Bus, nats_server: PrivateNats, conversation: str
) -> None:
    async with scheduling(nats_server):
        await Schedules(bus).arm(reminder("r1", 0.1, conversation=conversation))
        await some(bus, 1, conversation)
    assert len(await bus.read("conv.*.in")) == 1


@pytest.mark.parametrize("data", [b"not json", b'{"type":"schedule.workflow"}', b'{"type":"schedule.reminder"}'])
async def test_a_firing_that_cannot_be_read_becomes_a_dead_letter_and_holds_up_nothing(
    bus: Bus, nats_server: PrivateNats, data: bytes
) -> None:
    async with scheduling(nats_server):
        await bus.append_bytes(subjects.due("ana", "bad"), data, msg_id="bad")
        await Schedules(bus).arm(reminder("r1", -1))
        await some(bus, 1)
        dead = await eventually(lambda: bus.read("dead.*"))
    assert [m.data for m in dead] == [data]
