"""`jada chat` with lines piped in, as a script or a test does."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.all_in_one import Jada, jada_up


class Talk:
    """A chat that stays open; lines are typed into it and read from it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def type(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def line_with(self, part: str, *, within_s: float = 15) -> str:
        """The next line that holds `part`."""
        assert self._process.stdout is not None
        async with asyncio.timeout(within_s):
            while line := (await self._process.stdout.readline()).decode():
                if part in line:
                    return line.strip()
        raise AssertionError(f"the chat ended without {part!r}")

    async def quit(self) -> int:
        self.type("/quit")
        return await asyncio.wait_for(self._process.wait(), 5)


@asynccontextmanager
async def talking(jada: Jada, *arguments: str) -> AsyncIterator[Talk]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cli.main", "chat", *arguments, cwd=jada.folder, env=jada.env, stdin=pipe, stdout=pipe
    )
    try:
        yield Talk(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_piped_lines_are_answered_in_order_with_receipts(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        status, out = await jada.run("chat", stdin="save this note: buy milk\nwhich notes do I have?\nand delete it\n")
        shown = [line for line in out.splitlines() if line.strip()]
        assert status == 0
        assert [line for line in shown if line[0] in "✓✗"] == ["✓ note_save", "✓ note_delete"]
        assert [line.strip() for line in shown if "…" in line] == ["… note_save", "… note_list", "… note_delete"]
        assert sum("buy milk" in line for line in shown) == 3  # each answer once


async def test_a_reminder_arrives_while_the_chat_is_open(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada, talking(jada) as talk:
        talk.type("recuérdame en 2 segundos estirar las piernas")
        await talk.line_with("✓ set_reminder")
        assert "estirar las piernas" in await talk.line_with("⏰")
        assert await talk.quit() == 0


async def test_commands_start_anew_and_show_the_trace(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada, talking(jada) as talk:
        talk.type("/trace")
        await talk.line_with("no turn yet")
        talk.type("save this note: buy milk")
        await talk.line_with("✓ note_save")
        talk.type("/trace")
        await talk.line_with("note_save")
        talk.type("/new")
        await talk.line_with("New conversation")
        talk.type("and delete it")  # nothing was said in this conversation
        await talk.line_with("which note")
        talk.type("/nonsense")
        await talk.line_with("/nonsense")
        assert await talk.quit() == 0


async def test_events_come_as_json_for_programs(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        status, out = await jada.run("chat", "--json", stdin="save this note: buy milk\n")
        events = [json.loads(line) for line in out.splitlines()]
        names = [event["event"] for event in events]
        assert (status, "tool_started" in names, "delta" in names) == (0, True, True)
        assert {event["status"] for event in events if event["event"] == "answer"} == {"answered"}
