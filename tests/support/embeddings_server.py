"""An OpenAI-compatible embeddings server: texts that share words get similar vectors. It refuses what real ones do."""

import hashlib
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from shared.http import HttpServer
from shared.text import fold

KEY = "sk-embeddings"
MODEL = "words-64"
_SIZE = 64


class EmbeddingsServer:
    """What was asked, and a switch to put it out of order."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.broken = False
        self.url = ""

    async def embed(self, request: Request) -> JSONResponse:
        body: dict[str, Any] = await request.json()
        texts = body.get("input")
        if self.broken:
            return _error(503, "overloaded")
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _error(401, "Incorrect API key provided")
        if body.get("model") != MODEL:
            return _error(404, "The model does not exist")
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) and t for t in texts):
            return _error(400, "'$.input' is invalid")
        self.asked.append(texts)
        data = [{"object": "embedding", "index": n, "embedding": _vector(t)} for n, t in enumerate(texts)]
        return JSONResponse({"object": "list", "model": MODEL, "data": data})


@asynccontextmanager
async def embeddings_server() -> AsyncIterator[EmbeddingsServer]:
    """A server on loopback for as long as the block lasts."""
    server = EmbeddingsServer()
    app = FastAPI()
    app.add_api_route("/v1/embeddings", server.embed, methods=["POST"])
    http = HttpServer(app, host="127.0.0.1", port=0)
    await http.start()
    server.url = f"http://127.0.0.1:{http.port}/v1"
    try:
        yield server
    finally:
        await http.stop()


def _vector(text: str) -> list[float]:
    found = [0.0] * _SIZE
    for word in fold(text).split():
        found[int.from_bytes(hashlib.sha256(word[:5].encode()).digest()[:4], "big") % _SIZE] += 1.0
    length = math.sqrt(sum(x * x for x in found)) or 1.0
    return [x / length for x in found]


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": "invalid_request_error"}}, status_code=status)
