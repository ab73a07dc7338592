"""The first bytes of files, as much as shows what they are: headers of images, archives of office documents."""

import io
import struct
import zipfile

ODT = "application/vnd.oasis.opendocument.text"


def png(width: int = 3, height: int = 2) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def jpeg(width: int = 3, height: int = 2) -> bytes:
    app0 = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + b"\0" * 9
    table = b"\xff\xc4" + struct.pack(">H", 5) + b"abc"
    frame = b"\xff\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + b"\0" * 10
    return b"\xff\xd8" + app0 + table + frame


def gif(width: int = 3, height: int = 2) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def webp(chunk: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


def vp8x(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return webp(b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + sides)


def vp8l(width: int, height: int) -> bytes:
    return webp(b"VP8L" + struct.pack("<IBI", 5, 0x2F, (width - 1) | (height - 1) << 14))


def vp8(width: int, height: int) -> bytes:
    return webp(b"VP8 " + struct.pack("<I", 10) + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name in names:
            packed.writestr(name, ODT if name == "mimetype" else "<x/>")
    return buffer.getvalue()


def mp4(brand: bytes = b"isom") -> bytes:
    return b"\0\0\0\x18ftyp" + brand + b"\0" * 12
