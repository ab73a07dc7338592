"""The checks of `jada doctor`, each a look at one part from outside."""

import platform
import sys
from pathlib import Path
from typing import Any, Literal

import msgspec
from nats.js.errors import NotFoundError

from cli.api import api_address, open_api
from cli.broker import bus_settings, open_bus
from cli.exits import ApiProblem, Unreachable
from cli.session import Session
from shared.bus import Bus
from shared.errors import JadaError
from shared.settings.load import SettingsError
from shared.topology import STREAMS

_OLDEST = (3, 11)


class Check(msgspec.Struct, frozen=True):
    """One finding; `remedy` says what to do unless all is well."""

    name: str
    state: Literal["ok", "warning", "failed"]
    detail: str
    remedy: str = ""


async def check_all(session: Session) -> list[Check]:
    """Look at everything; what can't be looked at because an earlier part is ill is left out."""
    settings = _settings(session)
    checks = [_python(session), settings]
    if settings.state == "failed":
        return checks
    api = await _api(session)
    return [*checks, *api, *await _nats(session), _profiles(session)]


def _python(session: Session) -> Check:
    version = platform.python_version()
    if sys.version_info < _OLDEST:
        return Check("python", "failed", version, session.say("doctor.python_old"))
    return Check("python", "ok", version)


def _settings(session: Session) -> Check:
    try:
        data = session.data_dir
    except SettingsError as exc:
        return Check("settings", "failed", str(exc), session.say("doctor.settings_remedy"))
    return Check("settings", "ok", session.say("doctor.settings_fine", data=data))


async def _api(session: Session) -> list[Check]:
    """What the server says of itself: address, services, model."""
    say = session.say
    try:
        async with open_api(session) as api:
            ready = await api.check("/readyz")
            status = await api.get("/v1/status")
    except Unreachable as exc:
        return [Check("api", "failed", say("doctor.nats_unreachable", address=exc.address), say("doctor.api_remedy"))]
    except (ApiProblem, ValueError) as exc:
        return [Check("api", "failed", f"{api_address(session)}: {exc}", say("doctor.api_remedy"))]
    return [Check("api", "ok", api_address(session)), _services(session, ready), _model(session, status)]


def _services(session: Session, ready: dict[str, Any]) -> Check:
    found = ready["problems"] or ready.get("degraded", {})
    if not found:
        return Check("services", "ok", session.say("doctor.services_fine"))
    listed = "; ".join(f"{name}: {why}" for name, why in found.items())
    remedy = session.say("doctor.services_remedy", log=session.data_dir / "jada.log")
    return Check("services", "warning" if ready["ready"] else "failed", listed, remedy)


def _model(session: Session, status: dict[str, Any]) -> Check:
    model = status["model"]
    if model is None:
        return Check("model", "failed", session.say("doctor.model_none"), session.say("doctor.model_none_remedy"))
    if model["provider"] == "offline":
        return Check("model", "warning", session.say("doctor.model_offline"), session.say("doctor.model_remedy"))
    return Check("model", "ok", f"{model['name']} ({model['provider']})")


async def _nats(session: Session) -> list[Check]:
    say = session.say
    try:
        settings = bus_settings(session)
        async with open_bus(settings) as bus:
            server = bus.client.connected_server_version
            version = f"{server.major}.{server.minor}.{server.patch}"
            fine = Check("nats", "ok", say("doctor.nats_fine", version=version, address=settings.url))
            return [fine, await _streams(session, bus)]
    except (Unreachable, JadaError) as exc:
        return [Check("nats", "failed", say("doctor.nats_unreachable", address=exc), say("doctor.nats_remedy"))]


async def _streams(session: Session, bus: Bus) -> Check:
    say = session.say
    jetstream = bus.client.jetstream()
    missing, messages, size = [], 0, 0
    for spec in STREAMS:
        try:
            state = (await jetstream.stream_info(spec.name)).state
        except NotFoundError:
            missing.append(spec.name)
        else:
            messages += state.messages
            size += state.bytes
    if missing:
        names = ", ".join(missing)
        return Check("streams", "failed", say("doctor.streams_missing", names=names), say("doctor.streams_remedy"))
    count = len(STREAMS)
    return Check("streams", "ok", say("doctor.streams_fine", count=count, messages=messages, size=size // 1024))


def _profiles(session: Session) -> Check:
    folder = Path(session.settings.agent.profiles_dir)
    names = sorted(path.parent.name for path in folder.glob("*/profile.toml"))
    if not names:
        detail = session.say("doctor.profiles_none", folder=folder)
        return Check("profiles", "warning", detail, session.say("doctor.profiles_remedy", folder=folder))
    return Check("profiles", "ok", ", ".join(names))
