import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.lifecycle import Runner
from shared.settings.schema import Bus, Http, Intake, Settings
from tests.integration.agent.conftest import SCRIPT
from tests.support.system import System, running_system, served

JSON = {"content-type": "application/json"}
GOOD: dict[str, Any] = {"conversation_id": "c1", "user_id": "ana", "text": "hola"}
HASH = "a" * 64

# Case: what is sent in place of a good message, and the status and code of the refusal.
BAD_MESSAGES: dict[str, tuple[dict[str, Any], int, str]] = {
    "no conversation": ({"conversation_id": ""}, 422, "invalid-id"),
    "a conversation that is too long": ({"conversation_id": "x" * 201}, 422, "invalid-id"),
    "a conversation too long once encoded": ({"conversation_id": "ñ" * 40}, 422, "invalid-id"),
    "no user": ({"user_id": ""}, 422, "invalid-id"),
    "no text": ({"text": ""}, 422, "empty-message"),
    "text of nothing": ({"text": " \n\t\u0000"}, 422, "empty-message"),
    "text over the limit": ({"text": "a" * 501}, 413, "text-too-long"),
    "an unknown profile": ({"profile": "parrot"}, 422, "unknown-profile"),
    "two profiles": ({"profile": "default", "profile_of": "c1"}, 422, "profile-ambiguous"),
    "the profile of nobody": ({"profile_of": "nowhere"}, 422, "unknown-conversation"),
    "the profile of no id": ({"profile_of": "x" * 201}, 422, "invalid-id"),
    "an attachment of no hash": ({"attachments": ["../../etc"]}, 422, "invalid-attachment"),
    "an attachment that is not stored": ({"attachments": [HASH]}, 422, "missing-attachment"),
    "a reference that is not stored": (
        {"attachments": [{"sha256": HASH, "media_type": "image/png", "bytes": 3}]},
        422,
        "missing-attachment",
    ),
    "too many attachments": ({"attachments": [HASH] * 4}, 422, "too-many-attachments"),
    "an unknown field": ({"txt": "hola"}, 422, "invalid-body"),
    "text that is none": ({"text": 7}, 422, "invalid-body"),
    "a negative wait": ({"wait_s": -1}, 422, "invalid-body"),
    "a wait that is no number": ({"wait_s": "NaN"}, 422, "invalid-body"),
    "a key that is too long": ({"idempotency_key": "k" * 201}, 422, "invalid-body"),
    "a reference without a hash": ({"attachments": [{"type": "blob"}]}, 422, "invalid-body"),
}

