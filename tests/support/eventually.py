"""Waiting for something to become true, instead of sleeping and hoping."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(check: Callable[[], T | Awaitable[T]], *, within_s: float = 10.0) -> T:
    """Call `check` until it returns something true, and return that; fails with its last value after `within_s`."""
    deadline = time.monotonic() + within_s
    while True:
        value = check()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {within_s} s: {value!r}"
        await asyncio.sleep(0.02)
