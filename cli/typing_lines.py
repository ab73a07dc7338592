"""Lines from standard input without blocking the event loop; edited with readline on a terminal."""

import asyncio
import contextlib
import importlib
import sys
import termios
import threading
from collections.abc import AsyncIterator, Iterator

PROMPT = "> "


class Lines:
    """What is typed or piped in. On a terminal the prompt is put back by `prompt()` after other output."""

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty()
        self._readline = importlib.import_module("readline") if self.interactive else None
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()

        def read() -> None:
            # A thread of its own, and a daemon: nothing can wake it from `input` when the program ends.
            while True:
                try:
                    line = input(PROMPT if self.interactive else "")
                except (EOFError, UnicodeDecodeError):
                    line = None
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                    loop.call_soon_threadsafe(self._queue.put_nowait, line)
                if line is None:
                    return

        threading.Thread(target=read, daemon=True).start()
        while (line := await self._queue.get()) is not None:
            yield line

    def prompt(self) -> None:
        """Show the prompt again, with what was being typed."""
        if self._readline is not None:
            sys.stdout.write(PROMPT + self._readline.get_line_buffer())
            sys.stdout.flush()


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
