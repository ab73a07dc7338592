"""What the scripted model says and how its connection misbehaves: rules in order, the first that matches answers.

A rule looks at nothing but the request, so a request repeated after a retry or a crash gets the same answer. The one
exception is `times`, which the server counts, for failures that pass.
"""

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from tests.support.model_server.terms import Config, JsonObject, Terms

Finish = Literal["stop", "tool_calls", "length", "content_filter"]

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
PLACEHOLDERS = frozenset({"last_user", "last_result", "count", "model"})


class TextMatch(Config, frozen=True, kw_only=True):
    """Text that contains `contains` and matches `regex`, both regardless of case; named groups become placeholders."""

    contains: str = ""
    regex: str = ""

    def __post_init__(self) -> None:
        try:
            re.compile(self.regex)
        except re.error as exc:
            raise ValueError(f"bad regular expression {self.regex!r}: {exc}") from exc


class When(Config, frozen=True, kw_only=True):
    """Conditions that must all hold; a plain string in place of a `TextMatch` means `contains`.

    `tool_results_since_user` counts tool messages after the last user message, and `has_result_of` looks among them.
    """

    last_user: str | TextMatch | None = None
    last_result: str | TextMatch | None = None
    system: str | TextMatch | None = None
    model: str | None = None
    tool_results_since_user: int | None = None
    offered: str | None = None
    has_result_of: str | None = None
    has_image: bool | None = None

    def groups(self) -> frozenset[str]:
        """The placeholders its regular expressions define."""
        matches = (self.last_user, self.last_result, self.system)
        return frozenset(
            name for match in matches if isinstance(match, TextMatch) for name in re.compile(match.regex).groupindex
        )


class Call(Config, frozen=True, kw_only=True):
    """A tool call of the reply; `arguments` as a string goes out as it is, valid JSON or not."""

    name: str
    arguments: JsonObject | str = {}
    id: str | None = None


class Usage(Config, frozen=True, kw_only=True):
    """The token counts to report in place of the estimated ones."""

    prompt_tokens: int
    completion_tokens: int


class Reply(Config, frozen=True, kw_only=True):
    """What the model says.

    Text and argument strings may hold {last_user}, {last_result}, {count} (tool results since the user), {model} and
    the named groups of the rule's regular expressions.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    finish: Finish | None = None
    usage: Usage | None = None


class Fault(Config, frozen=True, kw_only=True):
    """How the answer goes wrong. Besides the delays, a fault is one of these.

    `status` (with `body`, else the provider's shape for it), `hang` (no byte is ever sent), `hang_after_chunks`,
    `cut_after_chunks` (the connection closes in mid-answer; not streamed: after half of the body), `no_done`,
    `error_chunk` (streamed: an error object after the first chunk, then the end; else a 500), `error_in_200`,
    `null_choices`, `garbage` (no JSON), `empty` (neither text nor calls). Delays are in seconds: `delay_s` before the
    first byte, `chunk_delay_s` before each further chunk.
    """

    delay_s: float = 0.0
    chunk_delay_s: float = 0.0
    status: int | None = None
    body: str | None = None
    retry_after_s: float | None = None
    hang: bool = False
    hang_after_chunks: int | None = None
    cut_after_chunks: int | None = None
    no_done: bool = False
    error_chunk: bool = False
    error_in_200: bool = False
    null_choices: bool = False
    garbage: bool = False
    empty: bool = False

    def __post_init__(self) -> None:
        chosen = [
            name
            for name in self.__struct_fields__
            if name not in {"delay_s", "chunk_delay_s", "body", "retry_after_s"}
            and getattr(self, name) not in (None, False)
        ]
        if len(chosen) > 1:
            raise ValueError(f"one fault at a time, not {' and '.join(chosen)}")
        if self.status is None and (self.body is not None or self.retry_after_s is not None):
            raise ValueError("body and retry_after_s go with a status")


class Rule(Config, frozen=True, kw_only=True):
    """When `when` holds: say `reply` (by default an echo), spoilt by `fault`; at most `times` times if that is set."""

    name: str = ""
    when: When = When()
    reply: Reply | None = None
    fault: Fault | None = None
    times: int | None = None

    def __post_init__(self) -> None:
        if self.reply is None and self.fault is None:
            raise ValueError(f"rule {self.name!r} has neither reply nor fault")
        if self.reply is not None:
            unknown = _placeholders(msgspec.to_builtins(self.reply)) - PLACEHOLDERS - self.when.groups()
            if unknown:
                raise ValueError(f"rule {self.name!r} uses unknown placeholders: {', '.join(sorted(unknown))}")


class Script(Config, frozen=True, kw_only=True):
    """A provider: its terms, the bearer key it wants (none: any or no key will do), and its rules."""

    key: str | None = None
    terms: Terms = Terms()
    rules: tuple[Rule, ...] = ()


def load(path: Path) -> Script:
    """The script in a TOML file; `msgspec.ValidationError` names an unknown key or a wrong value."""
    return msgspec.toml.decode(path.read_bytes(), type=Script)


def _placeholders(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(PLACEHOLDER.findall(value))
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return frozenset().union(*map(_placeholders, value))
    return frozenset()
