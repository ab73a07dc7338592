"""`jada up` with a broker that is already there, or not yet."""

import json
from pathlib import Path

from tests.support.all_in_one import jada_up, variables
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats
from tests.support.processes import free_port, running


async def test_it_uses_the_broker_it_is_given_and_repeats_no_secret(tmp_path: Path, nats_server: PrivateNats) -> None:
    async with jada_up(tmp_path, **nats_server.environment()) as jada:
        assert (await jada.ask("save this note: buy milk"))["actions"][0]["status"] == "ok"
        announced = json.loads((tmp_path / "data/jada.json").read_bytes())
        assert (announced.get("bus_token"), (tmp_path / "data/nats.conf").exists()) == (None, False)
        status, out = await jada.run("doctor")
        assert (status, nats_server.url in out, nats_server.token in out) == (0, True, False)


async def test_it_says_that_it_waits_for_an_absent_broker_and_can_be_stopped(tmp_path: Path) -> None:
    port = free_port()
    env = variables(tmp_path, JADA_HTTP_PORT=str(port), JADA_BUS_URL=f"nats://127.0.0.1:{free_port()}")
    async with running("cli.main", "up", folder=tmp_path, env=env, port=port) as process:
        await eventually(lambda: "Waiting for NATS" in process.output, within_s=20)
        health = await process.get("/healthz")
        assert (health and health.status_code, (await process.report() or {})["ready"]) == (200, False)
        assert await process.terminate() == 0, process.output
