"""The documents say what the schema says."""

import re
from pathlib import Path

import pytest

from shared.settings import Settings, load
from shared.settings.docs import documents, example, main, page
from shared.settings.fields import all_fields
from shared.settings.sources import ALIASES, RESERVED

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", documents())
def test_the_committed_document_is_current(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == documents()[name], "run python -m shared.settings.docs --write"


def test_every_setting_and_variable_is_on_the_page() -> None:
    text = page()
    names = [name for field in all_fields().values() for name in (field.key, field.variable)]
    assert [name for name in [*names, *RESERVED, *ALIASES] if f"`{name}`" not in text] == []


def test_every_table_row_has_as_many_cells_as_its_head() -> None:
    rows = [line for line in page().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8, 3}


@pytest.mark.parametrize("uncommented", [False, True])
def test_the_example_loads_as_the_defaults_with_and_without_its_comments(tmp_path: Path, uncommented: bool) -> None:
    text = re.sub(r"^# (\w+ = )", r"\1", example(), flags=re.MULTILINE) if uncommented else example()
    path = tmp_path / "jada.toml"
    path.write_text(text, "utf-8")
    assert len(re.findall(r"^\w+ = ", text, flags=re.MULTILINE)) == (len(all_fields()) if uncommented else 0)
    assert load(env={}, path=path) == Settings()


def test_check_fails_until_write_and_again_after_a_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"], tmp_path) == 1
    assert "docs/settings.md: out of date" in capsys.readouterr().out
    assert main(["--write"], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    (tmp_path / "docs/settings.md").write_text("old", "utf-8")
    assert main(["--check"], tmp_path) == 1
