"""Rules about `image_url` parts. OpenAI's documents name the formats; the sizes are Anthropic's, the strictest."""

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from tests.support.model_server.checks.messages import parts_of
from tests.support.model_server.pictures import Size, measure, sniff
from tests.support.model_server.terms import JsonObject, Terms
from tests.support.model_server.violations import Finding

FORMATS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DATA_URI = re.compile(r"data:([^;,]*);base64,", re.ASCII)
_PREVIEW = 60

Problem = Literal["", "remote-image", "bad-data-uri", "type-unsupported", "bad-base64", "undecodable", "type-mismatch"]


class Picture(NamedTuple):
    """One image as read from its URL: the first thing wrong with it, or its size."""

    problem: Problem
    declared: str = ""
    actual: str = ""
    base64_bytes: int = 0
    size: Size = Size(0, 0)


@lru_cache(maxsize=16)
def read(url: str) -> Picture:
    """`url` taken apart; only data URIs are readable, as no provider could reach an address on a test's network."""
    if url.startswith(("http://", "https://")):
        return Picture("remote-image")
    head = _DATA_URI.match(url)
    if head is None:
        return Picture("bad-data-uri")
    declared, encoded = head.group(1), url[head.end() :]
    if declared not in FORMATS:
        return Picture("type-unsupported", declared, "", len(encoded))
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return Picture("bad-base64", declared, "", len(encoded))
    actual = sniff(data)
    try:
        size = measure(data)
    except ValueError:
        return Picture("undecodable", declared, actual, len(encoded))
    if actual != declared:
        return Picture("type-mismatch", declared, actual, len(encoded), size)
    return Picture("", declared, actual, len(encoded), size)


def images_of(body: JsonObject) -> list[tuple[str, str]]:
    """Every image of a request: its path and its URL."""
    return [
        (f"messages.[{at}].content.[{part_at}]", part["image_url"]["url"])
        for at, message in enumerate(body["messages"])
        for part_at, part in enumerate(parts_of(message))
        if part["type"] == "image_url"
    ]


def no_vision(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Images only go to models that see."""
    if terms.model_of(body).vision:
        return
    for path, _url in images_of(body):
        if terms.dialect == "llamacpp":
            yield Finding(
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
            )
        else:
            yield Finding("Invalid content type. image_url is only supported by certain models.", f"{path}.type")


def remote_image(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Images come as data URIs."""
    for path, url in _with_problem(body, "remote-image"):
        yield Finding(f"Error while downloading {url}.", f"{path}.image_url.url")


def bad_data_uri(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Image URLs are URLs."""
    for path, url in _with_problem(body, "bad-data-uri"):
        message = f"Invalid image URL: '{url[:_PREVIEW]}'. Expected a base64-encoded data URL with an image MIME type."
        yield Finding(message, f"{path}.image_url.url")


def type_unsupported(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Declared types are PNG, JPEG, GIF or WebP."""
    formats = "['png', 'jpeg', 'gif', 'webp']"
    for path, _url in _with_problem(body, "type-unsupported"):
        message = "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
        yield Finding(f"{message}{formats}.", path)


def bad_base64(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """The data is strict base64, encoded once."""
    for path, _url in _with_problem(body, "bad-base64"):
        yield Finding("Invalid base64 image_url.", path)


def undecodable(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """The bytes are a whole image."""
    for path, _url in _with_problem(body, "undecodable"):
        message = "You uploaded an unsupported image. Please make sure your image is valid."
        yield Finding(message, path)


def type_mismatch(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """The declared type is that of the bytes."""
    for path, url in _with_problem(body, "type-mismatch"):
        picture = read(url)
        message = f"The image was specified using the {picture.declared} media type, but the image appears to be a "
        yield Finding(f"{message}{picture.actual} image", path)


def side_limit(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """No side is longer than 8000 pixels."""
    most = terms.limits.image_side
    for path, url in images_of(body):
        if max(read(url).size) > most:
            message = f"{path}.image_url: At least one of the image dimensions exceed max allowed size: {most} pixels"
            yield Finding(message, f"{path}.image_url")


def bytes_limit(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """The base64 text of an image is at most 5 MiB."""
    most = terms.limits.image_base64_bytes
    for path, url in images_of(body):
        size = read(url).base64_bytes
        if size > most:
            message = f"{path}.image_url: image exceeds {most // 1024**2} MB maximum: {size} bytes > {most} bytes"
            yield Finding(message, f"{path}.image_url")


def image_count(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """A request has at most so many images."""
    count, most = len(images_of(body)), terms.limits.images
    if count > most:
        yield Finding(f"Too many images in request: at most {most} are allowed, but {count} were provided.", "messages")


def _with_problem(body: JsonObject, problem: Problem) -> Iterator[tuple[str, str]]:
    return ((path, url) for path, url in images_of(body) if read(url).problem == problem)
