"""The dialects of OpenAI-compatible chat completions, one row each in `dialects.toml`."""

from typing import Annotated

import msgspec
from msgspec import Meta

from shared.model.tables import load_table
from shared.model.types import Finish


class Dialect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one server wants to be told differently.

    - `call_id_prefix`, `call_id_length`: our call ids become the prefix and so many letters and digits;
    - `stream_usage`: knows `stream_options.include_usage`;
    - `strict_done`: a stream without `[DONE]` is cut, even after a finish reason;
    - `merge_roles`: neighbours of one role must be one message;
    - `user_after_tool`: a user message may follow a tool result directly;
    - `parallel_tool_calls`: sent when set;
    - `required`: the word for "must call a tool";
    - `call_signature`: Gemini's thought signature for calls that have none.
    """

    name: str
    max_tokens_field: str = "max_tokens"
    call_id_prefix: str = "call_"
    call_id_length: Annotated[int, Meta(ge=8, le=32)] = 24
    stream_usage: bool = True
    strict_done: bool = False
    merge_roles: bool = False
    user_after_tool: bool = True
    parallel_tool_calls: bool | None = None
    max_tools: int = 128
    images: bool = True
    required: str = "required"
    call_signature: str = ""


class _Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    finish: dict[Finish, list[str]]
    dialect: list[Dialect]


_tables = load_table("shared.model", "dialects.toml", _Tables)

DIALECTS = {row.name: row for row in _tables.dialect}

_finishes = {word: finish for finish, words in _tables.finish.items() for word in words}


def finish_of(reason: str) -> Finish | None:
    """The finish a server's word stands for; `None` when it is no success (`error`, an unknown word)."""
    return _finishes.get(reason.lower())
