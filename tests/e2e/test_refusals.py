"""What can't work is refused with one sentence and an exit status of its own."""

import json
from pathlib import Path

import pytest

from tests.support.all_in_one import jada_up, variables
from tests.support.processes import finished, free_port


async def test_a_second_jada_on_the_same_data_or_port_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        other_port = {**jada.env, "JADA_HTTP_PORT": "0"}
        status, _, err = await finished("cli.main", "up", folder=tmp_path, env=other_port)
        assert (status, "Another Jada uses the folder" in err, err.count("\n")) == (1, True, 1)
        other_data = {**jada.env, "JADA_DATA": str(tmp_path / "other")}
        status, _, err = await finished("cli.main", "up", folder=tmp_path, env=other_data)
        assert (status, "it is taken" in err, err.count("\n")) == (1, True, 1)
        assert (await jada.ask("hello"))["status"] == "answered"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
async def test_it_does_not_listen_where_others_could_reach_it(tmp_path: Path, host: str) -> None:
    env = variables(tmp_path, JADA_HTTP_HOST=host)
    status, _, err = await finished("cli.main", "up", folder=tmp_path, env=env)
    assert (status, "reachable from other machines" in err) == (2, True)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("arguments", [["ask", "hello"], ["chat"], ["tools"], ["doctor"]])
async def test_without_a_server_the_way_to_start_it_is_named(tmp_path: Path, arguments: list[str]) -> None:
    env = variables(tmp_path, JADA_HTTP_PORT=str(free_port()), JADA_API=f"http://127.0.0.1:{free_port()}")
    status, out, err = await finished("cli.main", *arguments, folder=tmp_path, env=env)
    assert (status, "make run" in out + err) == (3, True)


async def test_a_spoilt_announcement_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/jada.json").write_text("{", "utf-8")
    status, _, err = await finished("cli.main", "ask", "hello", folder=tmp_path, env=variables(tmp_path))
    assert (status, "jada.json" in err) == (1, True)


async def test_refusals_of_the_server_are_usage_errors_for_programs_too(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        status, out = await jada.run("ask", "hello", "--conversation", "x" * 300, "--json")
        assert (status, json.loads(out)["exit"]) == (2, 2)
        status, out = await jada.run("trace", "999999", "--json")
        assert (status, json.loads(out)["exit"]) == (1, 1)
