"""What the command line says, in Spanish and English (`texts.toml`)."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

LANGUAGES = ("es", "en")
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # in the order POSIX gives them


class Texts:
    """The texts of one language: `say("key", name=value)` fills a text's placeholders."""

    def __init__(self, language: str, table: Mapping[str, str], usage_errors: Mapping[str, str]) -> None:
        self.language = language
        self._table = table
        self._usage_errors = usage_errors

    def __call__(self, key: str, /, **values: object) -> str:
        """Return the text named `key`; `KeyError` when there is none."""
        return self._table[key].format(**values)

    def usage_error(self, message: str) -> str:
        """Translate a message of argparse, which speaks English only."""
        for english, translated in self._usage_errors.items():
            message = message.replace(english, translated)
        return message


def load_texts(language: str) -> Texts:
    """Load the texts of a language of `LANGUAGES`."""
    tables = tomllib.loads(files("cli").joinpath("texts.toml").read_text("utf-8"))
    return Texts(language, tables[language], tables["usage_errors"].get(language, {}))


def choose_language(asked: str, env: Mapping[str, str]) -> str:
    """Return the language asked for, else the locale's, else Spanish."""
    if asked in LANGUAGES:
        return asked
    locale = next((env[name] for name in _LOCALE_VARIABLES if env.get(name)), "")
    return "en" if locale.lower().startswith("en") else "es"
