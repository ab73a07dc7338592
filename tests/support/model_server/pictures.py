"""What image bytes really are: format, whole or cut, width and height, read from the bytes alone.

Formats after their specifications: PNG (W3C), JPEG (ITU T.81), GIF89a, WebP container (RFC 9649).
"""

import struct
import zlib
from typing import NamedTuple

_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


def sniff(data: bytes) -> str:
    """The media type the first bytes tell, or "" when they tell none of the four formats models take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


def measure(data: bytes) -> Size:
    """The size of a whole image; `ValueError` when it is cut, damaged or of another format."""
    readers = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
    reader = readers.get(sniff(data))
    if reader is None:
        raise ValueError("unknown format")
    try:
        size = reader(data)
    except (struct.error, IndexError) as exc:
        raise ValueError("cut short") from exc
    if not size.width or not size.height:
        raise ValueError("no area")
    return size


def _png(data: bytes) -> Size:
    at, size = 8, Size(0, 0)
    while True:
        length, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        if struct.unpack_from(">I", data, at + 8 + length)[0] != zlib.crc32(name + body):
            raise ValueError("damaged chunk")
        if name == b"IHDR":
            size = Size(*struct.unpack_from(">II", body))
        if name == b"IEND":
            return size
        at += length + 12


def _jpeg(data: bytes) -> Size:
    if b"\xff\xd9" not in data[-64:]:
        raise ValueError("no end of image")
    at = 2
    while True:
        while data[at + 1] == 0xFF:
            at += 1
        if data[at] != 0xFF:
            raise ValueError("no marker where one must be")
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Size(width, height)
        if marker in {0xD9, 0xDA}:
            raise ValueError("no frame header")
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]


def _gif(data: bytes) -> Size:
    if not data.rstrip(b"\0").endswith(b";"):
        raise ValueError("no trailer")
    return Size(*struct.unpack_from("<HH", data, 6))


def _webp(data: bytes) -> Size:
    if len(data) < struct.unpack_from("<I", data, 4)[0] + 8:
        raise ValueError("cut short")
    match data[12:16]:
        case b"VP8X":
            return Size(1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little"))
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return Size(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return Size(width & 0x3FFF, height & 0x3FFF)
        case _:
            raise ValueError("unknown first chunk")
