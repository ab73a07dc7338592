"""Outside ids in subjects: reversible, apart from each other, bounded."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import subjects
from shared.errors import Rejected
from shared.topology import STREAMS, stream_of

IDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=16)


@given(IDS)
def test_an_encoded_id_is_one_plain_token_and_reads_back(value: str) -> None:
    token = subjects.encode_id(value)
    assert re.fullmatch("[A-Za-z0-9_=-]+", token)
    assert subjects.decode_id(token) == value


@given(IDS, IDS)
def test_two_ids_never_share_a_token(one: str, other: str) -> None:
    assert (subjects.encode_id(one) == subjects.encode_id(other)) == (one == other)


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("ana", "ana"),
        ("a-b_C9", "a-b_C9"),
        ("+57 300", "=2B57=20300"),
        ("a.b", "a=2Eb"),
        ("*", "=2A"),
        (">", "=3E"),
        ("=41", "=3D41"),
        ("ñ", "=C3=B1"),
        ("!room:x.org", "=21room=3Ax=2Eorg"),
        ("\r\n", "=0D=0A"),
    ],
)
def test_ids_are_encoded_as_documented(value: str, token: str) -> None:
    assert subjects.encode_id(value) == token


@pytest.mark.parametrize("value", ["a" * 200, "." * 66, "ñ" * 33])
def test_the_longest_id_is_accepted(value: str) -> None:
    assert subjects.decode_id(subjects.encode_id(value)) == value


@pytest.mark.parametrize("value", ["", "a" * 201, "." * 67, "ñ" * 34, "roto\ud83d"])
def test_an_id_that_cannot_be_a_token_is_rejected_with_a_remedy(value: str) -> None:
    with pytest.raises(Rejected) as caught:
        subjects.encode_id(value)
    assert caught.value.code == "invalid-id"
    assert caught.value.remedy


@given(IDS)
def test_a_conversation_is_found_again_in_its_subjects(value: str) -> None:
    for subject in (subjects.conv_in(value), subjects.conv_log(value), subjects.conv_tool(value)):
        assert subjects.conversation_of(subject) == value


def test_the_longest_user_id_fits_into_every_subject_it_is_part_of() -> None:
    user = "u" * subjects.MAX_TOKEN_BYTES
    assert subjects.decode_id(subjects.playbook(f"user:{user}").split(".")[1]) == f"user:{user}"
    for subject in (subjects.schedule(user, "r1"), subjects.due(user, "r1"), subjects.kv("members", user, user)):
        assert all(len(token) <= subjects.MAX_TOKEN_BYTES for token in subject.split("."))


@pytest.mark.parametrize(
    ("subject", "stream"),
    [
        (subjects.conv_in("c"), "CONVERSATIONS"),
        (subjects.conv_log("c"), "CONVERSATIONS"),
        (subjects.conv_tool("c"), "CONVERSATIONS"),
        (subjects.tool_job("notes", "note_save"), "TOOLS"),
        (subjects.schedule("ana", "r1"), "SCHEDULES"),
        (subjects.due("ana", "r1"), "SCHEDULES"),
        (subjects.playbook("user:ana"), "PLAYBOOK"),
        (subjects.kv("documents", "notes", "ana", "n1"), "KV_documents"),
        ("dead.TOOLS", "DEAD"),
        ("blob.ab12.0", "BLOBS"),
        ("output.c.x.0", "OUTPUTS"),
    ],
)
def test_every_stored_subject_has_its_stream(subject: str, stream: str) -> None:
    assert stream_of(subject) == stream
    filters = next(spec.subjects for spec in STREAMS if spec.name == stream)
    pattern = "|".join(re.escape(f).replace(r"\*", "[^.]+").replace(">", ".+") for f in filters)
    assert re.fullmatch(pattern, subject)


@pytest.mark.parametrize("subject", [subjects.live("c"), subjects.ROUTE])
def test_a_subject_that_nobody_stores_has_no_stream(subject: str) -> None:
    with pytest.raises(KeyError):
        stream_of(subject)
