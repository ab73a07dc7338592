"""Profiles: who Jada is for a conversation. Files in `profiles/<name>/`, kept in the `profiles` bucket."""

import hashlib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from msgspec import Meta

from shared.errors import JadaError
from shared.text import clean, estimate_tokens

_NAME = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


class ProfileInvalid(JadaError):
    """A profile that cannot be used; the message says which file and what to change."""


class TurnLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds of one turn. `cost_usd` 0 means no bound on money."""

    steps: Annotated[int, Meta(ge=1, le=100)] = 12
    tokens: Annotated[int, Meta(ge=100)] = 200_000
    wall_s: Annotated[float, Meta(gt=0, le=3600)] = 300.0
    cost_usd: Annotated[float, Meta(ge=0)] = 0.0
    calls_per_step: Annotated[int, Meta(ge=1, le=64)] = 16


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One profile.

    `groups` empty means every configured tool group. `arrival` says what happens to messages that come while a
    turn runs: `steer` shows them to the model at its next call, `queue` answers them next. `history_tokens` is the
    budget for earlier turns in a model request.
    """

    name: _NAME = "default"
    language: Literal["es", "en"] = "es"
    time_zone: str = "UTC"
    groups: list[str] = []
    arrival: Literal["steer", "queue"] = "steer"
    history_tokens: Annotated[int, Meta(ge=500, le=1_000_000)] = 12_000
    limits: TurnLimits = TurnLimits()
    identity: str = ""
    user_facts: str = ""
    revision: str = ""


_decoder = msgspec.json.Decoder(Profile)


def decode_profile(data: bytes) -> Profile:
    """A profile as stored in the bucket."""
    return _decoder.decode(data)


def load_profiles(folder: Path, *, identity_max_tokens: int) -> dict[str, Profile]:
    """Every `<folder>/<name>/profile.toml` with its `identity.md` and `user.md`; `ProfileInvalid` if one is bad."""
    if not folder.is_dir():
        return {}
    return {path.parent.name: _load(path, identity_max_tokens) for path in sorted(folder.glob("*/profile.toml"))}


def _load(path: Path, identity_max_tokens: int) -> Profile:
    name = path.parent.name
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        texts = {"identity": _text(path, "identity.md"), "user_facts": _text(path, "user.md")}
        profile = msgspec.convert({**raw, **texts, "name": name}, Profile)
        ZoneInfo(profile.time_zone)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as exc:
        raise ProfileInvalid(f"{path}: {exc}") from exc
    except (ZoneInfoNotFoundError, ValueError) as exc:
        raise ProfileInvalid(f"{path}: time_zone: use an IANA name such as America/Bogota") from exc
    tokens = estimate_tokens(profile.identity)
    if tokens > identity_max_tokens:
        # Identity is sent verbatim with every request, so too long a one is refused here and never cut there.
        raise ProfileInvalid(
            f"{path.parent / 'identity.md'}: about {tokens} tokens, the limit is {identity_max_tokens} "
            "(agent.identity_max_tokens): shorten it or raise the limit"
        )
    digest = hashlib.sha256(msgspec.json.encode(profile)).hexdigest()[:12]
    return msgspec.structs.replace(profile, revision=digest)


def _text(profile: Path, name: str) -> str:
    path = profile.parent / name
    return clean(path.read_text(encoding="utf-8")).strip() if path.exists() else ""
