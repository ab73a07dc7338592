"""Each service as its own process: it starts, is ready, does its work, and ends with 0 when asked to."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import msgspec

from shared import subjects
from shared.bus import Bus
from shared.conversation.log import put_input
from shared.messages import routing
from shared.messages.conversation import CallRequested, ModelReplied, ToolFinished, TurnEnded, TurnStarted, UserMessage
from shared.messages.conversation import events as conversation_events
from shared.messages.playbook import TurnsCaptured
from shared.messages.playbook import events as playbook_events
from shared.messages.routing import RouteDecision, RouteRequest
from shared.messages.schedules import ReminderScheduled
from shared.messages.tools import ToolJob
from shared.schedules import Schedules
from tests.support.eventually import eventually
from tests.support.nats import PrivateNats
from tests.support.processes import service

NOW = datetime.now(UTC)
MESSAGE = UserMessage(message_id="m1", user_id="ana", text="hola", sent_at=NOW)


async def stored(bus: Bus, subject: str) -> list[bytes]:
    return [message.data for message in await bus.read(subject)]


async def test_the_agent_answers_over_http(tmp_path: Path, nats_server: PrivateNats) -> None:
    async with service("agent", tmp_path, nats_server.environment()) as agent:
        await agent.ready()
        async with httpx.AsyncClient(base_url=agent.address, trust_env=False) as http:
            request = {"conversation_id": "c1", "user_id": "ana", "text": "cuánto es 2 + 3", "wait_s": 20}
            turn = (await http.post("/v1/turns", json=request, timeout=30)).json()
        assert (turn["status"], "2 + 3 = 5" in turn["answer"]) == ("answered", True)
        assert await agent.terminate() == 0, agent.output


async def test_the_tools_worker_runs_a_job_and_delivers_the_result(
    tmp_path: Path, nats_server: PrivateNats, bus: Bus
) -> None:
    job = ToolJob(
        call_id="1-t.1.0",
        turn_id="1-t",
        conversation_id="c1",
        user_id="ana",
        group="notes",
        name="note_save",
        arguments=msgspec.Raw(b'{"text":"comprar leche"}'),
        reply_to=subjects.conv_tool("c1"),
        start_by=datetime.now(UTC) + timedelta(minutes=1),
        deadline_s=10,
    )
    async with service("tools", tmp_path, nats_server.environment()) as tools:
        await tools.ready()
        await bus.append(subjects.tool_job("notes", "note_save"), job, msg_id=job.call_id)
        found = await eventually(lambda: stored(bus, subjects.conv_tool("c1")))
        result = conversation_events.decode(found[0])
        assert isinstance(result, ToolFinished)
        assert (result.call_id, result.status) == (job.call_id, "ok")
        assert await tools.terminate() == 0, tools.output


async def test_the_router_names_the_groups_that_workers_declared(
    tmp_path: Path, nats_server: PrivateNats, bus: Bus
) -> None:
    broker = nats_server.environment()
    async with service("tools", tmp_path, broker) as tools, service("router", tmp_path, broker) as router:
        await tools.ready()
        await router.ready()

        async def decide() -> RouteDecision:
            question = RouteRequest(text="guarda esta nota: comprar leche")
            decision = routing.decisions.decode(await bus.request(subjects.ROUTE, question, timeout_s=2))
            assert isinstance(decision, RouteDecision)
            return decision

        async def knows_notes() -> bool:
            return (await decide()).groups == ["notes"]

        assert await eventually(knows_notes)
        assert await router.terminate() == 0, router.output


async def test_the_scheduler_delivers_a_reminder_into_its_conversation(
    tmp_path: Path, nats_server: PrivateNats, bus: Bus
) -> None:
    reminder = ReminderScheduled(
        schedule_id="s1",
        user_id="ana",
        conversation_id="c1",
        text="estirar",
        due_at=datetime.now(UTC) + timedelta(seconds=1),
        created_at=NOW,
    )
    async with service("scheduler", tmp_path, nats_server.environment()) as scheduler:
        await scheduler.ready()
        await Schedules(bus).arm(reminder)
        found = await eventually(lambda: stored(bus, subjects.conv_in("c1")))
        assert msgspec.json.decode(found[0])["text"] == "estirar"
        assert await scheduler.terminate() == 0, scheduler.output


async def test_the_learner_records_a_finished_turn(tmp_path: Path, nats_server: PrivateNats, bus: Bus) -> None:
    first = (await put_input(bus, "c1", MESSAGE, message_id="m1")).seq
    turn = f"{first}-t"
    call = CallRequested(call_id=f"{turn}.1.0", name="note_list", group="notes")
    log = [
        TurnStarted(turn_id=turn, epoch=1, owner="h.1.a", lease=first, inputs=[first], at=NOW),
        ModelReplied(turn_id=turn, step=1, model="m", finish="calls", at=NOW, calls=[call]),
        TurnEnded(turn_id=turn, status="answered", answer="ninguna", inputs=[first], at=NOW, calls=1),
    ]
    async with service("learner", tmp_path, nats_server.environment(), JADA_LEARNER_WINDOW_S="0.2") as learner:
        await learner.ready()
        for at, event in enumerate(log):
            await bus.append(subjects.conv_log("c1"), event, msg_id=f"e{at}")
        found = await eventually(lambda: stored(bus, subjects.playbook("user:ana")))
        captured = playbook_events.decode(found[0])
        assert isinstance(captured, TurnsCaptured)
        assert [(studied.turn_id, studied.tools) for studied in captured.turns] == [(turn, ["note_list"])]
        assert await learner.terminate() == 0, learner.output
