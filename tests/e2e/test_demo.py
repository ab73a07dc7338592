"""The guided tour: it shows a take-over by another agent process, and leaves nothing behind."""

import re
from pathlib import Path

import psutil

from tests.support.processes import environment, finished


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_the_demo_ends_a_turn_whose_agent_was_killed(tmp_path: Path) -> None:
    env = environment(TMPDIR=str(tmp_path), JADA_BUS_URL="nats://127.0.0.1:1", LC_ALL="en_US.UTF-8")
    status, out, err = await finished("cli.main", "demo", folder=tmp_path, env=env)
    assert status == 0, out + err
    killed = re.search(r"SIGKILL to agent (\d+)", out)
    replaced = re.search(r"new agent (\d+)", out)
    assert killed is not None
    assert replaced is not None
    assert f"TurnStarted epoch=2 groups=[notes]  ← agent {replaced.group(1)}" in out
    assert out.count("TurnEnded") == out.count("> ") + 1  # one for each message, and one for the reminder
    assert ("⏰ Reminder: stretch my legs" in out, "I deleted the note" in out) == (True, True)
    started = [int(pid) for pid in re.findall(r"(?:router|tools|learner|scheduler|agent) (\d+)", out)]
    assert not [pid for pid in started if psutil.pid_exists(pid)]
    assert left_in(tmp_path) == []
