"""The demo's own Jada: a broker and every service as a process of its own, in a temporary folder."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from shared.embedded import EmbeddedNats

SERVICES = ("router", "tools", "learner", "scheduler", "agent")
_ROOT = Path(__file__).resolve().parents[1]
_HOST = "127.0.0.1"
_STORE_BYTES = 256 * 1024 * 1024
_STOP_S = 5.0
_POLL_S = 0.05


class World:
    """Starts and stops processes; nothing of it is left after `stop`."""

    def __init__(self, folder: Path, env: Mapping[str, str], *, language: str, identity: str) -> None:
        self._folder = folder
        self._ports = dict(zip(SERVICES, _free_ports(len(SERVICES)), strict=True))
        self._nats = EmbeddedNats(folder / "nats", listen=_HOST, sync="always", max_store_bytes=_STORE_BYTES)
        # Nothing of the user's own configuration: the demo is the same everywhere.
        self._env = {name: value for name, value in env.items() if not name.startswith("JADA_")}
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        profile = folder / "profiles" / "default"
        profile.mkdir(parents=True)
        (profile / "profile.toml").write_text(f'language = "{language}"\n', "utf-8")
        (profile / "identity.md").write_text(identity, "utf-8")

    @property
    def api(self) -> str:
        """The address of the API, served by whichever agent process runs."""
        return f"http://{_HOST}:{self._ports['agent']}"

    @property
    def broker(self) -> tuple[str, str]:
        """Address and token of the broker."""
        return self._nats.url, self._nats.token

    async def start(self) -> None:
        """Start everything and wait until all are ready."""
        await self._nats.start()
        for name in SERVICES:
            await self.spawn(name)
        await asyncio.gather(*(self.ready(name) for name in SERVICES))

    async def stop(self) -> None:
        """Stop everything, whatever state it is in."""
        await asyncio.gather(*(_end(process) for process in self.processes.values()))
        await self._nats.stop()

    async def spawn(self, name: str) -> int:
        """Start a service as a process; its id."""
        with (self._folder / f"{name}.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                f"services.{name}",
                cwd=self._folder,
                env=self._environment(name),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the demo, which stops its processes in order
            )
        self.processes[name] = process
        return process.pid

    async def kill(self, name: str) -> int:
        """SIGKILL a service; the id of the process that is gone."""
        process = self.processes[name]
        process.kill()
        await process.wait()
        return process.pid

    def pause(self, name: str) -> int:
        """Stop a process where it is; its id."""
        self.processes[name].send_signal(signal.SIGSTOP)
        return self.processes[name].pid

    def resume(self, name: str) -> None:
        """Let a paused process go on."""
        self.processes[name].send_signal(signal.SIGCONT)

    async def ready(self, name: str) -> None:
        """Return when the service can do its work."""
        async with httpx.AsyncClient(base_url=f"http://{_HOST}:{self._ports[name]}", trust_env=False) as http:
            while not await _says_ready(http):  # noqa: ASYNC110 - another process
                await asyncio.sleep(_POLL_S)

    def _environment(self, name: str) -> dict[str, str]:
        url, token = self.broker
        path = os.pathsep.join(part for part in (str(_ROOT), self._env.get("PYTHONPATH", "")) if part)
        return {
            **self._env,
            "PYTHONPATH": path,
            "JADA_BUS_URL": url,
            "JADA_BUS_TOKEN": token,
            "JADA_HTTP_PORT": str(self._ports["agent"]),
            "JADA_HTTP_HEALTH_PORT": str(self._ports[name]),
            "JADA_MODEL_NAME": "offline",
            "JADA_AGENT_ACK_WAIT_S": "2",
            "JADA_LEARNER_WINDOW_S": "1",
            "JADA_SERVICE_GRACE_S": "2",
            "JADA_LOG_FORMAT": "json",
        }


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGCONT)
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _says_ready(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/readyz")).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _free_ports(count: int) -> list[int]:
    """Ports that are free now; held together, so that they differ."""
    sockets = [socket.create_server((_HOST, 0)) for _ in range(count)]
    ports = [int(held.getsockname()[1]) for held in sockets]
    for held in sockets:
        held.close()
    return ports
