"""The embedder behind an OpenAI-compatible `/embeddings` endpoint, within a budget."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import httpx
import msgspec
import numpy as np

from services.router.vectors import Floats
from shared.errors import Retryable

# Texts in one request when centroids are computed; endpoints refuse very long lists.
BATCH = 64


class EmbedderUnavailable(Retryable):
    """The endpoint gave no vectors within the budget; the decision goes on without them."""


class Embedder(Protocol):
    """Turns texts into vectors. `identity` names what makes its vectors comparable: the endpoint and the model."""

    identity: str

    async def embed(self, texts: Sequence[str], budget_s: float) -> list[Floats]:
        """Return one vector for each text, in order; `EmbedderUnavailable` when that takes longer or fails."""
        ...


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Reply(msgspec.Struct):
    data: list[_Embedding]


class EndpointEmbedder:
    """Asks `<base_url>/embeddings`; the client carries the key, if one is needed."""

    def __init__(self, client: httpx.AsyncClient, base_url: str, model: str) -> None:
        self.identity = f"{base_url.rstrip('/')} {model}"
        self._client = client
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model

    async def embed(self, texts: Sequence[str], budget_s: float) -> list[Floats]:
        """Return one vector for each text; `budget_s` is for each request of at most `BATCH` texts."""
        found: list[Floats] = []
        for i in range(0, len(texts), BATCH):
            found += await self._request(texts[i : i + BATCH], budget_s)
        return found

    async def _request(self, texts: Sequence[str], budget_s: float) -> list[Floats]:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            async with asyncio.timeout(budget_s):
                response = await self._client.post(self._url, json=body)
            response.raise_for_status()
            reply = msgspec.json.decode(response.content, type=_Reply)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError) as exc:
            raise EmbedderUnavailable(f"{self._url}: {exc or type(exc).__name__}") from exc
        ordered = sorted(reply.data, key=lambda e: e.index)
        lengths = {len(e.embedding) for e in ordered}
        if [e.index for e in ordered] != list(range(len(texts))) or len(lengths) != 1 or 0 in lengths:
            raise EmbedderUnavailable(f"{self._url}: {len(ordered)} vectors of lengths {sorted(lengths)}")
        return [np.array(e.embedding, np.float32) for e in ordered]
