"""The arguments of every command, described in the user's language."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from cli.exits import Exit
from cli.texts import LANGUAGES, Texts

COMMANDS = ("up", "ask", "chat", "trace", "tools", "route", "routing", "conversations", "doctor", "demo")


def asked_language(argv: Sequence[str]) -> str:
    """Return the value of `--lang`, needed before the parser exists; empty when it is not given."""
    for at, argument in enumerate(argv):
        if argument == "--lang":
            return argv[at + 1] if at + 1 < len(argv) else ""
        if argument.startswith("--lang="):
            return argument.partition("=")[2]
    return ""


def build_parser(say: Texts, *, user: str) -> argparse.ArgumentParser:
    """Build the parser; `user` is the default of `--user`."""
    parser = _parser(say, "jada", say("help.jada"), epilog=say("help.exits"))
    commands = parser.add_subparsers(
        dest="command", prog="jada", metavar=say("help.command"), title=say("help.commands")
    )
    parsers = {
        name: commands.add_parser(name, help=say(f"help.{name}"), say=say, description=say(f"help.{name}"))
        for name in COMMANDS
    }
    for command in parsers.values():
        _common(command, say)
    for name in ("ask", "chat", "conversations"):
        parsers[name].add_argument("--user", default=user, metavar="ID", help=say("help.user", user=user))
    for name in ("ask", "chat"):
        parsers[name].add_argument("--conversation", default="", metavar="ID", help=say("help.conversation"))
        parsers[name].add_argument("--profile", default="", metavar="NAME", help=say("help.profile"))
    parsers["ask"].add_argument("text", nargs="+", help=say("help.text"))
    parsers["trace"].add_argument("turn", help=say("help.turn"))
    parsers["route"].add_argument("--explain", required=True, metavar="TEXT", help=say("help.explain"))
    parsers["routing"].add_argument("action", choices=("list", "add", "remove"), help=say("help.routing_action"))
    parsers["routing"].add_argument("group", nargs="?", default="", help=say("help.routing_group"))
    parsers["routing"].add_argument("text", nargs="*", default=[], help=say("help.routing_text"))
    for name in ("up", "doctor"):
        parsers[name].add_argument("-v", "--verbose", action="store_true", help=say(f"help.{name}_verbose"))
    return parser


class _Parser(argparse.ArgumentParser):
    """Speaks the user's language; argparse itself is translated only where the system has catalogs for it."""

    def __init__(self, *, say: Texts, **options: object) -> None:
        self._say = say
        super().__init__(add_help=False, allow_abbrev=False, formatter_class=_formatter(say), **options)  # type: ignore[arg-type]
        self._optionals.title = say("help.options")
        self._positionals.title = say("help.arguments")
        self.add_argument("-h", "--help", action="help", help=say("help.help"))

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self._say('usage_error', message=self._say.usage_error(message), prog=self.prog)}\n")
        raise SystemExit(Exit.USAGE)


def _formatter(say: Texts) -> type[argparse.HelpFormatter]:
    class Formatter(argparse.RawDescriptionHelpFormatter):
        def add_usage(self, usage: object, actions: object, groups: object, prefix: str | None = None) -> None:
            super().add_usage(usage, actions, groups, f"{say('help.usage')}: " if prefix is None else prefix)  # type: ignore[arg-type]

    return Formatter


def _parser(say: Texts, prog: str, description: str, *, epilog: str) -> _Parser:
    parser = _Parser(say=say, prog=prog, description=description, epilog=epilog)
    _common(parser, say)
    return parser


def _common(parser: argparse.ArgumentParser, say: Texts) -> None:
    """Options that may stand before or after the command; only a given one counts."""
    options = parser.add_argument_group(say("help.common"))
    suppress = argparse.SUPPRESS
    options.add_argument("--json", action="store_true", default=suppress, help=say("help.json"))
    options.add_argument("--api", default=suppress, metavar="URL", help=say("help.api"))
    options.add_argument("--lang", choices=LANGUAGES, default=suppress, help=say("help.lang"))
