"""Services and the command line as processes of their own, seen from outside only."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.eventually import eventually

ROOT = Path(__file__).parents[2]
_STOP_S = 10.0


class Running:
    """A process under test; everything it wrote is in `output`."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path, address: str) -> None:
        self.process = process
        self.address = address
        self._log = log

    @property
    def output(self) -> str:
        return self._log.read_text("utf-8", errors="replace")

    async def get(self, path: str) -> httpx.Response | None:
        """The answer of its HTTP side, None while it does not listen."""
        async with httpx.AsyncClient(base_url=self.address, trust_env=False) as http:
            try:
                return await http.get(path)
            except httpx.TransportError:
                assert self.process.returncode is None, self.output
                return None

    async def report(self) -> dict[str, Any] | None:
        """What `/readyz` says."""
        response = await self.get("/readyz")
        return response.json() if response is not None else None

    async def ready(self) -> None:
        async def check() -> bool:
            report = await self.report()
            return report is not None and report["ready"]

        await eventually(check, within_s=20)

    async def terminate(self) -> int:
        """Ask it to stop; its exit status."""
        self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), _STOP_S)


def environment(**variables: str) -> dict[str, str]:
    """This process's environment with `JADA_…` variables of the test only."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("JADA_")}
    return {**own, "PYTHONPATH": str(ROOT), "JADA_MODEL_NAME": "offline", **variables}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
        return port


@asynccontextmanager
async def running(*arguments: str, folder: Path, env: Mapping[str, str], port: int) -> AsyncIterator[Running]:
    """`python -m <arguments>` in `folder` until the block is left; killed there if it still runs."""
    log = folder / f"{arguments[0]}.{port}.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *arguments, cwd=folder, env=env, stdout=output, stderr=output
        )
    try:
        yield Running(process, log, f"http://127.0.0.1:{port}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def service(name: str, folder: Path, broker: Mapping[str, str], **variables: str) -> AsyncIterator[Running]:
    """`python -m services.<name>` on a broker, with its HTTP side on a free port."""
    port = free_port()
    ports = {"JADA_HTTP_PORT": str(port), "JADA_HTTP_HEALTH_PORT": str(port)}
    env = environment(**broker, **ports, JADA_AGENT_PROFILES_DIR=str(ROOT / "profiles"), **variables)
    async with running(f"services.{name}", folder=folder, env=env, port=port) as process:
        yield process


async def finished(*arguments: str, folder: Path, env: Mapping[str, str], stdin: bytes = b"") -> tuple[int, str, str]:
    """Run `python -m <arguments>` to its end: exit status, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *arguments,
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(stdin), 40)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()
