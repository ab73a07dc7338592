"""The announcement of a running Jada in its data folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.running import Running, RunningUnreadable, read_running, remove_running, write_running


def announced(pid: int) -> Running:
    return Running(api="http://127.0.0.1:1", model="m", pid=pid, bus_url="nats://127.0.0.1:2", bus_token="secret")


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_it_is_read_as_written_and_only_its_owner_may(tmp_path: Path) -> None:
    (tmp_path / "jada.json").write_text("old", "utf-8")
    write_running(tmp_path, announced(os.getpid()))
    assert read_running(tmp_path) == announced(os.getpid())
    assert [path.name for path in tmp_path.iterdir()] == ["jada.json"]
    assert (tmp_path / "jada.json").stat().st_mode & 0o777 == 0o600


def test_one_whose_process_is_gone_does_not_count(tmp_path: Path) -> None:
    write_running(tmp_path, announced(ended_process()))
    assert read_running(tmp_path) is None


def test_only_its_own_process_takes_it_back(tmp_path: Path) -> None:
    write_running(tmp_path, announced(os.getpid()))
    remove_running(tmp_path, pid=os.getpid() + 1)
    assert read_running(tmp_path) is not None
    remove_running(tmp_path, pid=os.getpid())
    assert not (tmp_path / "jada.json").exists()
    remove_running(tmp_path, pid=os.getpid())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"api": 3, "model": "m", "pid": 1}'])
def test_a_spoilt_one_is_an_error_and_not_silently_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "jada.json").write_text(content, "utf-8")
    with pytest.raises(RunningUnreadable, match=r"jada\.json"):
        read_running(tmp_path)
