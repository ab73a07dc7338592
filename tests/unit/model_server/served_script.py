"""One script with a rule for every answer and fault, and a plain client's view of its streams."""

from typing import Any

import httpx

from tests.support.model_server import Call, Fault, Reply, Rule, Script, When
from tests.support.model_server.terms import JsonObject

PATH = "/v1/chat/completions"
FAULTS = {
    "status": Fault(status=429, retry_after_s=2),
    "custom": Fault(status=400, body="<html>Bad Request</html>"),
    "cut": Fault(cut_after_chunks=2),
    "no-done": Fault(no_done=True),
    "error-chunk": Fault(error_chunk=True),
    "error-in-200": Fault(error_in_200=True),
    "null-choices": Fault(null_choices=True),
    "garbage": Fault(garbage=True),
    "empty": Fault(empty=True),
    "hang": Fault(hang=True),
    "stall": Fault(hang_after_chunks=1),
    "late": Fault(delay_s=0.15),
    "slow": Fault(chunk_delay_s=0.05),
}
CALLS = (Call(name="note_save", arguments={"text": "comprar pan y leche"}), Call(name="now"))
SCRIPT = Script(
    rules=(
        Rule(name="calls", when=When(last_user="calls"), reply=Reply(text="Voy. ", calls=CALLS)),
        Rule(name="refuses", when=When(last_user="refuse"), reply=Reply(refusal="No puedo.")),
        Rule(name="long", when=When(last_user="long"), reply=Reply(text="sin fin", finish="length")),
        Rule(name="busy", when=When(last_user="busy"), fault=Fault(status=503), times=2),
        *(
            Rule(name=name, when=When(last_user=f"[{name}]"), reply=Reply(text="uno dos tres"), fault=fault)
            for name, fault in FAULTS.items()
        ),
    )
)


def asking(text: str, **fields: Any) -> JsonObject:
    return {"model": "test-model", "messages": [{"role": "user", "content": text}]} | fields


async def post(client: httpx.AsyncClient, text: str, **fields: Any) -> httpx.Response:
    return await client.post(PATH, json=asking(text, **fields))


async def events(client: httpx.AsyncClient, text: str, **fields: Any) -> list[str]:
    found: list[str] = []
    async with client.stream("POST", PATH, json=asking(text, stream=True, **fields)) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.aiter_lines():
            if line:
                assert line.startswith("data: ")
                found.append(line.removeprefix("data: "))
    return found


def assembled(chunks: list[JsonObject]) -> tuple[str, list[JsonObject], list[str]]:
    text, calls, finishes = "", list[JsonObject](), list[str]()
    for choice in (choice for chunk in chunks for choice in chunk["choices"]):
        text += choice["delta"].get("content") or choice["delta"].get("refusal") or ""
        for delta in choice["delta"].get("tool_calls", []):
            if delta["index"] == len(calls):
                calls.append({"id": delta["id"], "name": delta["function"]["name"], "arguments": ""})
            calls[delta["index"]]["arguments"] += delta["function"]["arguments"]
        finishes += [choice["finish_reason"]] if choice["finish_reason"] else []
    return text, calls, finishes
