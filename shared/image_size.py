"""Width and height of an image from its header, without decoding a single pixel."""

import struct

# JPEG markers that start a frame and hold its size (ITU-T T.81, table B.1); C4, C8 and CC are none.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length


def image_size(media_type: str, data: bytes) -> tuple[int, int] | None:
    """Pixels across and down; None when the header is cut short, contradicts itself or names a side of zero."""
    readers = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
    try:
        size = readers[media_type](data)
    except (struct.error, IndexError):
        return None
    return size if size and all(size) else None


def _png(data: bytes) -> tuple[int, int] | None:
    # PNG specification, 11.2.2: the first chunk is IHDR and starts with both sides.
    if data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte before a marker
            at += 1
        elif marker in _BARE:
            at += 2
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        else:
            length = struct.unpack_from(">H", data, at + 2)[0]
            if length < 2:
                return None
            at += 2 + length
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    # WebP container (RFC 9649): the first chunk is lossy, lossless, or the extended header with the canvas.
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little") if data[29:] else 0
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
