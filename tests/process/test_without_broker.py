"""A service whose broker is absent waits for it, says so, and works as soon as it is there."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.nats import PrivateNats
from tests.support.processes import Running, free_port, service


async def report_of(process: Running, *, ready: bool) -> dict[str, Any]:
    async def check() -> dict[str, Any] | None:
        report = await process.report()
        return report if report is not None and report["ready"] is ready else None

    return await eventually(check, within_s=15)


@pytest.mark.parametrize("name", ["agent", "learner", "router", "scheduler", "tools"])
async def test_it_waits_for_the_broker_and_recovers(tmp_path: Path, name: str) -> None:
    broker = PrivateNats(tmp_path / "nats")
    broker.port = free_port()
    async with service(name, tmp_path, broker.environment()) as process:
        report = await report_of(process, ready=False)
        health = await process.get("/healthz")
        assert (list(report["problems"]), health and health.status_code) == ([f"{name}.nats"], 200)
        await broker.start()
        try:
            await report_of(process, ready=True)
            assert await process.terminate() == 0, process.output
        finally:
            await broker.stop()


async def test_it_notices_that_the_broker_went_away_and_came_back(tmp_path: Path, nats_server: PrivateNats) -> None:
    async with service("scheduler", tmp_path, nats_server.environment()) as process:
        await report_of(process, ready=True)
        nats_server.kill()
        await eventually(lambda: "bus.disconnected" in process.output)
        await eventually(lambda: "bus.reconnected" in process.output)
        await report_of(process, ready=True)


async def test_it_can_be_stopped_while_it_waits(tmp_path: Path) -> None:
    async with service("router", tmp_path, {"JADA_BUS_URL": f"nats://127.0.0.1:{free_port()}"}) as process:
        await report_of(process, ready=False)
        assert await process.terminate() == 0, process.output
