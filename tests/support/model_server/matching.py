"""Which rule answers a request: a pure function of the request, the rules, and how often each was used."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from tests.support.model_server.checks.images import images_of
from tests.support.model_server.checks.messages import SYSTEM_ROLES, text_of
from tests.support.model_server.checks.pairing import calls_of
from tests.support.model_server.checks.tools import offered_names
from tests.support.model_server.script import Rule, TextMatch, When
from tests.support.model_server.terms import JsonObject


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What rules may ask about a request; `results` and `result_names` since the last user message."""

    model: str
    system: str
    last_user: str
    results: tuple[str, ...]
    result_names: tuple[str, ...]
    offered: tuple[str, ...]
    has_image: bool

    @property
    def last_result(self) -> str:
        """The text of the latest tool result since the user spoke, or ""."""
        return self.results[-1] if self.results else ""

    def placeholders(self) -> dict[str, str]:
        """The values replies may insert."""
        return {
            "last_user": self.last_user,
            "last_result": self.last_result,
            "count": str(len(self.results)),
            "model": self.model,
        }


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The rule that answers (None: no rule, the echo does), its place, and the values for its placeholders."""

    rule: Rule | None
    at: int
    values: Mapping[str, str]


def facts_of(body: JsonObject) -> Facts:
    """The facts of a request that broke no rule."""
    messages = body["messages"]
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    since = users[-1] if users else 0
    names = {call["id"]: call["function"]["name"] for _, call in calls_of(body)}
    results = [message for message in messages[since:] if message["role"] == "tool"]
    return Facts(
        model=body.get("model", ""),
        system="\n".join(text_of(message) for message in messages if message["role"] in SYSTEM_ROLES),
        last_user=text_of(messages[since]) if users else "",
        results=tuple(text_of(message) for message in results),
        result_names=tuple(names.get(message["tool_call_id"], "") for message in results),
        offered=tuple(offered_names(body)),
        has_image=bool(images_of(body)),
    )


def choose(rules: Sequence[Rule], facts: Facts, used: Sequence[int]) -> Choice:
    """The first rule that matches and is not used up."""
    for at, rule in enumerate(rules):
        if rule.times is not None and used[at] >= rule.times:
            continue
        captured = captures(rule.when, facts)
        if captured is not None:
            return Choice(rule=rule, at=at, values=facts.placeholders() | captured)
    return Choice(rule=None, at=-1, values=facts.placeholders())


def captures(when: When, facts: Facts) -> dict[str, str] | None:
    """The named groups of the conditions when all of them hold, else None."""
    plain = (
        when.model in {None, facts.model},
        when.tool_results_since_user in {None, len(facts.results)},
        when.offered is None or when.offered in facts.offered,
        when.has_result_of is None or when.has_result_of in facts.result_names,
        when.has_image in {None, facts.has_image},
    )
    if not all(plain):
        return None
    found: dict[str, str] = {}
    texts = (
        (when.last_user, facts.last_user),
        (when.last_result, facts.last_result),
        (when.system, facts.system),
    )
    for match, text in texts:
        groups = _text(match, text)
        if groups is None:
            return None
        found |= groups
    return found


def _text(match: str | TextMatch | None, text: str) -> dict[str, str] | None:
    if match is None:
        return {}
    wanted = TextMatch(contains=match) if isinstance(match, str) else match
    if wanted.contains.casefold() not in text.casefold():
        return None
    found = re.search(wanted.regex, text, re.IGNORECASE)
    return None if found is None else {name: value or "" for name, value in found.groupdict().items()}
