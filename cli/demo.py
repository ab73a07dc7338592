"""`jada demo`: a short tour on a Jada of its own, with a crash in it, and what happened where."""

import asyncio
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import httpx

from cli.api import Api
from cli.ask import answered_turn, ended_turn
from cli.broker import open_bus
from cli.demo_witness import Event, Witness
from cli.demo_world import World
from cli.exits import Exit
from cli.receipts import chips
from cli.session import Session
from cli.trace import trace_lines
from shared.errors import JadaError
from shared.messages.conversation import ModelReplied, TurnEnded
from shared.secret import Secret
from shared.settings.schema import Bus as BusSettings

T = TypeVar("T")
_CONVERSATION = "demo"
_USER = "demo"
_PATIENCE_S = 15.0


class TooLate(JadaError):
    """Something the demo waits for did not happen."""


def run(session: Session) -> Exit:
    """Play the tour and leave nothing behind but, if it failed, its logs."""
    return asyncio.run(_demo(session))


async def _demo(session: Session) -> Exit:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    folder = Path(tempfile.mkdtemp(prefix="jada-demo-"))
    try:
        await _play(session, folder)
    except TooLate as exc:
        raise TooLate(session.say("demo.too_late", what=exc, log=folder)) from exc
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    return Exit.OK


async def _play(session: Session, folder: Path) -> None:
    say = session.say
    began = time.monotonic()
    world = World(folder, session.env, language=say.language, identity=say("demo.identity"))
    try:
        await _in_time(world.start(), "services")
        url, token = world.broker
        async with (
            open_bus(BusSettings(url=url, token=Secret(token))) as bus,
            httpx.AsyncClient(base_url=world.api, trust_env=False) as http,
        ):
            tour = Tour(session, world, Api(world.api, http))
            witness = Witness(bus, tour.tell)
            await witness.start()
            await tour.play(witness)
    finally:
        await world.stop()
    tour.tell(say("demo.done", elapsed=f"{time.monotonic() - began:.0f}"))


class Tour:
    """The scenes, in order."""

    def __init__(self, session: Session, world: World, api: Api) -> None:
        self._session = session
        self._say = session.say
        self._world = world
        self._api = api

    def tell(self, text: str) -> None:
        """A line for the person who watches."""
        if self._session.json:
            self._session.print_json({"line": text})
        else:
            print(text, flush=True)

    async def play(self, witness: Witness) -> None:
        """Play every scene."""
        pids = ", ".join(f"{name} {process.pid}" for name, process in self._world.processes.items())
        self.tell(self._say("demo.title"))
        self.tell(self._say("demo.started", processes=pids))
        self._scene("demo.notes")
        await self._ask("demo.say_save")
        await self._ask("demo.say_list")
        self._scene("demo.follow_up")
        await self._ask("demo.say_delete")
        self._scene("demo.reminder")
        rings = witness.expect(_is_reminder)
        await self._ask("demo.say_remind")
        rung = await _in_time(rings, "ReminderDue")
        if isinstance(rung, TurnEnded):
            self.tell(f"   < {rung.answer}")
        await self._crash(witness)

    async def _crash(self, witness: Witness) -> None:
        """The agent is killed between the model's reply and the tool's result; another one ends the turn."""
        self._scene("demo.crash")
        world, say = self._world, self._say
        self.tell(say("demo.paused", pid=world.pause("tools")))
        replied = witness.expect(_asks_for_a_tool)
        accepted = await self._api.post("/v1/turns", {**self._request("demo.say_crash"), "wait_s": 0})
        await _in_time(replied, "ModelReplied")
        self.tell(say("demo.killed", pid=await world.kill("agent")))
        pid = await world.spawn("agent")
        world.resume("tools")
        self.tell(say("demo.replaced", pid=pid))
        turn = await _in_time(ended_turn(self._api, accepted["turn_url"]), "TurnEnded")
        self._answer(turn)
        self.tell(say("demo.trace"))
        for line in trace_lines(turn, say):
            self.tell(f"     {line}")

    def _scene(self, key: str) -> None:
        self.tell(f"\n{self._say(key)}")

    async def _ask(self, key: str) -> None:
        self._answer(await answered_turn(self._api, self._request(key)))

    def _request(self, key: str) -> dict[str, object]:
        text = self._say(key)
        self.tell(f"   > {text}")
        return {"conversation_id": _CONVERSATION, "user_id": _USER, "text": text}

    def _answer(self, turn: dict[str, Any]) -> None:
        receipts = chips(turn.get("actions") or [])
        self.tell(f"   < {turn['answer']}" + (f"   [{receipts}]" if receipts else ""))


def _is_reminder(event: Event) -> bool:
    return isinstance(event, TurnEnded) and event.reason == "reminder"


def _asks_for_a_tool(event: Event) -> bool:
    return isinstance(event, ModelReplied) and bool(event.calls)


async def _in_time(work: Awaitable[T], what: str) -> T:
    try:
        return await asyncio.wait_for(work, _PATIENCE_S)
    except TimeoutError as exc:
        raise TooLate(what) from exc
