"""The command line's texts: the language is found, and every text that is asked for exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.parser import COMMANDS, asked_language, build_parser
from cli.texts import LANGUAGES, choose_language, load_texts

SOURCES = sorted((Path(__file__).parents[3] / "cli").glob("*.py"))


@pytest.mark.parametrize(
    ("asked", "env", "expected"),
    [
        ("", {}, "es"),
        ("", {"LANG": "C.UTF-8"}, "es"),
        ("", {"LANG": "en_US.UTF-8"}, "en"),
        ("", {"LANG": "fr_FR.UTF-8"}, "es"),
        ("", {"LANG": "en_US.UTF-8", "LC_ALL": "es_CO.UTF-8"}, "es"),
        ("", {"LANG": "es_ES.UTF-8", "LC_ALL": "", "LC_MESSAGES": "en_GB"}, "en"),
        ("en", {"LANG": "es_ES.UTF-8"}, "en"),
        ("xx", {"LANG": "en_US.UTF-8"}, "en"),
    ],
)
def test_the_language_is_the_one_asked_for_else_the_locales_else_spanish(
    asked: str, env: dict[str, str], expected: str
) -> None:
    assert choose_language(asked, env) == expected


@pytest.mark.parametrize(
    ("argv", "expected"),
    [([], ""), (["--lang", "en", "up"], "en"), (["up", "--lang=es"], "es"), (["up", "--lang"], "")],
)
def test_the_language_asked_for_is_known_before_the_arguments_are_read(argv: list[str], expected: str) -> None:
    assert asked_language(argv) == expected


def keys_asked_for(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("say", "_say", "_scene", "_ask", "_request") and isinstance(node.args[0].value, str):
                yield node.args[0].value


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_every_text_a_command_asks_for_exists(source: Path) -> None:
    table = load_texts("es")._table
    assert [key for key in keys_asked_for(source) if key not in table] == []


def test_no_text_is_left_over() -> None:
    written = "".join(source.read_text("utf-8") for source in SOURCES)
    by_name = {f"help.{name}" for name in COMMANDS} | {"help.up_verbose", "help.doctor_verbose"}
    by_name |= {f"doctor.{word}" for word in ("ok", "warning", "failed")}
    by_name |= {f"doctor.{part}" for part in ("settings", "api", "nats", "streams", "services", "model", "profiles")}
    assert [
        key
        for key in load_texts("es")._table
        if not re.search(f"['\"]{re.escape(key)}['\"]", written) and key not in by_name
    ] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help(language: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    say = load_texts(language)
    with pytest.raises(SystemExit) as end:
        build_parser(say, user="ana").parse_args([command, "--help"])
    out = capsys.readouterr().out
    assert (end.value.code, out.startswith(f"{say('help.usage')}: jada {command}")) == (0, True)
    assert say(f"help.{command}") in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["ask"], "falta: text."),
        (["nothing"], "no vale: 'nothing'"),
        (["trace", "1", "--json", "--colour"], "no conozco estas opciones: --colour."),
        (["chat", "--user"], "falta su valor"),
    ],
)
def test_bad_arguments_are_refused_in_the_users_language(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        build_parser(load_texts("es"), user="ana").parse_args(argv)
    assert (end.value.code, said in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize("argv", [["--json", "tools"], ["tools", "--json"]])
def test_common_options_may_stand_before_and_after_the_command(argv: list[str]) -> None:
    assert build_parser(load_texts("en"), user="ana").parse_args(argv).json is True
