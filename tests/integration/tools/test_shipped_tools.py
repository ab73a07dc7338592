"""Every shipped tool, called as the agent calls it."""

from datetime import timedelta
from typing import Any

import pytest

from services.tools.service import ToolsService
from shared.buckets import Bucket
from shared.bus import Bus
from shared.clock import utc_now
from shared.conversation.log import put_input
from shared.messages.conversation import UserMessage
from tests.integration.tools.jobs import run

pytestmark = pytest.mark.usefixtures("tools")


async def save(bus: Bus, text: str, **who: str) -> str:
    status, value = await run(bus, "notes", "note_save", {"text": text}, **who)
    assert status == "ok"
    return str(value["saved"]["id"])


async def texts(bus: Bus, name: str = "note_list", arguments: Any = None, **who: str) -> list[str]:
    status, value = await run(bus, "notes", name, arguments, **who)
    assert status == "ok"
    assert value["total"] >= len(value["notes"])
    return [note["text"] for note in value["notes"]]


async def test_a_saved_note_is_listed_found_changed_and_deleted(bus: Bus) -> None:
    first = await save(bus, "comprar leche")
    await save(bus, "llamar al camión")
    assert await texts(bus) == ["llamar al camión", "comprar leche"]
    assert await texts(bus, "note_search", {"query": "CAMION llamar"}) == ["llamar al camión"]
    status, value = await run(bus, "notes", "note_update", {"id": first, "text": "comprar pan"})
    assert (status, value["updated"]["text"], value["before"]) == ("ok", "comprar pan", "comprar leche")
    assert await texts(bus) == ["comprar pan", "llamar al camión"]
    status, value = await run(bus, "notes", "note_delete", {"id": first})
    assert (status, value) == ("ok", {"deleted": {"id": first, "text": "comprar pan"}})
    assert await texts(bus) == ["llamar al camión"]


async def test_a_long_list_of_notes_is_cut_to_its_limit_and_counted_whole(bus: Bus) -> None:
    for number in range(4):
        await save(bus, f"n{number}")
    status, value = await run(bus, "notes", "note_list", {"limit": 2})
    assert (status, [n["text"] for n in value["notes"]], value["total"]) == ("ok", ["n3", "n2"], 4)


async def test_a_note_is_cleaned_before_it_is_kept(bus: Bus) -> None:
    await save(bus, "  a\u0000b\r\nc  ")
    assert await texts(bus) == ["ab\nc"]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("note_save", {"text": " \n\t"}, "the note is empty"),
        ("note_save", {"text": ""}, "wrong arguments for note_save"),
        ("note_save", {"text": "x" * 8001}, "wrong arguments for note_save"),
        ("note_save", {}, "text"),
        ("note_list", {"limit": 0}, "limit"),
        ("note_list", {"limit": 101}, "limit"),
        ("note_update", {"id": "none", "text": "x"}, "there is no note 'none'"),
        ("note_delete", {"id": "none"}, "there is no note 'none'"),
        ("note_delete", {"id": "*"}, "there is no note '*'"),
        ("note_delete", {"id": ""}, "id"),
        ("note_delete", {"id": "ñ" * 40}, "id"),
        ("note_update", {"id": "", "text": "x"}, "id"),
        ("note_search", {"query": ""}, "query"),
        ("note_list", b"[]", "wrong arguments"),
        ("note_fly", {}, "no such tool: note_fly"),
    ],
)
async def test_what_cannot_be_done_is_an_error_that_says_why(bus: Bus, name: str, arguments: Any, told: str) -> None:
    status, value = await run(bus, "notes", name, arguments)
    assert status == "error"
    assert told in value["error"]


async def test_a_note_is_not_emptied_by_an_update(bus: Bus) -> None:
    note = await save(bus, "comprar leche")
    status, _ = await run(bus, "notes", "note_update", {"id": note, "text": " \n "})
    assert status == "error"
    assert await texts(bus) == ["comprar leche"]


async def test_two_calls_whose_ids_hash_alike_keep_both_notes(bus: Bus) -> None:
    # Found by search: both begin with the same 24 bits of SHA-256, of which the id of a note is made.
    await save(bus, "uno", call_id="1-t.1.2433")
    await save(bus, "dos", call_id="1-t.1.4885")
    assert await texts(bus) == ["dos", "uno"]


async def test_a_users_notes_are_seen_and_touched_by_nobody_else(bus: Bus) -> None:
    mine = await save(bus, "secreto")
    for other in ("luis", "an", "*", "ana.x"):
        assert await texts(bus, user_id=other) == []
        assert await texts(bus, "note_search", {"query": "secreto"}, user_id=other) == []
        for name, arguments in (("note_delete", {"id": mine}), ("note_update", {"id": mine, "text": "x"})):
            status, value = await run(bus, "notes", name, arguments, user_id=other)
            assert (status, value["error"].startswith("there is no note")) == ("error", True)
    assert await texts(bus) == ["secreto"]


