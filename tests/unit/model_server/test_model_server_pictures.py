"""Image bytes are measured as their specifications say, and cut ones are told from whole ones."""

import struct

import pytest

from tests.support.model_server.pictures import Size, measure, sniff

GIF = b"GIF89a" + struct.pack("<HH", 3, 2) + bytes.fromhex("80000000000000ffffff2c00000000030002000002038c0b05003b")
JPEG = (
    bytes.fromhex("ffd8ffe000104a46494600010100000100010000")
    + b"\xff\xc0"
    + struct.pack(">HBHHB", 17, 8, 2, 3, 3)
    + bytes.fromhex("012200021101031101")
    + bytes.fromhex("ffda000c03010002110311003f00")
    + bytes.fromhex("00ffd9")
)


def webp(name: bytes, payload: bytes) -> bytes:
    chunk = name + struct.pack("<I", len(payload)) + payload
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


EXTENDED = webp(b"VP8X", bytes(4) + (2).to_bytes(3, "little") + (1).to_bytes(3, "little"))
LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 2 | 1 << 14))
LOSSY = webp(b"VP8 ", bytes.fromhex("0000009d012a") + struct.pack("<HH", 3, 2))

WHOLE = [
    ("image/gif", GIF),
    ("image/jpeg", JPEG),
    ("image/webp", EXTENDED),
    ("image/webp", LOSSLESS),
    ("image/webp", LOSSY),
]


@pytest.mark.parametrize(("media_type", "data"), WHOLE)
def test_a_whole_image_has_a_type_and_a_size(media_type: str, data: bytes) -> None:
    assert (media_type, Size(3, 2)) == (sniff(data), measure(data))


@pytest.mark.parametrize(("media_type", "data"), WHOLE)
def test_a_cut_image_cannot_be_measured(media_type: str, data: bytes) -> None:
    for end in range(len(data)):
        with pytest.raises(ValueError):  # noqa: PT011 - each cut fails in its own words
            measure(data[:end])
    assert media_type
