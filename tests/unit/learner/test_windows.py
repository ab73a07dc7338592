"""Windows: turns gathered and captured together."""

import asyncio

import pytest

from services.learner.windows import WindowKey, Windows
from shared.errors import BusUnavailable, JadaError, Permanent, Retryable

ANA, LUIS = ("ana", "c1"), ("luis", "c1")


class Captures:
    """What was captured; fails with `problem` if there is one."""

    def __init__(self, problem: JadaError | None = None) -> None:
        self.windows: list[tuple[WindowKey, list[str]]] = []
        self._problem = problem

    async def close(self, key: WindowKey, turn_ids: list[str]) -> None:
        if self._problem:
            raise self._problem
        self.windows.append((key, turn_ids))


async def test_turns_of_one_person_in_one_conversation_are_captured_together() -> None:
    captures = Captures()
    windows = Windows(captures.close, window_s=0.05)
    await asyncio.gather(*(windows.add(key, turn) for key, turn in [(ANA, "t1"), (LUIS, "t2"), (ANA, "t3")]))
    assert sorted(captures.windows) == [(ANA, ["t1", "t3"]), (LUIS, ["t2"])]


async def test_a_turn_after_the_window_opens_another() -> None:
    captures = Captures()
    windows = Windows(captures.close, window_s=0)
    await windows.add(ANA, "t1")
    await windows.add(ANA, "t2")
    assert captures.windows == [(ANA, ["t1"]), (ANA, ["t2"])]


@pytest.mark.parametrize("problem", [BusUnavailable("gone"), Permanent("no")])
async def test_a_window_that_cannot_be_stored_gives_every_turn_back(problem: JadaError) -> None:
    windows = Windows(Captures(problem).close, window_s=0.02)
    outcomes = await asyncio.gather(windows.add(ANA, "t1"), windows.add(ANA, "t2"), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Retryable, Retryable]


async def test_stopping_drops_open_windows_and_lets_go_of_whoever_waits() -> None:
    captures = Captures()
    windows = Windows(captures.close, window_s=60)
    waiting = asyncio.create_task(windows.add(ANA, "t1"))
    await asyncio.sleep(0)  # the window opens when the task begins to run
    await asyncio.wait_for(windows.stop(), 1)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert captures.windows == []
