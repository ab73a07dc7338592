"""`jada.json` in the data folder: how the command line finds the Jada that runs on it."""

import os
from pathlib import Path

import msgspec

from shared.errors import JadaError

_NAME = "jada.json"


class Running(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A running `jada up`. `bus_url` and `bus_token` lead to its embedded NATS; empty when it uses another one."""

    api: str
    model: str
    pid: int
    bus_url: str = ""
    bus_token: str = ""


class RunningUnreadable(JadaError):
    """The file is there but can't be read."""


def write_running(data: Path, running: Running) -> None:
    """Announce a running Jada, readable by its owner only because of the token."""
    path = data / _NAME
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(running)) + b"\n")
    fresh.replace(path)


def read_running(data: Path) -> Running | None:
    """The Jada announced in this folder, unless its process is gone; `RunningUnreadable` for a spoilt file."""
    path = data / _NAME
    try:
        running = msgspec.json.decode(path.read_bytes(), type=Running)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as exc:
        raise RunningUnreadable(f"{path}: {exc}") from exc
    return running if _is_alive(running.pid) else None


def remove_running(data: Path, *, pid: int) -> None:
    """Take back what the process `pid` announced; another one's announcement stays."""
    running = read_running(data)
    if running is not None and running.pid == pid:
        (data / _NAME).unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
