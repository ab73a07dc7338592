"""Whatever a user can be told in one language, they can be told in the other."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.tools.registry import find_groups
from tests.contract.source import ROOT, files, name_of

LANGUAGES = ("es", "en")
# Spanish for the English of argparse, which needs no table of its own.
ONE_LANGUAGE = {"cli/texts.toml: usage_errors"}
TABLES = [path for path in files() if path.suffix == ".toml" and "tests" not in path.parts]
_PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)[^{}]*\}")


def pairs(tree: dict[str, Any], where: str) -> Iterator[tuple[str, Any, Any]]:
    """Every place of a table where texts stand by language, with both of them, `None` for one that is missing."""
    if not tree.keys().isdisjoint(LANGUAGES):
        yield where, tree.get("es"), tree.get("en")
        return
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from pairs(value, f"{where}: {key}")


def differences(es: Any, en: Any, where: str = "") -> list[str]:
    """What differs between the languages: keys, kinds of value, placeholders, empty texts."""
    if type(es) is not type(en):
        return [f"{where}: {type(es).__name__} in Spanish, {type(en).__name__} in English"]
    if isinstance(es, dict):
        found = [f"{where}.{key}: in one language only" for key in sorted(es.keys() ^ en.keys())]
        return found + [
            line for key in es.keys() & en.keys() for line in differences(es[key], en[key], f"{where}.{key}")
        ]
    texts = [(es, en)] if isinstance(es, str) else []
    # Lists may hold words of a language, as many as it needs; templates in them must still agree.
    found = [f"{where}: placeholders differ"] if _placeholders(es) != _placeholders(en) else []
    return found + [f"{where}: empty" for pair in texts if not all(text.strip() for text in pair)]


def _placeholders(value: Any) -> set[str]:
    return set(_PLACEHOLDER.findall(value if isinstance(value, str) else repr(value)))


IN_ONE_FILE = [
    pytest.param(es, en, id=where)
    for path in TABLES
    for where, es, en in pairs(tomllib.loads(path.read_text("utf-8")), name_of(path))
    if where not in ONE_LANGUAGE
]
IN_TWO_FILES = [path for path in TABLES if path.name.endswith(".es.toml")]
VOCABULARIES = {path.parent for path in TABLES if path.stem in LANGUAGES}


@pytest.mark.parametrize(("es", "en"), IN_ONE_FILE)
def test_both_languages_of_a_file_have_the_same_texts_with_the_same_placeholders(es: Any, en: Any) -> None:
    assert differences(es, en) == []


@pytest.mark.parametrize("spanish", IN_TWO_FILES, ids=name_of)
def test_a_file_of_spanish_texts_has_its_english_twin(spanish: Path) -> None:
    english = spanish.with_name(spanish.name.replace(".es.", ".en."))
    es, en = (tomllib.loads(path.read_text("utf-8")) for path in (spanish, english))
    assert differences(es, en) == []


@pytest.mark.parametrize("folder", sorted(VOCABULARIES), ids=name_of)
def test_a_vocabulary_exists_in_both_languages(folder: Path) -> None:
    assert [language for language in LANGUAGES if not (folder / f"{language}.toml").is_file()] == []


@pytest.mark.parametrize("group", find_groups(), ids=lambda group: group.name)
def test_a_tool_group_has_a_title_and_phrases_in_both_languages(group: Any) -> None:
    assert sorted(group._titles) == sorted(group._phrases) == sorted(LANGUAGES)


def test_the_texts_we_know_of_are_looked_at() -> None:
    seen = {str(parameter.id).partition(":")[0] for parameter in IN_ONE_FILE} | {name_of(path) for path in IN_TWO_FILES}
    known = {"services/agent/texts.toml", "services/agent/prompt.toml", "shared/model/offline/answers.toml"}
    assert known | {"cli/texts.toml", "shared/when/texts.es.toml"} <= seen
    assert ROOT / "shared/when" in VOCABULARIES


@pytest.mark.parametrize(
    ("es", "en", "expected"),
    [
        ({"a": "Hola {name}"}, {"a": "Hello {name}"}, []),
        ({"a": "Hola {name}"}, {"a": "Hello"}, [".a: placeholders differ"]),
        ({"a": "Hola {n:>3}"}, {"a": "Hello {n}"}, []),
        ({"a": "x{1,5}"}, {"a": "x"}, []),
        ({"a": ["uno", "dos"]}, {"a": ["one"]}, []),
        ({"a": ["{uno}"]}, {"a": ["one"]}, [".a: placeholders differ"]),
        ({"a": "sí", "b": "no"}, {"a": "yes"}, [".b: in one language only"]),
        ({"a": "sí"}, {"a": " "}, [".a: empty"]),
        ({"a": "sí"}, {"a": {}}, [".a: str in Spanish, dict in English"]),
        ({"a": "sí"}, None, [": dict in Spanish, NoneType in English"]),
    ],
)
def test_differences_between_languages_are_found(es: Any, en: Any, expected: list[str]) -> None:
    assert differences(es, en) == expected
