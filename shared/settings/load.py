"""Settings from defaults, then `jada.toml`, then the environment: the later one wins."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from shared.errors import JadaError
from shared.settings.fields import all_fields
from shared.settings.schema import Settings
from shared.settings.sources import CONFIG_FILE, CONFIG_VARIABLE, Found, Reading, from_environment, from_toml
from shared.text import cut

_SHOWN_CHARS = 40


class SettingsError(JadaError):
    """The configuration can't be used. `problems` has a line for each reason; none repeats a secret."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def load(*, env: Mapping[str, str], path: Path | None = None, folder: Path | None = None) -> Settings:
    """Merge all sources into settings; `SettingsError` with every problem at once.

    The TOML file is `path`, else the one `JADA_CONFIG` names, and must then exist; else `jada.toml` in `folder` if it
    is there; else there is none. Reads that file and those named by `…_FILE` variables, nothing else.
    """
    fields = all_fields()
    config = _config_file(env, path, folder)
    nothing: Found = ([], [])
    written, problems = from_toml(config, fields) if config else nothing
    exported, more_problems = from_environment(env, fields)
    problems = problems + more_problems
    values: dict[str, dict[str, object]] = {}
    for reading in written + exported:
        try:
            values.setdefault(reading.field.section, {})[reading.field.name] = reading.field.convert(reading.value)
        except msgspec.ValidationError:
            problems.append(_refusal(reading))
    if problems:
        raise SettingsError(problems)
    return msgspec.convert(values, Settings)


def _config_file(env: Mapping[str, str], path: Path | None, folder: Path | None) -> Path | None:
    if path is not None:
        return path
    if env.get(CONFIG_VARIABLE):
        return Path(env[CONFIG_VARIABLE])
    if folder is not None and (folder / CONFIG_FILE).is_file():
        return folder / CONFIG_FILE
    return None


def _refusal(reading: Reading) -> str:
    field = reading.field
    got = cut(repr(reading.value), _SHOWN_CHARS) if reading.shown else f"this {_kind(reading.value)}"
    return f"{field.key} in {reading.origin}: {got} is not allowed; allowed: {field.allowed}. {field.meta.description}"


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else type(value).__name__
