import asyncio
from pathlib import Path

import pytest

from shared.settings.schema import Agent, Http
from tests.integration.agent.conftest import SCRIPT
from tests.support.eventually import eventually
from tests.support.system import System, running_system


async def test_a_message_is_answered_with_its_whole_turn(system: System) -> None:
    response = await system.say("guarda una nota: comprar leche")
    turn = response.json()
    assert (response.status_code, turn["status"], turn["answer"]) == (200, "answered", "Guardada.")
    assert [(a["name"], a["status"]) for a in turn["actions"]] == [("note_save", "ok")]
    assert turn["route"]["groups"] == ["notes"]
    assert turn["route"]["layer"] == "keywords"
    assert [(s["finish"], s["text"], [c["status"] for c in s["calls"]]) for s in turn["steps"]] == [
        ("calls", "Voy.", ["ok"]),
        ("stop", "Guardada.", []),
    ]
    assert turn["steps"][0]["calls"][0]["arguments"] == {"text": "comprar leche"}
    assert turn["usage"]["tokens_in"] == sum(s["usage"]["tokens_in"] for s in turn["steps"]) > 0
    assert (turn["profile"], turn["epoch"], turn["models_tried"]) == ("default", 1, ["test-model"])
    for handle in (turn["turn_id"], turn["inputs"][0]):
        assert (await system.api.get(f"/v1/turns/{handle}")).json() == turn


async def test_a_turn_that_fails_says_so_with_a_reference(system: System) -> None:
    turn = (await system.say("falla")).json()
    assert turn["status"] == "failed"
    assert turn["error_ref"]
    assert turn["error_ref"] in turn["answer"]


async def test_who_does_not_want_to_wait_gets_a_link(system: System) -> None:
    response = await system.say("despacio", wait_s=0.1)
    link = response.headers["location"]
    assert response.status_code == 202
    assert response.json() == {
        "message_id": response.json()["message_id"],
        "input_seq": response.json()["input_seq"],
        "turn_url": link,
        "status": "accepted",
    }
    assert (await system.api.get(link)).json()["status"] in ("accepted", "running")

    async def answered() -> bool:
        return (await system.api.get(link)).json()["answer"] == "con calma"

    await eventually(answered)


async def test_nobody_waits_longer_than_the_settings_allow(tmp_path: Path) -> None:
    async with running_system(tmp_path, SCRIPT, http=Http(wait_max_s=0.2)) as system:
        assert (await asyncio.wait_for(system.say("cuelgate", wait_s=100), 5)).status_code == 202


@pytest.mark.slow
async def test_a_stored_message_is_never_denied_because_the_broker_went_away(system: System) -> None:
    asking = asyncio.create_task(system.say("cuelgate", wait_s=3))
    await system.model.until_received(1)
    await system.nats.stop()
    response = await asking
    await system.nats.start()
    assert (response.status_code, response.json()["status"]) == (202, "accepted")


async def test_the_same_key_is_the_same_message(system: System) -> None:
    first, second = await asyncio.gather(
        system.say("hola", idempotency_key="k"), system.say(" hola ", idempotency_key="k")
    )
    assert first.json() == second.json()
    third = await system.say("hola", idempotency_key="k", wait_s=0)
    assert third.json() == first.json()
    assert len(system.model.received) == 1
    elsewhere = await system.say("hola", idempotency_key="k", conversation="c2")
    assert elsewhere.json()["turn_id"] != first.json()["turn_id"]


@pytest.mark.parametrize("change", [{"text": "otra cosa"}, {"user": "luis"}, {"profile": "default"}])
async def test_the_same_key_for_another_message_is_refused(system: System, change: dict[str, str]) -> None:
    await system.say("hola", idempotency_key="k")
    asked = {"text": "hola", "idempotency_key": "k", **change}
    response = await system.say(**asked)
    assert (response.status_code, response.json()["code"]) == (409, "idempotency-conflict")
    assert len(await system.bus.read("conv.c1.in")) == 1


async def test_a_key_is_free_again_when_its_conversation_was_deleted(system: System) -> None:
    await system.say("hola", idempotency_key="k")
    assert (await system.api.delete("/v1/conversations/c1")).status_code == 204
    again = await system.say("hola", idempotency_key="k")
    assert again.json()["answer"] == "Hola."
    assert (await system.say("hola", idempotency_key="k")).json() == again.json()


async def test_a_message_that_joins_a_running_turn_leads_to_that_turn(system: System) -> None:
    first = (await system.say("prepara mis notas", wait_s=0)).json()
    await system.model.until_received(1)
    turn = (await system.say("y otra cosa")).json()
    assert turn["inputs"][0] == first["input_seq"]
    assert len(turn["inputs"]) == 2
    for seq in turn["inputs"]:
        assert (await system.api.get(f"/v1/turns/{seq}")).json() == turn


