"""From words to intents: the rules of `rules.toml` over one message, which may hold several wishes."""

import re
from typing import Literal

import msgspec

from shared.model.offline.arithmetic import evaluate
from shared.model.offline.patterns import expand, fold_aligned
from shared.model.offline.when import is_when, split_when
from shared.model.tables import load_table

MAX_INTENTS = 8
# A longer text is a text, not a list of wishes.
_SPLIT_CHARS = 1000
_CLOSING = r"[\s?!.…,;]*"
_OPENING = " \t\r\n¿¡,.:;-"

Act = Literal["call", "talk", "change", "pick"]


class Kind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tools that find and change things of one kind; empty when there is none."""

    delete: str
    list: str
    update: str = ""
    search: str = ""


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One wish: the rule that fits and its slots, in the user's own words."""

    name: str
    act: Act = "call"
    tool: str = ""
    kind: str = ""
    slots: dict[str, str] = {}


class _Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    patterns: list[str]
    tool: str = ""
    act: Act = "call"
    kind: str = ""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    quotes: str
    kind: dict[str, Kind]
    words: dict[str, str]
    rule: list[_Rule]


_table = load_table("shared.model.offline", "rules.toml", _Table)
KINDS = _table.kind
_rules = [
    (rule, [re.compile(f"(?:{expand(pattern, _table.words)}){_CLOSING}", re.DOTALL) for pattern in rule.patterns])
    for rule in _table.rule
]
_joint = re.compile(expand("%joint%", _table.words))
_lead = re.compile(expand(r"(?:(?:%lead%)\b[\s,.:;!?¿¡]*)+", _table.words))
_article = re.compile(_table.words["article"])
_tail = re.compile(expand(r"[\s,.]+(?:%tail%)[\s.!?]*$", _table.words))


def intents(text: str) -> list[Intent]:
    """Return what a message wishes, in its order; empty when no rule fits. Words no rule fits are passed over."""
    found = [intent for piece in _pieces(text) if (intent := _match(piece)) is not None]
    return [_finished(intent) for intent in found[:MAX_INTENTS]]


def _pieces(text: str) -> list[str]:
    """Cut a message where another wish begins: "apunta pan y leche y recuérdame salir" has two, not three."""
    cuts, start = [], 0
    for joint in _joint.finditer(fold_aligned(text) if len(text) <= _SPLIT_CHARS else ""):
        after = _match(text[joint.end() :])
        if after is not None and _is_command(after):
            cuts.append(text[start : joint.start()])
            start = joint.end()
    return [*cuts, text[start:]]


def _is_command(intent: Intent) -> bool:
    return intent.act in {"call", "change"}


def _match(text: str) -> Intent | None:
    text = text.lstrip(_OPENING).rstrip()
    for candidate in dict.fromkeys((text, _bare(text))):
        folded = fold_aligned(candidate)
        for rule, patterns in _rules:
            for pattern in patterns:
                match = pattern.fullmatch(folded)
                intent = _intent(rule, match, candidate) if match else None
                if intent is not None:
                    return intent
    return None


def _bare(text: str) -> str:
    """Drop greetings and courtesies around a wish."""
    lead = _lead.match(fold_aligned(text))
    text = text[lead.end() :] if lead else text
    tail = _tail.search(fold_aligned(text))
    return (text[: tail.start()] if tail else text).lstrip(_OPENING).rstrip()


def _intent(rule: _Rule, match: re.Match[str], text: str) -> Intent | None:
    slots = {name: _tidy(text[slice(*match.span(name))]) for name in match.groupdict() if match[name]}
    for name in slots.keys() & {"query", "target"}:
        slots[name] = _without_article(slots[name])
    if rule.name == "when_only" and not is_when(slots["errand"]):
        return None
    if "expression" in slots:
        value = evaluate(match["expression"])
        if value is None:
            return None
        slots["value"] = value
    return Intent(name=rule.name, act=rule.act, tool=rule.tool, kind=rule.kind, slots=slots)


def _without_article(words: str) -> str:
    """Drop what no note's text need contain."""
    article = _article.match(fold_aligned(words))
    return words[article.end() :] if article else words


def _finished(intent: Intent) -> Intent:
    """Split an errand into its words and its time."""
    if "errand" not in intent.slots:
        return intent
    errand = split_when(intent.slots["errand"])
    return msgspec.structs.replace(intent, slots={"text": errand.text, "when": errand.when})


def _tidy(slot: str) -> str:
    slot = slot.strip()
    if len(slot) > 1 and slot[0] in _table.quotes and slot[-1] in _table.quotes:
        slot = slot[1:-1].strip()
    return slot
