"""The embedded broker is killed while Jada is up: it comes back by itself, with everything that was stored."""

import contextlib
import signal
from pathlib import Path

import psutil

from tests.support.all_in_one import Jada, jada_up
from tests.support.eventually import eventually


def broker_of(jada: Jada) -> psutil.Process | None:
    for child in psutil.Process(jada.process.process.pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it may be gone by now: that is what the test does
            if "nats-server" in child.name():
                return child
    return None


async def test_after_the_broker_was_killed_the_next_question_is_answered(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        await jada.ask("save this note: buy milk")
        broker = broker_of(jada)
        assert broker is not None
        broker.send_signal(signal.SIGKILL)

        def replaced() -> bool:
            fresh = broker_of(jada)
            return fresh is not None and fresh.pid != broker.pid

        await eventually(replaced)
        await jada.process.ready()
        assert "buy milk" in (await jada.ask("which notes do I have?"))["answer"]
        assert jada.process.output.count("nats.died") == 1  # told at the console, once
        assert await jada.process.terminate() == 0


async def test_nothing_is_left_when_jada_itself_is_killed(tmp_path: Path) -> None:
    async with jada_up(tmp_path) as jada:
        broker = broker_of(jada)
        assert broker is not None
        jada.process.process.kill()
        await jada.process.process.wait()
        await eventually(lambda: not broker.is_running() or broker.status() == psutil.STATUS_ZOMBIE)
        async with jada_up(tmp_path) as again:
            assert (await again.ask("hello"))["status"] == "answered"
