"""Loading a group's phrases from its folder."""

from pathlib import Path

import pytest

from shared.errors import Permanent
from shared.messages.tools import Phrases
from shared.phrases import load_phrases


def test_each_file_is_a_language(tmp_path: Path) -> None:
    (tmp_path / "es.toml").write_text('keywords = ["nota"]\nblockers = ["se nota"]\n', encoding="utf-8")
    (tmp_path / "en.toml").write_text('examples = ["save it"]\nnegatives = ["note that"]\n', encoding="utf-8")
    assert load_phrases(tmp_path) == {
        "es": Phrases(keywords=["nota"], blockers=["se nota"]),
        "en": Phrases(examples=["save it"], negatives=["note that"]),
    }


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("es.toml", b'keyword = ["nota"]', r"es\.toml: unknown key 'keyword'; known are keywords, blockers"),
        ("es.toml", b'keywords = "nota"', r"es\.toml: Expected `array`"),
        ("es.toml", b"keywords = [1]", r"es\.toml: Expected `str`"),
        ("es.toml", b"keywords = [", r"es\.toml: "),
        ("es.toml", b'keywords = ["\xff"]', r"es\.toml: .*utf-8"),
        ("spanish.toml", b"", r"spanish\.toml: .*two-letter"),
        ("es.txt", b"", "no phrases"),
    ],
)
def test_a_wrong_file_is_refused_by_name(name: str, content: bytes, complaint: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Permanent, match=complaint):
        load_phrases(tmp_path)
