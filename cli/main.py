"""`jada`: reads the arguments, runs one command, turns every failure into a sentence and an exit status."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from cli.exits import ApiProblem, Exit, Unreachable
from cli.parser import asked_language, build_parser
from cli.session import Session, login_name
from cli.texts import choose_language, load_texts
from shared.errors import JadaError
from shared.settings.load import SettingsError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `argv` names (default: the process's arguments) and return its exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        _never_fail_on_characters(stream)
    say = load_texts(choose_language(asked_language(argv), os.environ))
    parser = build_parser(say, user=login_name())
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return Exit.USAGE
    return _run(Session(args, say, os.environ))


def _run(session: Session) -> int:
    say = session.say
    try:
        # One command needs the services, another the bus, most only HTTP: what isn't used isn't loaded.
        return int(importlib.import_module(f"cli.{session.args.command}").run(session))
    except SettingsError as exc:
        return _fail(session, say("settings_error", problems=exc), Exit.USAGE)
    except Unreachable as exc:
        return _fail(session, say("unreachable", address=exc.address), Exit.UNREACHABLE)
    except ApiProblem as exc:
        remedy = f" {exc.remedy}" if exc.remedy else ""
        return _fail(session, say("api_problem", detail=exc.detail, remedy=remedy), exc.exit)
    except BrokenPipeError:
        # Whoever read the output has enough; what Python flushes at its end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    except (JadaError, OSError) as exc:
        return _fail(session, say("error", error=exc), Exit.FAILED)
    except KeyboardInterrupt:
        return 130


def _fail(session: Session, text: str, status: Exit) -> int:
    if session.json:
        session.print_json({"error": text, "exit": int(status)})
    else:
        session.note(text)
    return status


def _never_fail_on_characters(stream: TextIO) -> None:
    """A terminal without Unicode shows a mark instead of ending the program."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
