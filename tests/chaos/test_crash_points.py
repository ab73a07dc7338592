"""SIGKILL at every point between two effects of a turn: the turn ends once, no tool runs twice, the answer arrives."""

from pathlib import Path

import pytest

from shared.messages.conversation import ToolFinished
from tests.support.stage import crash_stage

# Every effect of each process in the two-call turn, counted by `test_the_number_of_effects_is_known`.
AGENT_EFFECTS = 8
TOOLS_EFFECTS = 8
KILLED = -9

POINTS = [
    (service, at, when)
    for service, effects in (("agent", AGENT_EFFECTS), ("tools", TOOLS_EFFECTS))
    for at in range(1, effects + 1)
    for when in ("before", "after")
]


@pytest.mark.parametrize(("service", "effects"), [("agent", AGENT_EFFECTS), ("tools", TOOLS_EFFECTS)])
async def test_the_number_of_effects_is_known(tmp_path: Path, service: str, effects: int) -> None:
    """Keeps the list of crash points complete: a new effect in a turn must be killed at, too."""
    async with crash_stage(tmp_path) as stage:
        process = await stage.crashing(service, at=0, when="before")
        await (stage.tools() if service == "agent" else stage.agent())
        ended = await stage.ended(await stage.say("apunta en el libro dos asientos"))
        process.terminate()
        assert process.stdout is not None
        assert await process.stdout.read() == f"effects {effects}\n".encode()
        assert await process.wait() == 0
        assert ended.status == "answered"


@pytest.mark.parametrize(("service", "at", "when"), POINTS)
async def test_a_turn_survives_a_kill(tmp_path: Path, service: str, at: int, when: str) -> None:
    async with crash_stage(tmp_path) as stage:
        process = await stage.crashing(service, at=at, when=when)
        await (stage.tools() if service == "agent" else stage.agent())
        seq = await stage.say("apunta en el libro dos asientos")
        assert await process.wait() == KILLED
        await (stage.agent() if service == "agent" else stage.tools())

        ended = await stage.ended(seq)

        assert ended.status == "answered"
        assert ended.answer.startswith("El libro dice")
        state = await stage.assert_sound([seq])
        outcomes = [o for turn in state.turns for o in turn.outcomes.values()]
        assert len(outcomes) == 2
        assert all(isinstance(o, ToolFinished) and o.status in ("ok", "unknown") for o in outcomes)
        # A reply in the log is never asked for again; only one that was not yet appended is.
        assert len(stage.model.received) <= 4
        assert all(request.status == 200 for request in stage.model.received)
        assert not (await stage.bus.client.jetstream().consumer_info("TOOLS", "tools-ledger")).num_pending
