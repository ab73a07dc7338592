"""Whatever bytes the sources hold, loading ends in valid settings or in a settings error."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from shared.settings import Settings, SettingsError, load
from shared.settings.fields import all_fields


def outcome(env: dict[str, str], path: Path | None = None) -> Settings | SettingsError:
    try:
        return load(env=env, path=path)
    except SettingsError as error:
        return error


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too


@given(st.dictionaries(st.sampled_from([field.variable for field in all_fields().values()]), ANY_TEXT))
def test_any_text_in_any_variable_gives_valid_settings_or_a_settings_error(env: dict[str, str]) -> None:
    got = outcome(env)
    if isinstance(got, SettingsError):
        assert 1 <= len(got.problems) <= len(env)
    else:
        for field in all_fields().values():
            value = getattr(getattr(got, field.section), field.name)
            assert field.convert(value) == value


@given(st.text(max_size=60))
def test_any_text_as_toml_gives_settings_or_a_settings_error(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jada.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        got = outcome({}, path)
        assert got.problems if isinstance(got, SettingsError) else got == Settings()
