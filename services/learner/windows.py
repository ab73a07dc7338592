"""Windows: finished turns of one person in one conversation, gathered for a while and captured together."""

import asyncio
from collections.abc import Awaitable, Callable

from services.learner import metrics
from shared.errors import JadaError, Retryable

WindowKey = tuple[str, str]
Close = Callable[[WindowKey, list[str]], Awaitable[None]]


class Windows:
    """Gathers turn ids by key; `close` is called once per window, `window_s` after its first turn."""

    def __init__(self, close: Close, *, window_s: float) -> None:
        self._close = close
        self._window_s = window_s
        self._open: dict[WindowKey, list[str]] = {}
        self._closing: dict[WindowKey, asyncio.Task[None]] = {}

    async def add(self, key: WindowKey, turn_id: str) -> None:
        """Put a turn into its window and return once that window was closed; `Retryable` when it could not be."""
        if key not in self._open:
            self._open[key] = []
            self._closing[key] = asyncio.create_task(self._wait_and_close(key))
            metrics.WINDOWS.set(len(self._open))
        self._open[key].append(turn_id)
        closing = self._closing[key]
        try:
            await asyncio.shield(closing)
        except JadaError as exc:
            raise Retryable(f"the window could not be stored: {exc}") from exc

    async def stop(self) -> None:
        """Drop all open windows; their turns are redelivered."""
        tasks = list(self._closing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait_and_close(self, key: WindowKey) -> None:
        try:
            await asyncio.sleep(self._window_s)
        finally:
            turn_ids = self._open.pop(key)
            del self._closing[key]
            metrics.WINDOWS.set(len(self._open))
        await self._close(key, turn_ids)
