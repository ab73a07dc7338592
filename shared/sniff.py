"""What bytes really are, whatever their sender calls them."""

import codecs
import re

import msgspec

_STEP = 64 * 1024
# Controls that no text has; tab, line ends, form feed and escape are allowed.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_BOM = b"\xef\xbb\xbf"
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_MP4_BRANDS = (b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"dash", b"M4V ", b"M4A ")
_OFFICE = {
    b"word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    b"xl/workbook.xml": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    b"ppt/presentation.xml": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
_OPEN_DOCUMENT = re.compile(rb"mimetype(application/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation))")
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|script)\b", re.IGNORECASE | re.DOTALL)
_XML = re.compile(rb"\s*<(?:\?xml|svg)\b", re.IGNORECASE)


def media_type_of(data: bytes) -> str:
    """The media type the bytes show; empty when it is none of those Jada knows. Markup and JSON are told from text."""
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        return "video/mp4" if data[8:12] in _MP4_BRANDS else ""
    if data[:4] == b"PK\x03\x04":
        return _office_type(data)
    if _is_mpeg_audio(data):
        return "audio/mpeg"
    return _text_type(data) if _is_text(data) else ""


def _office_type(data: bytes) -> str:
    # OpenDocument 1.3 part 2, 3.3: the first entry is `mimetype`, stored as is. OOXML is known by its main part.
    found = _OPEN_DOCUMENT.match(data, 30)
    if found:
        return found[1].decode("ascii")
    return next((media_type for part, media_type in _OFFICE.items() if part in data), "")


def _is_mpeg_audio(data: bytes) -> bool:
    # A frame header of layer III with a legal bit rate and sampling rate (ISO 11172-3, 2.4.2.3).
    return (
        len(data) >= 4
        and data[0] == 0xFF
        and data[1] & 0xE6 == 0xE2
        and data[2] & 0xF0 not in (0x00, 0xF0)
        and data[2] & 0x0C != 0x0C
    )


def _is_text(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _STEP):
            piece = data[start : start + _STEP]
            if _BINARY.search(piece):
                return False
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _text_type(data: bytes) -> str:
    head = data[:1024].removeprefix(_BOM)
    if _HTML.match(head):
        return "text/html"
    if _XML.match(head):
        return "text/html" if b"<html" in head.lower() else "text/xml"
    if head.lstrip()[:1] in (b"{", b"[") and _is_json(data.removeprefix(_BOM)):
        return "application/json"
    return "text/plain"


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=msgspec.Raw)  # checks the syntax and builds nothing
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
