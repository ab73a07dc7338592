"""What every command is given."""

import argparse
import getpass
import json
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from cli.texts import Texts
from shared.settings.load import load
from shared.settings.schema import Settings


class Session:
    """The arguments, the texts of the user's language, and the settings, which are read only when needed."""

    def __init__(self, args: argparse.Namespace, say: Texts, env: Mapping[str, str]) -> None:
        self.args = args
        self.say = say
        self.env = env
        self.json: bool = getattr(args, "json", False)

    @cached_property
    def settings(self) -> Settings:
        """The settings of this folder and environment; `SettingsError` when they can't be used."""
        return load(env=self.env, folder=Path.cwd())

    @property
    def data_dir(self) -> Path:
        """Where `jada up` keeps what it stores."""
        return Path(self.settings.embedded.data_dir)

    @property
    def conversation(self) -> str:
        """The conversation asked for, else the user's own on this command line."""
        return self.args.conversation or f"cli-{self.args.user}"

    def print_json(self, value: Any) -> None:
        """One JSON document on one line."""
        print(json.dumps(value, ensure_ascii=False), flush=True)

    def note(self, text: str) -> None:
        """Say something that is no result: on standard error."""
        print(text, file=sys.stderr, flush=True)


def login_name() -> str:
    """The name of whoever runs this, `me` when the system doesn't know."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "me"
