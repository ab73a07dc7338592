"""Ending tasks for certain."""

import asyncio
from collections.abc import Collection
from typing import Any

_AGAIN_S = 0.5


async def cancel(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel `tasks` and return once all of them are done, whatever they ended with.

    Asked more than once if need be: until Python 3.12 `asyncio.wait_for` swallows a cancellation that comes together
    with what it waits for (https://github.com/python/cpython/issues/86296), and the client library is full of it.
    """
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=_AGAIN_S)
    await asyncio.gather(*tasks, return_exceptions=True)
