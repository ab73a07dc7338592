"""Profiles from their folder: what is read, and how what is wrong is told."""

from pathlib import Path

import pytest

from shared.messages.base import encode
from shared.profiles import Profile, ProfileInvalid, decode_profile, load_profiles


def write(folder: Path, name: str, toml: str, **texts: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "profile.toml").write_text(toml, encoding="utf-8")
    for stem, text in texts.items():
        (folder / name / f"{stem}.md").write_text(text, encoding="utf-8", newline="")
    return folder


def load(folder: Path, most: int = 4000) -> dict[str, Profile]:
    return load_profiles(folder, identity_max_tokens=most)


def test_a_profile_has_its_name_from_the_folder_and_its_texts_from_their_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        "casa",
        'language = "en"\ngroups = ["notes"]\n[limits]\nsteps = 3',
        identity="Soy Jada.\r\n",
        user="Ana",
    )
    profile = load(tmp_path)["casa"]
    assert (profile.name, profile.language, profile.groups, profile.limits.steps) == ("casa", "en", ["notes"], 3)
    assert (profile.identity, profile.user_facts) == ("Soy Jada.", "Ana")


def test_no_folder_means_no_profiles(tmp_path: Path) -> None:
    assert load(tmp_path / "none") == {}


def test_a_stored_profile_reads_back_the_same(tmp_path: Path) -> None:
    profile = load(write(tmp_path, "casa", "", identity="Soy Jada."))["casa"]
    assert decode_profile(encode(profile)) == profile


def test_the_revision_tells_whether_anything_changed(tmp_path: Path) -> None:
    first = load(write(tmp_path / "1", "casa", "", identity="Soy Jada."))["casa"]
    same = load(write(tmp_path / "2", "casa", "# a comment", identity="Soy Jada.\n"))["casa"]
    other = load(write(tmp_path / "3", "casa", "", identity="Soy otra."))["casa"]
    assert first.revision == same.revision != other.revision


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("language = 'fr'", "language"),
        ("idioma = 'es'", "idioma"),
        ("time_zone = 'Marte/Olympus'", "IANA"),
        ("time_zone = ''", "IANA"),
        ("time_zone = '../etc/passwd'", "IANA"),
        ("arrival = 'later'", "arrival"),
        ("history_tokens = 10", "history_tokens"),
        ("[limits]\nsteps = 0", "steps"),
        ("[limits]\nturns = 1", "turns"),
        ("not toml", "profile.toml"),
    ],
)
def test_a_bad_profile_is_refused_by_file_and_reason(tmp_path: Path, toml: str, told: str) -> None:
    write(tmp_path, "casa", toml)
    with pytest.raises(ProfileInvalid, match=told) as caught:
        load(tmp_path)
    assert "profile.toml" in str(caught.value)


def test_a_folder_whose_name_is_no_profile_name_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "Mi Casa", "")
    with pytest.raises(ProfileInvalid, match="Mi Casa"):
        load(tmp_path)


def test_an_identity_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "casa", "")
    (tmp_path / "casa" / "identity.md").write_bytes(b"caf\xe9")
    with pytest.raises(ProfileInvalid, match="casa"):
        load(tmp_path)


def test_an_identity_at_the_limit_is_kept_whole_and_a_longer_one_refused(tmp_path: Path) -> None:
    # Four characters count as a token, and one is added.
    assert len(load(write(tmp_path / "1", "casa", "", identity="x" * 399), 100)["casa"].identity) == 399
    write(tmp_path / "2", "casa", "", identity="x" * 400)
    with pytest.raises(ProfileInvalid, match="limit is 100"):
        load(tmp_path / "2", 100)
