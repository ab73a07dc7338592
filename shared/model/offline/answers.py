"""What the rule machine says, from `answers.toml` and from results; never more than the results hold."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from shared.model.offline.chat import Result
from shared.model.offline.language import Language, Signs
from shared.model.offline.things import Thing
from shared.model.tables import load_table
from shared.text import cut

_ODD_RESULT_CHARS = 1500
_SHOWN_ITEMS = 20
_SHOWN_ABILITIES = 15


class _List(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    none: str
    one: str
    many: str
    item: str


class _Find(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    none: str
    nothing: str
    which: str


class Texts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"and_": "and"}):
    """All texts in one language."""

    stop_words: frozenset[str]
    named: str
    offline: str
    unknown: str
    can: str
    cannot: str
    setup: str
    unavailable: str
    error: str
    odd_result: str
    more: str
    ask_when: str
    ask_what: str
    too_many_steps: str
    end: str
    and_: str
    talk: dict[str, str]
    result: dict[str, str]
    list: dict[str, _List]
    find: dict[str, _Find]
    abilities: dict[str, str]


TEXTS = load_table("shared.model.offline", "answers.toml", dict[Language, Texts])
SIGNS = {language: Signs(texts.stop_words, re.compile(texts.named)) for language, texts in TEXTS.items()}


class _Fields(dict[str, Any]):
    """Fields for a text; one that a result lacks is left blank."""

    def __missing__(self, key: str) -> str:
        return ""


def fill(template: str, fields: Mapping[str, Any]) -> str:
    """Put fields into a text."""
    return template.format_map(_Fields(fields)).replace(" ()", "").replace(": .", ".")


def describe(result: Result, texts: Texts) -> str:
    """Say what a result says: its error, what was done, what was found; else its own text."""
    if result.error:
        return fill(texts.error, {"tool": result.name, "error": result.error})
    for key, template in texts.result.items():
        if isinstance(result.data.get(key), dict):
            return fill(template, _with_local(result.data[key]))
    if isinstance(result.data.get("cancelled"), int):
        return _count(result.data["cancelled"], texts)
    for key, forms in texts.list.items():
        if isinstance(result.data.get(key), list):
            return _listing(result.data[key], result.data.get("total"), forms, texts)
    text = next((str(result.data[key]) for key in ("text", "content", "summary") if result.data.get(key)), result.text)
    return fill(texts.odd_result, {"tool": result.name, "text": cut(text.strip(), _ODD_RESULT_CHARS)})


def numbered(things: Sequence[Thing], texts: Texts, kind: str) -> str:
    """List things of a kind, numbered as the user may then name them."""
    forms = texts.list[f"{kind}s"]
    return _items([thing.fields for thing in things], forms)


def abilities(offered: Iterable[str], texts: Texts) -> str:
    """Say what the offered tools can do."""
    names = [texts.abilities.get(name, name) for name in offered][:_SHOWN_ABILITIES]
    if not names:
        return texts.cannot
    *head, last = names
    return fill(texts.can, {"list": f"{', '.join(head)} {texts.and_} {last}" if head else last})


def _count(number: int, texts: Texts) -> str:
    word = {0: "none", 1: "one"}.get(number, "many")
    return fill(texts.result[f"cancelled_{word}"], {"n": number})


def _listing(nodes: list[Any], total: Any, forms: _List, texts: Texts) -> str:
    items = [_with_local(node) for node in nodes if isinstance(node, dict)]
    total = total if isinstance(total, int) else len(items)
    if not items:
        return forms.none
    if len(items) == 1 and total == 1:
        return fill(forms.one, items[0])
    shown = items[:_SHOWN_ITEMS]
    lines = [fill(forms.many, {"total": total}), _items(shown, forms)]
    if total > len(shown):
        lines.append(fill(texts.more, {"more": total - len(shown)}))
    return "\n".join(lines)


def _items(nodes: Sequence[Mapping[str, Any]], forms: _List) -> str:
    return "\n".join(fill(forms.item, {**_with_local(node), "n": at}) for at, node in enumerate(nodes, start=1))


def _with_local(node: Mapping[str, Any]) -> dict[str, Any]:
    return {**node, "local": node.get("local") or node.get("at_local") or node.get("when") or node.get("at") or ""}
