"""A service with settings it can't use says which one and ends with 2, before it touches anything."""

from pathlib import Path

import pytest

from tests.support.processes import environment, finished

BROKER = {"JADA_BUS_URL": "nats://127.0.0.1:1"}


@pytest.mark.parametrize("name", ["agent", "learner", "router", "scheduler", "tools"])
async def test_a_value_out_of_range_is_named(tmp_path: Path, name: str) -> None:
    env = environment(**BROKER, JADA_AGENT_CONCURRENCY="0")
    status, _, err = await finished(f"services.{name}", folder=tmp_path, env=env)
    assert (status, "agent.concurrency" in err) == (2, True)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({**BROKER, "JADA_HTTP_PROT": "1"}, "did you mean JADA_HTTP_PORT?"),
        ({}, "bus.url is empty"),
        ({**BROKER, "JADA_CONFIG": "absent.toml"}, "absent.toml"),
    ],
)
async def test_unknown_and_missing_settings_are_named(tmp_path: Path, variables: dict[str, str], said: str) -> None:
    status, _, err = await finished("services.router", folder=tmp_path, env=environment(**variables))
    assert (status, said in err) == (2, True), err


async def test_a_secret_in_the_wrong_place_is_not_repeated(tmp_path: Path) -> None:
    env = environment(JADA_BUS_URL="nats://ana:hunter2@host")
    status, out, err = await finished("services.router", folder=tmp_path, env=env)
    assert (status, "bus.url" in err, "hunter2" in out + err) == (2, True, False)
