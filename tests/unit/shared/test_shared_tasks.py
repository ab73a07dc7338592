"""Ending tasks for certain, and counting what was asked for."""

import asyncio

from shared.pulls import OpenPulls
from shared.tasks import cancel


async def test_a_task_that_swallows_a_cancellation_is_asked_again() -> None:
    asked = 0

    async def stubborn() -> None:
        nonlocal asked
        while asked < 2:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                asked += 1

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)  # it begins to run
    await asyncio.wait_for(cancel([task]), 5)
    assert asked == 2
    assert task.done()


async def test_tasks_that_failed_or_are_done_are_no_trouble() -> None:
    async def fails() -> None:
        raise RuntimeError("x")

    failed, done = asyncio.create_task(fails()), asyncio.create_task(asyncio.sleep(0))
    await asyncio.sleep(0.01)  # both run to their end
    await cancel([failed, done])
    await cancel([])


def test_what_is_wanted_is_the_sum_of_all_open_pulls() -> None:
    pulls = OpenPulls()
    assert pulls.wanted == 0
    first, second = pulls.open(2), pulls.open(3)
    assert (first != second, pulls.wanted) == (True, 5)
    for left in (4, 3, 2):
        pulls.took_one()
        assert pulls.wanted == left
    pulls.ended(first)
    assert pulls.wanted == 2
    pulls.ended(second)
    pulls.ended(second)
    pulls.took_one()
    assert pulls.wanted == 0


def test_forgetting_leaves_nothing_wanted_and_late_ends_do_no_harm() -> None:
    pulls = OpenPulls()
    old = pulls.open(5)
    pulls.forget()
    pulls.open(3)
    pulls.ended(old)
    assert pulls.wanted == 3
