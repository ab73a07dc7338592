"""The logs of `jada up`: all of them as JSON in a file, the important ones also for the person at the console."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, TextIO

import structlog

from shared import logs

_ROTATE_BYTES = 20 * 1024 * 1024
_SAME_AGAIN_S = 5.0
_IMPORTANT = ("warning", "error", "critical")
_GOOD_NEWS = ("bus.reconnected",)  # the end of bad news
_NOT_SHOWN = ("event", "level", "timestamp", "exc_info", "stack_info")


class Console:
    """A structlog processor that repeats important lines on `out`; five services say the same, it is shown once."""

    def __init__(self, out: TextIO, *, verbose: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._verbose = verbose
        self._clock = clock
        self._shown_at: dict[str, float] = {}

    def __call__(self, _logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """Show the line if it is worth it, and pass it on as it is."""
        if self._is_worth_showing(str(line["level"]), str(line["event"])):
            facts = " ".join(f"{key}={value}" for key, value in line.items() if key not in _NOT_SHOWN)
            # A console that was closed must not disturb the services.
            with contextlib.suppress(OSError, ValueError):
                print(f"{line['level']:<7} {line['event']} {facts}", file=self._out, flush=True)
        return line

    def _is_worth_showing(self, level: str, event: str) -> bool:
        if self._verbose:
            return True
        now = self._clock()
        if level not in _IMPORTANT and event not in _GOOD_NEWS:
            return False
        if now - self._shown_at.get(event, -_SAME_AGAIN_S) < _SAME_AGAIN_S:
            return False
        self._shown_at[event] = now
        return True


@contextlib.contextmanager
def logging_to(path: Path, *, level: str, verbose: bool) -> Iterator[None]:
    """Send this process's standard error and all logs to `path`, important lines to the console too.

    A file over 20 MB is set aside as `….1` first. Standard error is itself again afterwards.
    """
    if path.exists() and path.stat().st_size > _ROTATE_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    stderr = sys.stderr.fileno()
    kept = os.dup(stderr)
    with path.open("ab") as file:
        os.dup2(file.fileno(), stderr)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8", errors="replace") as console:
            logs.configure(level=level, style="json")
            *before, render = structlog.get_config()["processors"]
            structlog.configure(processors=[*before, Console(console, verbose=verbose), render])
            yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, stderr)
        os.close(kept)
