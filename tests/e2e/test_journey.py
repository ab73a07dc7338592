"""What a person does on the first day, through real processes only."""

import json
from pathlib import Path

import psutil

from tests.support.all_in_one import jada_up

MEMORY_GOAL = 150 * 1024 * 1024


def receipts(turn: dict[str, object]) -> list[tuple[str, str]]:
    actions = turn["actions"]
    assert isinstance(actions, list)
    return [(action["name"], action["status"]) for action in actions]


async def test_a_note_is_still_there_after_everything_was_restarted(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        turn = await jada.ask("guarda esta nota: comprar leche")
        assert receipts(turn) == [("note_save", "ok")]
        assert await jada.process.terminate() == 0, jada.process.output
    assert not (tmp_path / "data/jada.json").exists()
    async with jada_up(tmp_path) as jada:
        turn = await jada.ask("¿qué notas tengo?")
        assert ("comprar leche" in turn["answer"], receipts(turn)) == (True, [])


async def test_every_command_tells_of_what_happened(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        turn = await jada.ask("save this note: buy milk")

        async def lines(*arguments: str) -> list[str]:
            status, out = await jada.run(*arguments)
            assert status == 0, out
            return out.splitlines()

        trace = await lines("trace", turn["turn_id"])
        assert [line for line in trace if "note_save" in line and "ok" in line]
        by_input = await lines("trace", str(turn["inputs"][0]))
        assert by_input == trace
        assert await lines("conversations", "--user", "nobody") == ["There are no conversations yet."]
        assert len(await lines("conversations")) == 1
        assert "notes" in await lines("tools")
        assert (await lines("route", "--explain", "save this note"))[0].startswith("groups: notes")
        doctor = await lines("doctor", "--verbose")
        assert (doctor.count("Everything is fine."), any("conv.*.in" in line for line in doctor)) == (1, True)
        assert not [line for line in doctor if line.startswith("ILL")]


async def test_it_announces_itself_for_programs_and_keeps_the_token_to_its_owner(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        announcement = tmp_path / "data/jada.json"
        announced = json.loads(announcement.read_bytes())
        assert (announced["api"], announced["pid"]) == (jada.process.address, jada.process.process.pid)
        assert (jada.announced["model"], announcement.stat().st_mode & 0o777) == ("offline", 0o600)
        assert jada.process.output.count("\n") == 1  # the log goes to its file
        log = (tmp_path / "data/jada.log").read_text("utf-8").splitlines()
        assert [json.loads(line)["event"] for line in log].count("service.started") == 5


async def test_all_in_one_with_its_broker_fits_its_memory(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        for text in ("hola", "guarda esta nota: comprar leche", "¿qué notas tengo?"):
            await jada.ask(text)
        root = psutil.Process(jada.process.process.pid)
        processes = [root, *root.children(recursive=True)]
        used = {f"{process.name()} {process.pid}": process.memory_info().rss for process in processes}
        assert any("nats-server" in name for name in used)
        assert sum(used.values()) < MEMORY_GOAL, used
