"""`jada chat` on a terminal: typed lines, the prompt, Ctrl-C, and a terminal left as it was."""

import asyncio
import os
import pty
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.all_in_one import Jada, jada_up
from tests.support.eventually import eventually

CTRL_C = "\x03"
ECHO = 3  # index of the local flags in termios


class Terminal:
    """The other end of a pseudo-terminal in which a chat runs."""

    def __init__(self, process: asyncio.subprocess.Process, master: int, slave: int) -> None:
        self.process = process
        self.slave = slave
        self.screen = ""
        self._master = master
        asyncio.get_running_loop().add_reader(master, self._read)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def shows(self, text: str) -> None:
        await eventually(lambda: text in self.screen, within_s=15)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        os.close(self.slave)

    def _read(self) -> None:
        self.screen += os.read(self._master, 65_536).decode(errors="replace")


@asynccontextmanager
async def terminal(jada: Jada) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cli.main",
        "chat",
        cwd=jada.folder,
        env={**jada.env, "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # makes it the controlling terminal
    )
    shown = Terminal(process, master, slave)
    try:
        yield shown
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        shown.close()


async def test_a_typed_message_is_answered_and_the_terminal_is_left_as_it_was(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada, terminal(jada) as chat:
        before = termios.tcgetattr(chat.slave)
        await chat.shows("> ")
        chat.type("save this note: buy milk\n")
        await chat.shows("✓ note_save")
        await chat.shows("buy milk”")
        chat.type("/quit\n")
        assert await asyncio.wait_for(chat.process.wait(), 5) == 0, chat.screen
        assert termios.tcgetattr(chat.slave)[ECHO] == before[ECHO]


async def test_what_is_being_typed_is_kept_when_something_else_is_shown(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada, terminal(jada) as chat:
        await chat.shows("> ")
        chat.type("recuérdame en 2 segundos estirar\n")
        await chat.shows("✓ set_reminder")
        chat.type("which notes do")
        await chat.shows("⏰")
        await eventually(lambda: "> which notes do" in chat.screen.rpartition("⏰")[2])
        chat.type(" I have?\n")
        await chat.shows("I found no notes")


async def test_ctrl_c_with_nothing_running_ends_the_chat(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada, terminal(jada) as chat:
        await chat.shows("> ")
        chat.type(CTRL_C)
        assert await asyncio.wait_for(chat.process.wait(), 5) == 0, chat.screen