async def test_two_people_in_one_conversation_each_get_their_answer(system: System) -> None:
    first, second = await asyncio.gather(system.say("despacio", user="ana"), system.say("hola", user="luis"))
    assert {first.json()["answer"], second.json()["answer"]} == {"con calma", "Hola."}
    assert first.json()["turn_id"] != second.json()["turn_id"]
    messages = (await system.api.get("/v1/conversations/c1")).json()["messages"]
    assert [m["user_id"] for m in messages if m["role"] == "user"] in (["ana", "luis"], ["luis", "ana"])
    for user in ("ana", "luis"):
        listed = await system.api.get("/v1/conversations", params={"user_id": user})
        assert listed.json()["conversations"] == [{"conversation_id": "c1"}]


async def test_a_message_behind_another_ones_turn_is_accepted_and_waits(system: System) -> None:
    await system.say("cuelgate", user="ana", wait_s=0)
    await system.model.until_received(1)
    waiting = await system.say("hola", user="luis", wait_s=0)
    turn = (await system.api.get(waiting.headers["location"])).json()
    assert (turn["status"], turn["turn_id"], turn["inputs"]) == ("accepted", "", [waiting.json()["input_seq"]])


async def test_a_turn_runs_with_the_profile_it_asks_for(tmp_path: Path) -> None:
    profiles = tmp_path / "profiles"
    for name, identity in (("default", "Eres Jada."), ("pirate", "You are a pirate.")):
        (profiles / name).mkdir(parents=True)
        (profiles / name / "profile.toml").write_text('language = "en"\n', encoding="utf-8")
        (profiles / name / "identity.md").write_text(identity, encoding="utf-8")
    async with running_system(tmp_path, SCRIPT, agent=Agent(profiles_dir=str(profiles))) as system:
        named = (await system.say("hola", conversation="ship", profile="pirate")).json()
        borrowed = (await system.say("hola", conversation="c1", profile_of="ship")).json()
        plain = (await system.say("hola", conversation="c2")).json()
        assert [t["profile"] for t in (named, borrowed, plain)] == ["pirate", "pirate", "default"]
        listed = (await system.api.get("/v1/profiles")).json()
        assert ([p["name"] for p in listed["profiles"]], listed["default"]) == (["default", "pirate"], "default")
        unknown = await system.say("hola", profile="parrot")
        assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown-profile")
        assert "default, pirate" in unknown.json()["remedy"]


@pytest.mark.parametrize(
    "handle", ["0", "1", "999999", "-1", "x", "1-2-3", "9" * 30, "9" * 5000, "1e3", "²", "%00", "18446744073709551616"]
)
async def test_a_turn_nobody_knows_is_not_found(system: System, handle: str) -> None:
    response = await system.api.get(f"/v1/turns/{handle}")
    assert (response.status_code, response.json()["code"]) == (404, "unknown-turn")


async def test_an_id_that_only_starts_like_a_turn_is_not_found(system: System) -> None:
    seq = (await system.say("hola")).json()["inputs"][0]
    for handle in (f"{seq}-0123", f"0{seq}", f"{seq + 1}"):
        assert (await system.api.get(f"/v1/turns/{handle}")).status_code == 404


async def test_any_text_names_a_conversation(system: System) -> None:
    for conversation in ("!sala:matrix.org", "grupo de la familia 👪", "a/b.c*>", "..", "con\nlínea"):
        turn = (await system.say("hola", conversation=conversation)).json()
        assert turn["conversation_id"] == conversation
        read = await system.api.get(f"/v1/turns/{turn['turn_id']}")
        assert read.json() == turn


async def test_what_the_installation_offers_is_told(system: System) -> None:
    groups = (await system.api.get("/v1/tools")).json()["groups"]
    notes = next(group for group in groups if group["group"] == "notes")
    assert notes["title"] == {"es": "Notas", "en": "Notes"}
    assert (notes["configured"], notes["missing"]) == (True, [])
    saved = next(tool for tool in notes["tools"] if tool["name"] == "note_save")
    assert (saved["side_effects"], saved["parameters"]["type"]) == ("reversible", "object")
    status = (await system.api.get("/v1/status")).json()
    assert status["model"]["name"] == "test-model"
    assert (status["ready"], status["problems"]) == (True, {})
    assert status["version"]
    assert (await system.api.get("/healthz")).json()["ok"]
    assert "jada_agent_turns_total" in (await system.api.get("/metrics")).text


async def test_the_description_of_the_api_is_whole(system: System) -> None:
    described = (await system.api.get("/openapi.json")).json()
    operations = [op for path in described["paths"].values() for op in path.values()]
    assert len(operations) == 12
    assert all(op["summary"] for op in operations)
    body = described["paths"]["/v1/turns"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/TurnRequest"}
    text = str(described)
    for name in {part.split("'")[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in described["components"]["schemas"]