# Case: headers, body, status and code.
BAD_BODIES: dict[str, tuple[dict[str, str], bytes, int, str]] = {
    "nothing": (JSON, b"", 400, "invalid-json"),
    "no JSON": (JSON, b"{'a': 1}", 400, "invalid-json"),
    "half of it": (JSON, b'{"user_id": "ana', 400, "invalid-json"),
    "broken UTF-8": (JSON, b'{"user_id": "\xff\xfe"}', 400, "invalid-json"),
    "half a surrogate pair": (JSON, b'{"user_id": "\\ud83d"}', 400, "invalid-json"),
    "a list": (JSON, b"[]", 422, "invalid-body"),
    "null": (JSON, b"null", 422, "invalid-body"),
    "depth": (JSON, b"[" * 3000, 422, "invalid-body"),
    "a missing field": (JSON, b"{}", 422, "invalid-body"),
    "a form": ({"content-type": "application/x-www-form-urlencoded"}, b"a=b", 415, "not-json"),
    "plain text, as any web page can send": ({"content-type": "text/plain"}, b"{}", 415, "not-json"),
    "too much": (JSON, b'{"text": "' + b"a" * 5000 + b'"}', 413, "body-too-large"),
}


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncIterator[System]:
    """A system with small limits."""
    sections = {
        "http": Http(max_body_bytes=4096),
        "intake": Intake(max_text_chars=500, max_attachments=3, max_blob_bytes=4096),
    }
    async with running_system(tmp_path, SCRIPT, **sections) as system:
        yield system


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and code of a problem, which is whole."""
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert set(problem) == {"type", "title", "status", "detail", "code", "remedy"}
    assert problem["status"] == response.status_code
    assert all(str(value).strip() for value in problem.values())
    assert problem["type"] == f"urn:jada:problem:{problem['code']}"
    return response.status_code, problem["code"]


async def test_a_bad_message_is_refused_at_the_door_and_nothing_is_stored(strict: System) -> None:
    for name, (change, status, code) in BAD_MESSAGES.items():
        response = await strict.api.post("/v1/turns", json=GOOD | change)
        assert (name, *refusal(response)) == (name, status, code)
        streamed = await strict.api.post("/v1/turns", json=GOOD | change, headers={"accept": "text/event-stream"})
        assert (name, *refusal(streamed)) == (name, status, code)
    assert await strict.bus.read("conv.>") == []


async def test_a_body_that_cannot_be_read_is_refused_and_nothing_is_stored(strict: System) -> None:
    for path in ("/v1/turns", "/v1/conversations/c1/cancel"):
        for name, (headers, body, status, code) in BAD_BODIES.items():
            response = await strict.api.post(path, content=body, headers=headers)
            assert (path, name, *refusal(response)) == (path, name, status, code)
    assert await strict.bus.read("conv.>") == []


async def test_a_body_without_an_announced_size_is_measured_as_it_comes(strict: System) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"text": "'
        while sent < 50_000:
            sent += 1000
            yield b"a" * 1000

    response = await strict.api.post("/v1/turns", content=endless(), headers=JSON)
    assert refusal(response) == (413, "body-too-large")
    assert (await strict.say("hola")).status_code == 200


async def test_a_caller_who_hangs_up_while_sending_harms_nobody(strict: System) -> None:
    port = strict.api.base_url.port
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/turns HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{")
    await writer.drain()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    assert (await strict.say("hola")).status_code == 200
    assert len(await strict.bus.read("conv.*.in")) == 1


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not-found"),
        ("PUT", "/v1/turns", 405, "method-not-allowed"),
        ("GET", "/v1/conversations", 422, "invalid-parameter"),
        ("GET", "/v1/conversations?user_id=", 422, "invalid-id"),
        ("GET", "/v1/conversations?user_id=ana&limit=0", 422, "invalid-parameter"),
        ("GET", "/v1/conversations?user_id=ana&limit=1000", 422, "invalid-parameter"),
        ("GET", "/v1/conversations?user_id=ana&cursor=x", 422, "invalid-parameter"),
        ("GET", "/v1/conversations/c9", 404, "unknown-conversation"),
        ("GET", "/v1/conversations/c9?view=pictures", 422, "invalid-parameter"),
        ("GET", f"/v1/conversations/{'x' * 201}", 422, "invalid-id"),
        ("GET", f"/v1/conversations/{'x' * 201}/stream", 422, "invalid-id"),
        ("DELETE", f"/v1/conversations/{'x' * 201}", 422, "invalid-id"),
        ("GET", f"/v1/files/{HASH}", 404, "unknown-file"),
        ("GET", "/v1/files/..%2Fx", 404, "not-found"),
        ("GET", "/v1/files/*", 404, "unknown-file"),
    ],
)
async def test_a_request_that_makes_no_sense_is_a_problem(
    system: System, method: str, path: str, status: int, code: str
) -> None:
    assert refusal(await system.api.request(method, path)) == (status, code)


async def test_problems_are_told_in_spanish_too(system: System) -> None:
    response = await system.api.get("/v1/turns/x", headers={"accept-language": "es-CO,en;q=0.5"})
    assert (response.json()["title"], response.headers["content-language"]) == ("No existe ese turno", "es")


@pytest.mark.parametrize(
    ("origin", "status"), [("https://evil.example", 403), ("null", 403), ("http://127.0.0.1:1", 403), ("own", 200)]
)
async def test_a_page_of_another_site_cannot_write(system: System, origin: str, status: int) -> None:
    own = str(system.api.base_url).rstrip("/")
    headers = {"origin": own if origin == "own" else origin}
    response = await system.api.post("/v1/turns", json=GOOD, headers=headers)
    assert response.status_code == status
    assert "access-control-allow-origin" not in response.headers


async def test_every_response_has_the_security_headers(system: System) -> None:
    for path in ("/v1/status", "/nothing", "/healthz", "/openapi.json", "/v1/turns/x"):
        headers = (await system.api.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


async def test_before_the_agent_is_up_the_api_says_to_wait() -> None:
    settings = Settings(bus=Bus(url="nats://127.0.0.1:1"))
    runners = {"agent": Runner("agent", lambda _: pytest.fail("never built"), settings)}
    async with served(runners, settings) as api:
        response = await api.post("/v1/turns", json=GOOD)
        assert refusal(response) == (503, "starting")
        assert int(response.headers["retry-after"]) >= 1
        status = await api.get("/v1/status")
        assert (status.json()["ready"], status.json()["model"]) == (False, None)
        assert (await api.get("/readyz")).status_code == 503
        assert (await api.get("/healthz")).status_code == 200


async def test_while_the_broker_is_gone_every_request_says_so_at_once(tmp_path: Path) -> None:
    async with running_system(tmp_path, SCRIPT) as system:
        await system.say("hola")
        await system.nats.stop()
        for method, path, body in (
            ("POST", "/v1/turns", GOOD),
            ("GET", "/v1/turns/1", None),
            ("GET", "/v1/conversations/c1", None),
            ("GET", "/v1/conversations/c1/stream", None),
            ("DELETE", "/v1/conversations/c1", None),
            ("POST", "/v1/conversations/c1/cancel", {"user_id": "ana"}),
        ):
            response = await asyncio.wait_for(system.api.request(method, path, json=body), 5)
            assert (path, *refusal(response)) == (path, 503, "bus-unavailable")
            assert "retry-after" in response.headers
        await system.nats.start()


async def test_when_the_disk_is_full_nothing_is_half_accepted(tmp_path: Path) -> None:
    async with running_system(tmp_path, SCRIPT, nats_options={"max_store_bytes": 1 << 20}) as system:
        for number in range(200):
            upload = await system.api.post(
                "/v1/files", files={"file": (f"{number}.txt", f"{number}".encode() * 20_000)}
            )
            if upload.status_code != 200:
                break
        assert refusal(upload) == (507, "storage-full")
        for number in range(200):
            said = await system.say("x" * 30_000, conversation=f"full{number}", wait_s=0)
            if said.status_code == 507:
                break
        assert refusal(said) == (507, "storage-full")
        assert await system.bus.read(f"conv.full{number}.in") == []
