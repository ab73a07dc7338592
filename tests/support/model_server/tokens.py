"""How many tokens a request costs here: an estimate, the same for windows, usage and errors."""

from typing import Any

from tests.support.model_server.terms import JsonObject

# OpenAI's documented cost of a 1024 x 1024 image at high detail.
IMAGE_TOKENS = 765


def text_tokens(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


def prompt_tokens(body: JsonObject) -> tuple[int, int]:
    """The tokens of a request's messages and of its tools."""
    return _walk(body.get("messages", [])), _walk(body.get("tools", []))


def _walk(value: Any) -> int:
    if isinstance(value, str):
        return IMAGE_TOKENS if value.startswith("data:image/") else text_tokens(value)
    if isinstance(value, dict):
        return sum(text_tokens(key) + _walk(inner) for key, inner in value.items())
    if isinstance(value, list):
        return sum(map(_walk, value))
    return 1
