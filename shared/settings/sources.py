"""Where settings are written: readings of a TOML file and of the environment, names checked, values not yet.

Each source returns what it found and its problems, one line each. No problem repeats a value.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from shared.settings.fields import FROM_FILE, PREFIX, Field

CONFIG_VARIABLE = "JADA_CONFIG"
CONFIG_FILE = "jada.toml"

RESERVED = {
    CONFIG_VARIABLE: "Path of the TOML file.",
    "JADA_API": "Address of the API the command line talks to.",
    "JADA_TOKEN": "Token the command line shows to the API.",
    "JADA_PLAYBOOK_CASES": "Further cases for the playbook's tests.",
}
ALIASES = {"JADA_DATA": "embedded.data_dir"}


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A value for a field and the file or variable it came from; `shown` tells whether messages may repeat it."""

    field: Field
    value: object
    origin: str
    shown: bool


Found = tuple[list[Reading], list[str]]


def from_toml(path: Path, fields: Mapping[str, Field]) -> Found:
    """Read a TOML file: tables are sections, their keys fields."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        return [], [f"{path}: {_reason(error)}"]
    except UnicodeDecodeError:
        return [], [f"{path}: not UTF-8 text"]
    except (ValueError, RecursionError) as error:
        return [], [f"{path}: not valid TOML: {error}"]
    readings: list[Reading] = []
    problems: list[str] = []
    sections = dict.fromkeys(field.section for field in fields.values())
    for section, table in tables.items():
        if section not in sections:
            problems.append(f"{path}: unknown section {section!r}; {_nearest(section, sections)}")
        elif not isinstance(table, dict):
            problems.append(f"{path}: {section} must be a section: [{section}]")
        else:
            for name, value in table.items():
                field = fields.get(f"{section}.{name}")
                if field is None:
                    problems.append(
                        f"{path}: unknown key {f'{section}.{name}'!r}; {_nearest_key(section, name, fields)}"
                    )
                else:
                    readings.append(Reading(field=field, value=value, origin=str(path), shown=field.shows))
    return readings, problems


def from_environment(env: Mapping[str, str], fields: Mapping[str, Field]) -> Found:
    """Read the `JADA_…` variables, and the files that `…_FILE` variables name.

    An empty variable counts as not set, because that is what `${VARIABLE:-}` in a compose file gives.
    """
    readings: list[Reading] = []
    problems: list[str] = []
    variables = _variables(fields)
    by_field: dict[str, list[str]] = {}
    for name in sorted(name for name in env if name.startswith(PREFIX)):
        if name in variables:
            if env[name]:
                by_field.setdefault(variables[name].key, []).append(name)
        elif name not in RESERVED:
            problems.append(f"unknown variable {name!r}; {_nearest(name, [*variables, *RESERVED])}")
    for key, names in by_field.items():
        if len(names) > 1:
            problems.append(f"{key} is set more than once: {' and '.join(names)}; keep one")
            continue
        found, failed = _from_variable(names[0], env[names[0]], variables[names[0]])
        readings += found
        problems += failed
    return readings, problems


def _variables(fields: Mapping[str, Field]) -> dict[str, Field]:
    plain = {field.variable: field for field in fields.values()}
    files = {name + FROM_FILE: field for name, field in plain.items()}
    return plain | files | {alias: fields[key] for alias, key in ALIASES.items() if key in fields}


def _from_variable(name: str, text: str, field: Field) -> Found:
    try:
        text.encode()
    except UnicodeEncodeError:  # Python keeps such bytes as lone surrogates, which nothing further on accepts
        return [], [f"{field.key}: {name} is not UTF-8 text"]
    if not name.endswith(FROM_FILE):
        return [Reading(field=field, value=field.parse(text), origin=name, shown=field.shows)], []
    try:
        content = Path(text).read_text("utf-8").removesuffix("\n")
    except OSError as error:
        # Not the path: people put the secret itself there.
        return [], [f"{field.key}: cannot read the file {name} names: {_reason(error)}"]
    except ValueError:
        return [], [f"{field.key}: {name} names a file that is not UTF-8 text"]
    if not content:
        return [], [f"{field.key}: {name} names an empty file"]
    # A file given by mistake may hold anything, a key too.
    return [Reading(field=field, value=field.parse(content), origin=name, shown=False)], []


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return "see docs/settings.md" if len(names) > 20 else f"known: {', '.join(names)}"


def _nearest_key(section: str, name: str, fields: Mapping[str, Field]) -> str:
    close = difflib.get_close_matches(name, [field.name for field in fields.values() if field.section == section], n=1)
    if close:
        return f"did you mean {section}.{close[0]}?"
    elsewhere = [field.key for field in fields.values() if field.name == name]
    if elsewhere:
        return f"did you mean {elsewhere[0]}?"
    return _nearest(name, [field.name for field in fields.values() if field.section == section])
