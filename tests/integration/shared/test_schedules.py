"""Schedules kept by the broker: armed, listed, cancelled, fired, over kills."""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from shared import subjects
from shared.bus import Bus
from shared.clock import utc_now
from shared.direct import StoredMessage
from shared.errors import FenceLost
from shared.messages import schedules as messages
from shared.messages.schedules import ReminderScheduled, ScheduleCancelled
from shared.schedules import Schedules
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats


def reminder(schedule_id: str, in_s: float, *, user: str = "ana") -> ReminderScheduled:
    now = utc_now()
    due = now + timedelta(seconds=in_s)
    return ReminderScheduled(
        schedule_id=schedule_id, user_id=user, conversation_id="c", text="pan", due_at=due, created_at=now
    )


async def fired(bus: Bus, count: int, *, within_s: float = 10) -> list[StoredMessage]:
    async def enough() -> list[StoredMessage]:
        found = await bus.read("due.*.*")
        return found if len(found) >= count else []

    return await eventually(enough, within_s=within_s)


def ids(stored: list[StoredMessage]) -> list[str]:
    return [m.subject.rpartition(".")[2] for m in stored]


async def pending(bus: Bus, user: str = "ana") -> list[str]:
    return [p.reminder.schedule_id for p in await Schedules(bus).pending(user)]


async def test_pending_schedules_are_listed_by_when_they_are_due_each_user_their_own(bus: Bus) -> None:
    schedules = Schedules(bus)
    for one in (reminder("late", 500), reminder("soon", 100), reminder("his", 50, user="luis")):
        await schedules.arm(one)
    assert await pending(bus) == ["soon", "late"]
    assert await pending(bus, "luis") == ["his"]
    assert await pending(bus, "nadie") == []


async def test_listing_changes_nothing(bus: Bus) -> None:
    await Schedules(bus).arm(reminder("r1", 100))
    assert await Schedules(bus).pending("ana") == await Schedules(bus).pending("ana")


async def test_the_same_id_replaces_what_was_pending_under_it(bus: Bus) -> None:
    await Schedules(bus).arm(reminder("r1", 100))
    later = reminder("r1", 200)
    await Schedules(bus).arm(later)
    assert [p.reminder for p in await Schedules(bus).pending("ana")] == [later]


async def test_what_was_cancelled_can_be_armed_again_for_the_same_time(bus: Bus) -> None:
    again = reminder("r1", 100)
    await Schedules(bus).arm(again)
    await Schedules(bus).cancel((await Schedules(bus).pending("ana"))[0], at=utc_now())
    await Schedules(bus).arm(again)
    assert await pending(bus) == ["r1"]


async def test_two_users_may_have_schedules_of_one_id_at_one_time(bus: Bus) -> None:
    mine = reminder("r1", 100)
    await Schedules(bus).arm(mine)
    await Schedules(bus).arm(msgspec.structs.replace(mine, user_id="luis"))
    assert (await pending(bus), await pending(bus, "luis")) == (["r1"], ["r1"])


async def test_schedules_fire_once_in_order_within_half_a_second_with_all_they_carry(bus: Bus) -> None:
    armed = [reminder(f"r{n}", 0.6 - n * 0.25) for n in range(3)]
    for one in armed:
        await Schedules(bus).arm(one)
    found = await fired(bus, 3)
    assert ids(found) == ["r2", "r1", "r0"]
    assert [messages.firings.decode(m.data) for m in found] == [armed[2], armed[1], armed[0]]
    for stored, one in zip(found, reversed(armed), strict=True):
        late = datetime.fromisoformat(stored.at[:26].rstrip("Z")).replace(tzinfo=UTC) - one.due_at
        # The broker keeps milliseconds, and looks at its timers four times a second.
        assert timedelta(seconds=-0.002) <= late < timedelta(seconds=2)
    assert await pending(bus) == []
    await asyncio.sleep(0.4)  # long enough for a second firing to show
    assert len(await bus.read("due.*.*")) == 3


async def test_one_due_in_the_past_fires_at_once(bus: Bus) -> None:
    await Schedules(bus).arm(reminder("r1", -3600))
    assert ids(await fired(bus, 1, within_s=2)) == ["r1"]


async def test_a_cancelled_schedule_never_fires_and_leaves_its_cancellation(bus: Bus) -> None:
    schedules = Schedules(bus)
    await schedules.arm(reminder("r1", 0.5))
    await schedules.arm(reminder("r2", 0.6))
    one = (await schedules.pending("ana"))[0]
    await schedules.cancel(one, at=utc_now())
    assert await pending(bus) == ["r2"]
    found = await fired(bus, 2)
    assert [type(messages.firings.decode(m.data)) for m in found] == [ScheduleCancelled, ReminderScheduled]
    assert ids(found) == ["r1", "r2"]


async def test_cancelling_after_it_fired_or_was_cancelled_or_replaced_is_refused(bus: Bus) -> None:
    schedules = Schedules(bus)
    await schedules.arm(reminder("fired", 0.2))
    await schedules.arm(reminder("cancelled", 100))
    await schedules.arm(reminder("replaced", 200))
    known = {p.reminder.schedule_id: p for p in await schedules.pending("ana")}
    await fired(bus, 1)
    await schedules.cancel(known["cancelled"], at=utc_now())
    await schedules.arm(reminder("replaced", 300))
    for one in known.values():
        with pytest.raises(FenceLost):
            await schedules.cancel(one, at=utc_now())
    assert await pending(bus) == ["replaced"]


async def test_schedules_survive_a_kill_of_the_server_and_what_it_missed_fires_late(
    bus: Bus, nats_server: PrivateNats
) -> None:
    await Schedules(bus).arm(reminder("later", 1.5))
    await Schedules(bus).arm(reminder("missed", 0.1))
    nats_server.kill()
    found = await fired(bus, 2, within_s=8)
    assert ids(found) == ["missed", "later"]
    assert await pending(bus) == []


@pytest.mark.parametrize("user", ["ñandú@x.org", "a.b", "*"])
async def test_any_user_id_has_schedules(bus: Bus, user: str) -> None:
    await Schedules(bus).arm(reminder("r1", 0.1, user=user))
    found = await fired(bus, 1)
    assert found[0].subject == subjects.due(user, "r1")
