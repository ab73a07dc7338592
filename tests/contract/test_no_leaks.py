"""Nothing in the repository tells of the machine it was written on, and a secret never shows itself."""

import re
from pathlib import Path

import msgspec
import pytest

from shared.secret import Secret, encode_secret
from shared.settings.docs import example, page
from tests.contract.source import ROOT, files, name_of

# A folder of somebody's machine, an address of a package index: neither helps anybody else.
MACHINE = re.compile(r"(?<![\w.~-])/(?:Users|home/(?!jada|nonroot)|work|root)/\w|/tmp/(?:bash|v/)")
INDEX = re.compile(r"(?<!emit-)index[-_]url\b|https?://[\w.-]*(?:artifactory|nexus|devpi|mirror)", re.IGNORECASE)
FILES = [path for path in files() if path.stat().st_size < 2_000_000]
CANARY = "hunter2-canary"


def test_no_file_names_a_machine_or_a_package_index() -> None:
    assert [f"{name_of(path)}: {leak}" for path in FILES for leak in _leaks(path)] == []


def _leaks(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8", "replace")
    return [found.group() for pattern in (MACHINE, INDEX) for found in pattern.finditer(text)]


def test_the_files_of_the_repository_are_looked_at() -> None:
    assert {ROOT / "pyproject.toml", ROOT / "docs/subjects.md", Path(__file__)} <= set(FILES)


@pytest.mark.parametrize(
    "leak", ["see /wor{}k/main/x.py", "cd /Use{}rs/ana/jada", "--index{}-url=https://x", "/tm{}p/v/bin"]
)
def test_a_leak_would_be_found(leak: str) -> None:
    assert any(pattern.search(leak.replace("{}", "")) for pattern in (MACHINE, INDEX))


@pytest.mark.parametrize(
    "link", ["https://example.org/work/x", "https://example.org/project/nats-py", "/tmp/nats", "homework/a"]
)
def test_an_ordinary_path_or_link_is_no_leak(link: str) -> None:
    assert not any(pattern.search(link) for pattern in (MACHINE, INDEX))


def test_a_secret_shows_itself_in_no_text_made_of_it() -> None:
    secret = Secret(CANARY)
    told = [str(secret), repr(secret), f"{secret}", f"{secret!s:>20}", "%s" % secret, repr({"key": [secret]})]  # noqa: UP031
    told.append(msgspec.json.encode({"key": secret}, enc_hook=encode_secret).decode())
    assert [text for text in told if CANARY in text] == []
    assert secret.reveal() == CANARY


def test_an_error_about_a_secret_does_not_show_it() -> None:
    with pytest.raises(TypeError) as caught:
        msgspec.json.encode(Secret(CANARY))
    assert CANARY not in str(caught.value)


def test_the_documents_of_settings_show_no_value_of_a_secret() -> None:
    assert re.findall(r"secret text \| (?!empty)", page()) == []
    assert re.findall(r'^# (?:key|token|password|\w*secret\w*) = "[^"]+"', example(), re.MULTILINE) == []
