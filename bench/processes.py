"""Processes under measurement: started, awaited, read, and ended whatever happens."""

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[1]
_READY_WITHIN_S = 20.0
_STOP_WITHIN_S = 8.0
_PR_SET_PDEATHSIG = 1  # Linux, prctl(2)


class NotReady(Exception):
    """A process ended or did not become ready in time; the message holds the end of its log."""


class Running:
    """A process. CPU is user and system time of all its threads, RSS is memory in RAM now."""

    def __init__(self, name: str, pid: int) -> None:
        self.name = name
        self.pid = pid
        self._tasks = Path(f"/proc/{pid}/task")

    def cpu_s(self) -> float:
        """Seconds of CPU so far, in nanosecond steps where the kernel offers them: `stat` counts in 10 ms ticks."""
        if not self._tasks.exists():
            used = psutil.Process(self.pid).cpu_times()
            return float(used.user + used.system)
        total = 0
        for task in self._tasks.iterdir():
            with contextlib.suppress(OSError):  # a thread that ended meanwhile
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def rss_mb(self) -> float:
        """Resident memory in MB (2**20 bytes)."""
        return round(float(psutil.Process(self.pid).memory_info().rss) / 2**20, 1)


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without settings or keys of its own, plus `variables`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JADA_") and not k.endswith("_API_KEY")}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), **variables}


@asynccontextmanager
async def python(
    name: str, module: str, *arguments: str, env: Mapping[str, str], folder: Path
) -> AsyncIterator[Running]:
    """`python -m module` in `folder`, its log beside; told to stop at the end, killed if it does not."""
    with (folder / f"{name}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            *arguments,
            cwd=folder,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,
        )
    try:
        yield Running(name, process.pid)
    finally:
        await _end(process)


async def ready(process: Running, url: str, folder: Path) -> None:
    """Wait until `url` answers 200; `NotReady` when the process ends before, or takes too long."""
    last = "no answer"
    deadline = asyncio.get_running_loop().time() + _READY_WITHIN_S
    async with httpx.AsyncClient(trust_env=False) as http:
        while asyncio.get_running_loop().time() < deadline and psutil.pid_exists(process.pid):
            with contextlib.suppress(httpx.RequestError):
                response = await http.get(url)
                if response.status_code == httpx.codes.OK:
                    return
                last = response.text
            await asyncio.sleep(0.05)
    raise NotReady(f"{process.name}: {last}\n{log_of(process.name, folder)[-2000:]}")


async def printed(name: str, folder: Path) -> str:
    """The first line that a process printed."""
    deadline = asyncio.get_running_loop().time() + _READY_WITHIN_S
    while asyncio.get_running_loop().time() < deadline:
        text = log_of(name, folder)
        if "\n" in text:
            return text.partition("\n")[0]
        await asyncio.sleep(0.02)
    raise NotReady(f"{name} printed nothing")


def log_of(name: str, folder: Path) -> str:
    """Everything a process wrote so far."""
    return (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def _die_with_parent() -> None:
    """In the child: end when the bench is killed, and leave the terminal's Ctrl-C to the bench."""
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
