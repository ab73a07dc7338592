import asyncio

import pytest

from shared.blobs import get_output, put_output
from tests.support.eventually import eventually
from tests.support.system import System


async def test_a_conversation_reads_as_people_see_it(system: System) -> None:
    await system.say("guarda una nota: comprar leche")
    page = (await system.api.get("/v1/conversations/c1")).json()
    asked, told = page["messages"]
    assert (asked["role"], asked["user_id"], asked["text"]) == ("user", "ana", "guarda una nota: comprar leche")
    assert (told["role"], told["text"], told["status"]) == ("assistant", "Guardada.", "answered")
    assert [(a["name"], a["status"]) for a in told["actions"]] == [("note_save", "ok")]
    assert page["next_cursor"] is None
    assert (await system.api.get(f"/v1/turns/{told['turn_id']}")).json()["answer"] == told["text"]


async def test_a_conversation_reads_as_it_is_stored(system: System) -> None:
    await system.say("guarda una nota: comprar leche")
    events = (await system.api.get("/v1/conversations/c1", params={"view": "events"})).json()["events"]
    assert [(e["kind"], e["event"]["type"]) for e in events] == [
        ("in", "input.user_message"),
        ("log", "log.turn_started"),
        ("log", "log.model_replied"),
        ("tool", "tool.finished"),
        ("log", "log.turn_ended"),
    ]
    assert [e["seq"] for e in events] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("view", ["messages", "events"])
async def test_pages_lead_from_the_newest_to_the_first(system: System, view: str) -> None:
    for number in range(4):
        await system.say(f"hola {number}")
        await system.say("hola", conversation="other")
    params: dict[str, str | int] = {"view": view, "limit": 3}
    pages = []
    while True:
        page = (await system.api.get("/v1/conversations/c1", params=params)).json()
        pages.append([item["seq"] for item in page[view]])
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    whole = (await system.api.get("/v1/conversations/c1", params={"view": view, "limit": 200})).json()[view]
    assert [seq for page in reversed(pages) for seq in page] == [item["seq"] for item in whole]
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert len(whole) == (8 if view == "messages" else 12)


async def test_a_cursor_from_nowhere_leads_to_an_empty_page(system: System) -> None:
    await system.say("hola")
    page = await system.api.get("/v1/conversations/c1", params={"cursor": 1})
    assert page.json() == {"messages": [], "next_cursor": None}


async def test_a_user_lists_the_conversations_joined_last_first(system: System) -> None:
    for conversation in ("uno", "dos", "tres/4"):
        await system.say("hola", conversation=conversation)
    await system.say("hola", conversation="ajena", user="luis")
    first = (await system.api.get("/v1/conversations", params={"user_id": "ana", "limit": 2})).json()
    assert [c["conversation_id"] for c in first["conversations"]] == ["tres/4", "dos"]
    rest = await system.api.get("/v1/conversations", params={"user_id": "ana", "cursor": first["next_cursor"]})
    assert rest.json() == {"conversations": [{"conversation_id": "uno"}], "next_cursor": None}
    nobody = await system.api.get("/v1/conversations", params={"user_id": "nobody"})
    assert nobody.json() == {"conversations": [], "next_cursor": None}


async def test_a_deleted_conversation_is_gone_with_all_that_belongs_to_it(system: System) -> None:
    await system.say("hola", conversation="sala/1")
    await system.say("hola", conversation="sala/1", user="luis")
    await system.say("hola", conversation="sala")
    await put_output(system.bus, "sala/1", "call", "long")
    response = await system.api.delete("/v1/conversations/sala/1")
    assert (response.status_code, response.content) == (204, b"")
    assert (await system.api.get("/v1/conversations/sala/1")).status_code == 404
    assert await get_output(system.bus, "sala/1", "call") is None
    for user, left in (("ana", [{"conversation_id": "sala"}]), ("luis", [])):
        listed = await system.api.get("/v1/conversations", params={"user_id": user})
        assert listed.json()["conversations"] == left
    assert len((await system.api.get("/v1/conversations/sala")).json()["messages"]) == 2
    assert (await system.api.delete("/v1/conversations/sala/1")).status_code == 204


async def test_a_deleted_conversation_starts_anew_without_its_past(system: System) -> None:
    await system.say("el codigo es 4711")
    await system.api.delete("/v1/conversations/c1")
    again = (await system.say("hola")).json()
    assert again["answer"] == "Hola."
    assert "4711" not in str(system.model.received[-1].body)
    assert len((await system.api.get("/v1/conversations/c1")).json()["messages"]) == 2


async def test_a_conversation_with_a_running_turn_is_not_deleted(system: System) -> None:
    await system.say("cuelgate", wait_s=0)
    await system.model.until_received(1)
    response = await system.api.delete("/v1/conversations/c1")
    assert (response.status_code, response.json()["code"]) == (409, "turn-open")
    assert (await system.api.get("/v1/conversations/c1")).status_code == 200


async def test_a_hanging_turn_is_cancelled(system: System) -> None:
    asking = asyncio.create_task(system.say("cuelgate"))
    await system.model.until_received(1)
    response = await system.api.post("/v1/conversations/c1/cancel", json={"user_id": "ana"})
    assert response.status_code == 202
    turn = (await asyncio.wait_for(asking, 5)).json()
    assert (turn["status"], turn["turn_id"]) == ("cancelled", response.json()["cancelling"])
    assert "cancelado" in turn["answer"]
    after = await system.say("hola")
    assert after.json()["answer"] == "Hola."


async def test_a_turn_is_cancelled_by_its_id_or_its_input_and_no_other_is(system: System) -> None:
    accepted = (await system.say("cuelgate", wait_s=0)).json()
    await system.model.until_received(1)
    other = await system.api.post("/v1/conversations/c1/cancel", json={"user_id": "ana", "turn_id": "999-x"})
    assert (other.status_code, other.json()) == (200, {"cancelling": None})
    named = {"user_id": "ana", "turn_id": str(accepted["input_seq"])}
    responses = [await system.api.post("/v1/conversations/c1/cancel", json=named) for _ in range(2)]
    assert responses[0].status_code == 202

    async def cancelled() -> bool:
        return (await system.api.get(accepted["turn_url"])).json()["status"] == "cancelled"

    await eventually(cancelled)
    requests = [m for m in await system.bus.read("conv.c1.in") if b"cancel_requested" in m.data]
    assert len(requests) == 1


async def test_where_nothing_runs_nothing_is_cancelled(system: System) -> None:
    await system.say("hola")
    for conversation in ("c1", "nowhere"):
        response = await system.api.post(f"/v1/conversations/{conversation}/cancel", json={"user_id": "ana"})
        assert (response.status_code, response.json()) == (200, {"cancelling": None})
    assert len(await system.bus.read("conv.*.in")) == 1
