import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Rejected
from shared.image_size import image_size
from shared.intake import check_file, check_hash, check_text, clean_name, describe
from shared.settings.schema import Intake
from shared.sniff import media_type_of
from tests.support.file_bytes import ODT, archive, gif, jpeg, mp4, png, vp8, vp8l, vp8x, webp

LIMITS = Intake()
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


BY_BYTES = {
    "png": (png(), "image/png"),
    "jpeg": (jpeg(), "image/jpeg"),
    "gif": (gif(), "image/gif"),
    "webp": (vp8x(3, 2), "image/webp"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
    "word": (archive("[Content_Types].xml", "word/document.xml"), DOCX),
    "excel": (archive("[Content_Types].xml", "xl/workbook.xml"), XLSX),
    "powerpoint": (archive("[Content_Types].xml", "ppt/presentation.xml"), PPTX),
    "opendocument": (archive("mimetype", "content.xml"), ODT),
    "plain zip": (archive("a.txt"), ""),
    "ogg": (b"OggS\0\x02", "audio/ogg"),
    "mp3 with a tag": (b"ID3\x04\0", "audio/mpeg"),
    "mp3 without": (b"\xff\xfb\x90\x64", "audio/mpeg"),
    "wav": (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
    "avi": (b"RIFF\x24\0\0\0AVI LIST", ""),
    "mp4": (mp4(), "video/mp4"),
    "heic": (mp4(b"heic"), ""),
    "json": (b' {"a": [1, "\xc3\xb1"]}', "application/json"),
    "json with a mark": (b"\xef\xbb\xbf[]", "application/json"),
    "almost json": (b'{"a": 1,}', "text/plain"),
    "too deep for json": (b"[" * 200_000, "text/plain"),
    "html": (b"<!-- hi -->\n<!DOCTYPE HTML><p>", "text/html"),
    "xml": (b"<?xml version='1.0'?><a/>", "text/xml"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "text/xml"),
    "xhtml": (b"<?xml version='1.0'?><html xmlns='x'/>", "text/html"),
    "spanish": ("¡mañana!\tsí\r\n".encode(), "text/plain"),
    "latin-1": ("mañana".encode("latin-1"), ""),
    "utf-16": ("hola".encode("utf-16"), ""),
    "cut in a letter": ("ñ".encode()[:1], ""),
    "a letter over a step": (b"a" * 65_535 + "ñ".encode(), "text/plain"),
    "nul": (b"hola\0", ""),
    "elf": (b"\x7fELF\x02", ""),
}


@pytest.mark.parametrize("case", BY_BYTES)
def test_bytes_tell_what_they_are(case: str) -> None:
    data, media_type = BY_BYTES[case]
    assert media_type_of(data) == media_type


@pytest.mark.parametrize(
    ("media_type", "data", "size"),
    [
        ("image/png", png(640, 480), (640, 480)),
        ("image/jpeg", jpeg(640, 480), (640, 480)),
        ("image/gif", gif(640, 480), (640, 480)),
        ("image/webp", vp8x(640, 480), (640, 480)),
        ("image/webp", vp8x(16_777_216, 1), (16_777_216, 1)),
        ("image/webp", vp8l(640, 480), (640, 480)),
        ("image/webp", vp8(640, 480), (640, 480)),
        ("image/png", png(0, 480), None),
        ("image/png", png()[:20], None),
        ("image/png", png().replace(b"IHDR", b"IDAT"), None),
        ("image/jpeg", jpeg()[:30], None),
        ("image/jpeg", b"\xff\xd8\xff\xe0\0\0", None),
        ("image/jpeg", b"\xff\xd8\xff\xd9", None),
        ("image/gif", b"GIF89a\x01", None),
        ("image/webp", webp(b"VP8X\x0a\0\0\0"), None),
        ("image/webp", vp8x(3, 2)[:-1], None),
        ("image/webp", webp(b"ALPH"), None),
    ],
)
def test_the_size_of_an_image_is_read_from_its_header(
    media_type: str, data: bytes, size: tuple[int, int] | None
) -> None:
    assert image_size(media_type, data) == size


@given(st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"]), st.binary(max_size=64), st.data())
def test_no_bytes_break_the_reader_of_sizes(media_type: str, noise: bytes, data: st.DataObject) -> None:
    whole = {"image/png": png(), "image/jpeg": jpeg(), "image/gif": gif(), "image/webp": vp8x(3, 2)}[media_type]
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    size = image_size(media_type, cut + noise)
    assert size is None or all(side > 0 for side in size)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_sniffer(data: bytes) -> None:
    assert isinstance(media_type_of(data), str)


ACCEPTED = [
    ("foto.png", "image/png", png(), "image/png"),
    ("foto.PNG", "", png(), "image/png"),
    ("foto", "application/octet-stream", png(), "image/png"),
    ("foto.jpg", "image/jpg", jpeg(), "image/jpeg"),
    ("a.b", "image/png; charset=binary", png(), "image/png"),
    ("nota.txt", "text/plain", b"hola", "text/plain"),
    ("nota.md", "text/markdown", b"# hola", "text/markdown"),
    ("t.csv", "text/csv; charset=utf-8", b"a,b\n1,2", "text/csv"),
    ("prog.py", "text/x-python", b"print(1)", "text/plain"),
    ("d.json", "application/json", b"{}", "application/json"),
    ("d.txt", "text/plain", b"{}", "application/json"),
    ("dibujo.svg", "image/svg+xml", b"<svg/>", "text/xml"),
    ("p.html", "text/html", b"just a fragment", "text/plain"),
    ("carta.docx", DOCX, archive("word/document.xml"), DOCX),
    ("carta.docx", "application/zip", archive("word/document.xml"), DOCX),
    ("voz.ogg", "audio/ogg; codecs=opus", b"OggS\0\x02", "audio/ogg"),
]


@pytest.mark.parametrize(("name", "declared", "data", "media_type"), ACCEPTED)
def test_a_file_that_is_what_it_says_is_taken(name: str, declared: str, data: bytes, media_type: str) -> None:
    assert check_file(data, name=name, declared=declared, limits=LIMITS).media_type == media_type


REFUSED = [
    ("a.txt", "text/plain", b"", "file-empty"),
    ("a.exe", "", b"MZ\x90\0\x03", "file-type-unsupported"),
    ("a.zip", "application/zip", archive("a.txt"), "file-type-unsupported"),
    ("a.png", "image/png", png()[:18], "file-broken"),
    ("a.png", "image/png", png(10_000, 10_000), "image-too-large"),
    ("a.png", "image/png", jpeg(), "file-type-mismatch"),
    ("a.jpg", "", png(), "file-type-mismatch"),
    ("a.bin", "image/jpeg", png(), "file-type-mismatch"),
    ("a.pdf", "application/pdf", b"hola", "file-type-mismatch"),
    ("a.txt", "text/plain", b"%PDF-1.4", "file-type-mismatch"),
    ("a.png", "image/png", b"<svg onload='x'/>", "file-type-mismatch"),
    ("a.png", "", b"<html><script>", "file-type-mismatch"),
    ("a.json", "application/json", b"{broken", "file-type-mismatch"),
    ("a.docx", DOCX, archive("xl/workbook.xml"), "file-type-mismatch"),
    ("a.mp3", "audio/mpeg", b"OggS\0", "file-type-mismatch"),
    ("a.svg", "image/svg+xml", b"no markup", "file-type-mismatch"),
]


@pytest.mark.parametrize(("name", "declared", "data", "code"), REFUSED)
def test_a_file_that_is_not_what_it_says_is_refused(name: str, declared: str, data: bytes, code: str) -> None:
    with pytest.raises(Rejected) as refusal:
        check_file(data, name=name, declared=declared, limits=LIMITS)
    assert refusal.value.code == code


def test_a_mismatch_says_what_the_file_really_is() -> None:
    with pytest.raises(Rejected, match=r"declared as image/png, but its bytes are image/jpeg"):
        check_file(jpeg(), name="x.png", declared="image/png", limits=LIMITS)


def test_a_file_over_the_limit_is_refused() -> None:
    with pytest.raises(Rejected) as refusal:
        describe(b"a" * 2049, limits=Intake(max_blob_bytes=2048))
    assert (refusal.value.code, refusal.value.status) == ("file-too-large", 413)


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("foto.png", "foto.png"),
        ("C:\\fotos\\gato.png", "gato.png"),
        ("../../etc/passwd", "passwd"),
        ("..", ""),
        ("", ""),
        ("a\r\nX: y.txt", "a X: y.txt"),
        ("man\u0303ana.txt", "mañana.txt"),
        ("x" * 300 + ".png", "x" * 145 + "…" + ".png"),
    ],
)
def test_a_file_name_is_made_fit_to_store(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned


@pytest.mark.parametrize(
    ("text", "attachments", "stored"),
    [(" hola \r\n", 0, "hola"), ("a\x00\ud800b", 0, "ab"), ("", 1, ""), ("\x07", 1, "")],
)
def test_text_is_stored_clean(text: str, attachments: int, stored: str) -> None:
    assert check_text(text, attachments=attachments, limits=LIMITS) == stored


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "\ud800"])
def test_text_of_nothing_is_refused_when_nothing_is_attached(text: str) -> None:
    with pytest.raises(Rejected) as refusal:
        check_text(text, attachments=0, limits=LIMITS)
    assert refusal.value.code == "empty-message"


def test_text_over_the_limit_is_refused_before_work_is_done_on_it() -> None:
    with pytest.raises(Rejected) as refusal:
        check_text("a" * 11, attachments=0, limits=Intake(max_text_chars=10))
    assert (refusal.value.code, refusal.value.status) == ("text-too-long", 413)


def test_towers_of_combining_marks_cost_no_time() -> None:
    began = time.perf_counter()
    cleaned = check_text("a" + "\u0301" * 15_000 + "\u0327" * 15_000, attachments=0, limits=LIMITS)
    assert len(cleaned) <= 31
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize("sha256", ["", "a" * 63, "A" * 64, "a" * 64 + "\n", "../" + "a" * 61, "*" * 64])
def test_only_a_hash_names_an_attachment(sha256: str) -> None:
    with pytest.raises(Rejected) as refusal:
        check_hash(sha256)
    assert refusal.value.code == "invalid-attachment"
