"""The embeddings endpoint: asked in batches, within its budget, and never trusted."""

import asyncio
import json
from collections.abc import Callable, Coroutine

import httpx
import pytest

from services.router.endpoint import BATCH, EmbedderUnavailable, EndpointEmbedder

Answer = Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]


def embedder(answer: Answer) -> EndpointEmbedder:
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return EndpointEmbedder(client, "http://models.test/v1/", "small")


async def lengths(request: httpx.Request) -> httpx.Response:
    """Answer with each text's length, the last text first."""
    texts = json.loads(request.content)["input"]
    data = [{"index": i, "embedding": [float(len(t)), 1.0]} for i, t in enumerate(texts)]
    return httpx.Response(200, json={"object": "list", "data": data[::-1], "usage": {}})


async def test_each_text_gets_its_vector_in_order() -> None:
    texts = ["x" * i for i in range(1, BATCH + 10)]
    vectors = await embedder(lengths).embed(texts, 5.0)
    assert [v[0] for v in vectors] == [len(t) for t in texts]


async def test_the_request_is_what_the_api_documents() -> None:
    seen: list[httpx.Request] = []

    async def keep(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return await lengths(request)

    found = embedder(keep)
    await found.embed(["hola"], 5.0)
    assert (str(seen[0].url), json.loads(seen[0].content)) == (
        "http://models.test/v1/embeddings",
        {"model": "small", "input": ["hola"], "encoding_format": "float"},
    )
    assert found.identity == "http://models.test/v1 small"


async def hang(request: httpx.Request) -> httpx.Response:
    del request
    await asyncio.sleep(60)
    return httpx.Response(200)


async def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def fixed(status: int, content: bytes) -> Answer:
    async def answer(request: httpx.Request) -> httpx.Response:
        del request
        return httpx.Response(status, content=content)

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        hang,
        refuse,
        fixed(500, b"{}"),
        fixed(404, b"not here"),
        fixed(200, b""),
        fixed(200, b"<html>"),
        fixed(200, b'{"data": []}'),
        fixed(200, b'{"data": [{"index": 0, "embedding": []}]}'),
        fixed(200, b'{"data": [{"index": 1, "embedding": [1.0]}]}'),
        fixed(200, b'{"data": [{"index": 0, "embedding": ["a"]}]}'),
    ],
)
async def test_whatever_goes_wrong_is_one_error_within_the_budget(answer: Answer) -> None:
    with pytest.raises(EmbedderUnavailable):
        await asyncio.wait_for(embedder(answer).embed(["hola"], 0.05), 2.0)
