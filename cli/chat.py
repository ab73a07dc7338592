"""`jada chat`: a conversation in the terminal, with everything that happens in it."""

import asyncio
import contextlib
import signal
import time
import uuid
from collections.abc import Mapping

from cli.api import Api, ServerEvent, conversation_path, open_api
from cli.ask import ended_turn, turn_request
from cli.exits import ApiProblem, Exit, Unreachable
from cli.screen import Screen
from cli.session import Session
from cli.trace import trace_lines
from cli.typing_lines import Lines, terminal_restored

_RECONNECT_S = 0.5
_PATIENCE_S = 30.0


def run(session: Session) -> Exit:
    """Talk until `/quit` or the end of the input."""
    with terminal_restored():
        return asyncio.run(_chat(session))


async def _chat(session: Session) -> Exit:
    async with open_api(session) as api:
        status = await api.get("/v1/status")
        chat = Chat(api, session, Lines())
        chat.greet(status["model"]["name"] if status["model"] else "-")
        return await chat.run()


class Chat:
    """One terminal in one conversation at a time.

    Everything is shown from the conversation's own stream, so that reminders and other people's messages appear too.
    The stream of a message one sent is followed for its end only: it arrives even when the other stream broke.
    """

    def __init__(self, api: Api, session: Session, lines: Lines) -> None:
        self._api = api
        self._session = session
        self._say = session.say
        self._lines = lines
        self._screen = Screen(session.say, user=session.args.user)
        self._conversation = session.conversation
        self._followed = asyncio.Event()
        self._follower: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()
        self._last_turn = ""
        self._exit = Exit.OK

    def greet(self, model: str) -> None:
        """Say where one is."""
        if self._lines.interactive:
            print(self._say("chat.hello", conversation=self._conversation, model=model))

    async def run(self) -> Exit:
        """Send line after line; piped lines wait for the answer to the one before."""
        with contextlib.suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupted)
        try:
            self._follow(self._conversation)
            async for line in self._lines:
                if not await self._typed(line.strip()):
                    break
                if not self._lines.interactive:
                    await self._answered()
            if not self._lines.interactive:
                await self._answered()
        except asyncio.CancelledError:
            return Exit.OK
        finally:
            for task in (*self._sending, self._follower):
                if task is not None:
                    task.cancel()
        return self._exit

    async def _typed(self, line: str) -> bool:
        """Do what a line says; False when it says to leave."""
        match line.split():
            case []:
                return True
            case ["/quit" | "/exit" | "/salir"]:
                return False
            case ["/help" | "/ayuda"]:
                self._tell(self._say("chat.help"))
            case ["/new" | "/nueva"]:
                self._conversation = f"{self._session.conversation}-{uuid.uuid4().hex[:8]}"
                self._follow(self._conversation)
                self._tell(self._say("chat.new", conversation=self._conversation))
            case ["/trace" | "/traza", *rest]:
                await self._trace(rest[0] if rest else self._last_turn)
            case [word, *_] if word.startswith("/"):
                self._tell(self._say("chat.unknown_command", command=word))
            case _:
                self._send(line)
        return True

    def _send(self, text: str) -> None:
        task = asyncio.create_task(self._turn(self._conversation, text))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _turn(self, conversation: str, text: str) -> None:
        """Send a message and see its turn to the end; sent again under the same key if the connection breaks."""
        await self._followed.wait()
        body = {**turn_request(self._session, conversation, text), "idempotency_key": uuid.uuid4().hex}
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            try:
                await self._stream(body)
            except Unreachable:
                if time.monotonic() > give_up:
                    self._exit = Exit.UNREACHABLE
                    self._tell(self._say("chat.not_sent"))
                    return
                await asyncio.sleep(_RECONNECT_S)
            except ApiProblem as exc:
                if exc.passing and time.monotonic() < give_up:
                    await asyncio.sleep(_RECONNECT_S)
                    continue
                self._exit = exc.exit
                self._tell(self._say("api_problem", detail=exc.detail, remedy=f" {exc.remedy}" if exc.remedy else ""))
                return
            else:
                return

    async def _stream(self, body: Mapping[str, object]) -> None:
        url = ""
        with contextlib.suppress(Unreachable):
            async with self._api.events("POST", "/v1/turns", body) as events:
                async for event in events:
                    url = event.data.get("turn_url", url)
                    if event.name in ("answer", "failed"):
                        self._hear(event)
                        return
        if not url:
            raise Unreachable(self._api.address)
        # The stream broke after the message was accepted.
        turn = await ended_turn(self._api, url)
        self._hear(ServerEvent("answer" if turn["status"] in ("answered", "waiting") else "failed", turn))

    def _hear(self, event: ServerEvent) -> None:
        if self._session.json:
            self._session.print_json({"event": event.name, **event.data})
        if self._session.json or self._screen.show(event):
            if event.name in ("answer", "failed"):
                self._last_turn = event.data["turn_id"]
                self._exit = Exit.OK if event.name == "answer" else Exit.FAILED
            self._lines.prompt()

    def _follow(self, conversation: str) -> None:
        if self._follower is not None:
            self._follower.cancel()
        self._followed.clear()
        self._follower = asyncio.create_task(self._following(conversation))

    async def _following(self, conversation: str) -> None:
        lost = False
        while True:
            try:
                async with self._api.events("GET", conversation_path(conversation, "/stream")) as events:
                    self._followed.set()
                    if lost:
                        self._tell(self._say("chat.back"))
                    lost = False
                    async for event in events:
                        self._hear(event)
            except ApiProblem as exc:
                if not exc.passing:
                    self._followed.set()
                    self._tell(exc.detail)
                    return
            except Unreachable:
                if not lost:
                    self._tell(self._say("chat.lost"))
                lost = True
            await asyncio.sleep(_RECONNECT_S)

    async def _answered(self) -> None:
        if self._sending:
            await asyncio.wait(set(self._sending))

    async def _trace(self, turn: str) -> None:
        if not turn:
            self._tell(self._say("chat.no_turn"))
            return
        try:
            trace = await self._api.get(f"/v1/turns/{turn}")
        except ApiProblem as exc:
            self._tell(exc.detail)
        else:
            self._tell("\n".join(trace_lines(trace, self._say)))

    def _tell(self, text: str) -> None:
        if not self._session.json:
            self._screen.say(text)
            self._lines.prompt()

    def _interrupted(self) -> None:
        """Ctrl-C stops what runs; when nothing runs it ends the chat."""
        if not self._sending:
            for task in asyncio.all_tasks():
                task.cancel()
            return
        body = {"user_id": self._session.args.user}
        task = asyncio.create_task(self._cancel(body))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _cancel(self, body: dict[str, object]) -> None:
        with contextlib.suppress(Unreachable, ApiProblem):
            await self._api.post(conversation_path(self._conversation, "/cancel"), body)
