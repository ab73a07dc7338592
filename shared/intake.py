"""The door: what people send is cleaned, measured and looked into before anything of it is stored. Pure."""

import re
import tomllib
from functools import cache
from pathlib import Path

import msgspec

from shared.errors import Rejected
from shared.image_size import image_size
from shared.settings.schema import Intake
from shared.sniff import media_type_of
from shared.text import clean, cut

_NAME_CHARS = 150
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")
_SAYS_NOTHING = frozenset({"", "application/octet-stream", "binary/octet-stream"})


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a file is by its bytes; `bytes` their number, sides in pixels for images and 0 for all else."""

    media_type: str
    bytes: int
    width: int = 0
    height: int = 0


class _Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    endings: list[str]
    names: list[str]


@cache
def _kinds() -> dict[str, _Kind]:
    raw = tomllib.loads(Path(__file__).with_name("intake.toml").read_text(encoding="utf-8"))
    return msgspec.convert(raw, dict[str, _Kind])


def check_text(text: str, *, attachments: int, limits: Intake) -> str:
    """A message's text as it is stored; `Rejected` when it is too long, or empty with nothing attached."""
    # Measured before it is cleaned: normalizing is not linear in what it is given.
    if len(text) > limits.max_text_chars:
        raise Rejected(
            "text-too-long",
            f"the text has {len(text)} characters, the limit is {limits.max_text_chars}",
            status=413,
            remedy="send less text, or attach it as a file",
        )
    cleaned = clean(text).strip()
    if not cleaned and not attachments:
        raise Rejected("empty-message", "there is neither text nor an attachment", remedy="send one of them")
    return cleaned


def check_hash(sha256: str) -> str:
    """The hash itself; `Rejected` when it is no SHA-256 in lower-case hex."""
    if not _SHA256.fullmatch(sha256):
        raise Rejected(
            "invalid-attachment",
            "an attachment is not named by a SHA-256 of 64 lower-case hex digits",
            remedy="upload the file first and send the sha256 of the answer",
        )
    return sha256


def clean_name(name: str) -> str:
    """A file name fit to be stored and shown: the last part of a path, cleaned, on one line, cut in the middle."""
    last = re.split(r"[/\\]", cut(name, 4 * _NAME_CHARS))[-1]
    plain = " ".join(clean(last).split()).strip(". ")
    if len(plain) <= _NAME_CHARS:
        return plain
    ending = _ending(plain)
    return cut(plain, _NAME_CHARS - len(ending) - 2) + "…" + (f".{ending}" if ending else "")


def check_file(data: bytes, *, name: str, declared: str, limits: Intake) -> FileFacts:
    """What an uploaded file is; `Rejected` when it is empty, too large, unknown, broken, or not what it says."""
    facts = describe(data, limits=limits)
    named = declared.partition(";")[0].strip().lower()
    if named not in _SAYS_NOTHING and not _agrees(named, facts.media_type):
        shown = named if _MEDIA_TYPE.fullmatch(named) else "something else"
        raise _mismatch(f"it is declared as {shown}", facts)
    ending = _ending(name)
    bearers = [kind for kind, row in _kinds().items() if ending in row.endings]
    if bearers and facts.media_type not in bearers:
        raise _mismatch(f"its name ends in .{ending}", facts)
    if facts.media_type == "text/plain" and named in ("text/csv", "text/markdown", "text/calendar"):
        return msgspec.structs.replace(facts, media_type=named)
    return facts


def describe(data: bytes, *, limits: Intake) -> FileFacts:
    """What bytes are by themselves; `Rejected` when they are nothing Jada takes."""
    if not data:
        raise Rejected("file-empty", "the file has no bytes", remedy="send a file with content")
    if len(data) > limits.max_blob_bytes:
        raise file_too_large(limits.max_blob_bytes)
    media_type = media_type_of(data)
    if not media_type:
        raise Rejected(
            "file-type-unsupported",
            "the bytes are no type of file that is taken",
            status=415,
            remedy="send one of: " + ", ".join(_kinds()),
        )
    if not media_type.startswith("image/"):
        return FileFacts(media_type=media_type, bytes=len(data))
    size = image_size(media_type, data)
    if size is None:
        raise Rejected("file-broken", f"the {media_type} has no readable size", remedy="save the image again")
    if size[0] * size[1] > limits.max_image_pixels:
        raise Rejected(
            "image-too-large",
            f"the image has {size[0]} x {size[1]} pixels, the limit is {limits.max_image_pixels} in all",
            remedy="send it smaller",
        )
    return FileFacts(media_type=media_type, bytes=len(data), width=size[0], height=size[1])


def file_too_large(limit: int) -> Rejected:
    """The refusal of a file of more than `limit` bytes."""
    return Rejected("file-too-large", f"the limit for a file is {limit} bytes", status=413, remedy="send a smaller one")


def _agrees(named: str, media_type: str) -> bool:
    if named == media_type or named in _kinds()[media_type].names:
        return True
    if media_type.startswith("text/"):
        # There are more names for text (programming languages, configuration …) than any table has.
        return named.startswith("text/") and named not in _kinds()
    return False


def _ending(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return ending.lower() if stem and dot and ending.isascii() and ending.isalnum() and len(ending) <= 10 else ""


def _mismatch(claim: str, facts: FileFacts) -> Rejected:
    return Rejected(
        "file-type-mismatch",
        f"{claim}, but its bytes are {facts.media_type}",
        remedy=f"send it as {facts.media_type}, with a name that fits",
    )
