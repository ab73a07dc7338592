"""Lines from standard input without blocking the event loop; edited with readline on a terminal."""

import asyncio
import contextlib
import importlib
import os
import sys
import termios
import threading
from collections.abc import AsyncIterator, Iterator

PROMPT = "> "
_CHUNK_BYTES = 65_536


class Lines:
    """What is typed or piped in. On a terminal the prompt is put back by `prompt()` after other output."""

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty()
        self._readline = importlib.import_module("readline") if self.interactive else None
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()

        def read() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                for line in _typed() if self.interactive else _piped():
                    loop.call_soon_threadsafe(self._queue.put_nowait, line)
                loop.call_soon_threadsafe(self._queue.put_nowait, None)

        # A daemon: nothing can wake it from its read when the program ends.
        threading.Thread(target=read, daemon=True).start()
        while (line := await self._queue.get()) is not None:
            yield line

    def prompt(self) -> None:
        """Show the prompt again, with what was being typed."""
        if self._readline is not None:
            sys.stdout.write(PROMPT + self._readline.get_line_buffer())
            sys.stdout.flush()


def _typed() -> Iterator[str]:
    with contextlib.suppress(EOFError):
        while True:
            yield input(PROMPT)


def _piped() -> Iterator[str]:
    """Not through `sys.stdin`: a thread that waits in it holds a lock without which Python can't end."""
    rest = b""
    while chunk := os.read(sys.stdin.fileno(), _CHUNK_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
    if rest:
        yield rest.decode(errors="replace")


@contextlib.contextmanager
def terminal_restored() -> Iterator[None]:
    """Leave the terminal as it was: ending the program inside `input` would leave it without echo."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