async def test_a_reminder_is_set_listed_and_cancelled_by_its_owner_only(bus: Bus) -> None:
    status, value = await run(bus, "reminders", "set_reminder", {"text": "pan", "when": "in 2 hours"})
    assert status == "ok"
    reminder = value["reminder"]
    status, value = await run(bus, "reminders", "list_reminders")
    assert (status, value["total"], value["reminders"]) == ("ok", 1, [reminder])
    status, value = await run(bus, "reminders", "list_reminders", user_id="luis")
    assert (status, value["total"]) == ("ok", 0)
    status, value = await run(bus, "reminders", "cancel_reminder", {"id": reminder["id"]}, user_id="luis")
    assert (status, "there is no pending reminder" in value["error"]) == ("error", True)
    assert (await run(bus, "reminders", "cancel_reminders", user_id="luis"))[1]["cancelled"] == 0
    status, value = await run(bus, "reminders", "cancel_reminder", {"id": reminder["id"]})
    assert (status, value) == ("ok", {"cancelled": {"id": reminder["id"], "text": "pan"}})
    assert (await run(bus, "reminders", "list_reminders"))[1]["total"] == 0


async def test_all_reminders_are_cancelled_at_once(bus: Bus) -> None:
    for when in ("in 2 hours", "in 3 hours"):
        await run(bus, "reminders", "set_reminder", {"text": when, "when": when})
    status, value = await run(bus, "reminders", "cancel_reminders")
    assert (status, value) == ("ok", {"cancelled": 2, "texts": ["in 2 hours", "in 3 hours"]})


async def test_two_calls_whose_ids_hash_alike_keep_both_reminders(bus: Bus) -> None:
    for call_id, text in (("1-t.1.2433", "uno"), ("1-t.1.4885", "dos")):
        await run(bus, "reminders", "set_reminder", {"text": text, "when": "in 2 hours"}, call_id=call_id)
    _, value = await run(bus, "reminders", "list_reminders")
    assert sorted(one["text"] for one in value["reminders"]) == ["dos", "uno"]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("set_reminder", {"text": "pan", "when": "whenever"}, "whenever"),
        ("set_reminder", {"text": "pan", "when": "in 30 years"}, ""),
        ("set_reminder", {"text": "pan", "when": "yesterday at 5pm"}, ""),
        ("set_reminder", {"text": "pan"}, "when"),
        ("set_reminder", {"when": "in 2 hours"}, "text"),
        ("set_reminder", {"text": " \n", "when": "in 2 hours"}, "empty"),
        ("cancel_reminder", {"id": "none"}, "there is no pending reminder 'none'"),
        ("cancel_reminder", {"id": ""}, "there is no pending reminder ''"),
    ],
)
async def test_a_reminder_that_cannot_be_set_or_found_says_why(bus: Bus, name: str, arguments: Any, told: str) -> None:
    status, value = await run(bus, "reminders", name, arguments)
    assert status == "error"
    assert told in value["error"]


async def write(bus: Bus, user: str, conversation: str, text: str) -> None:
    event = UserMessage(message_id=text, user_id=user, text=text, sent_at=utc_now() - timedelta(days=1))
    await put_input(bus, conversation, event, message_id=text)
    await Bucket(bus, "members").create(user, conversation, value=b"{}")


async def test_recall_finds_what_was_said_in_ones_own_conversations_only(bus: Bus) -> None:
    await write(bus, "ana", "c1", "el dentista es el lunes")
    await write(bus, "luis", "c2", "mi dentista es mejor")
    status, value = await run(bus, "memory", "recall", {"query": "¿y el dentista?"})
    assert (status, value["total"]) == ("ok", 1)
    assert (value["found"][0]["said_by"], value["found"][0]["text"]) == ("user", "el dentista es el lunes")
    status, value = await run(bus, "memory", "recall", {"query": "dentista"}, user_id="nadie")
    assert (status, value) == ("ok", {"found": [], "total": 0})


async def test_a_cut_result_is_read_on_page_by_page_in_its_conversation_only(bus: Bus, tools: ToolsService) -> None:
    assert tools.name == "tools"
    for number in range(30):
        await save(bus, f"nota {number} " + "ñ" * 150)
    status, value = await run(bus, "notes", "note_list", {"limit": 100})
    assert (status, value["truncated"], value["total"]) == ("ok", True, 30)
    assert value["shown"] == len(value["notes"]) < 30
    text, offset = "", 0
    while offset is not None:
        status, page = await run(bus, "memory", "read_result", {"ref": value["ref"], "offset": offset})
        assert status == "ok"
        text += page["text"]
        offset = page["next_offset"]
    assert len(text) == page["total_chars"]
    assert all(f"nota {number} " in text for number in range(30))
    status, other = await run(bus, "memory", "read_result", {"ref": value["ref"]}, conversation_id="c2")
    assert (status, "there is no such result" in other["error"]) == ("error", True)


@pytest.mark.parametrize("arguments", [{"ref": ""}, {"ref": "none"}, {"ref": "ñ" * 100}, {"ref": "*"}, {"ref": ">"}])
async def test_a_result_that_is_not_there_is_an_error(bus: Bus, arguments: Any) -> None:
    status, value = await run(bus, "memory", "read_result", arguments)
    assert status == "error"
    assert "store" not in value["error"]
