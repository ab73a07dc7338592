"""Learning anew from phrases that are not those that ship, in a process of its own."""

import pytest

from services.router.mind import Mind
from services.router.samples import GroupPhrases
from shared.messages.tools import Phrases

NEW: GroupPhrases = {
    "lights": {"en": Phrases(keywords=["lamp*"], examples=["dim the lamp", "brighter lamps please", "lamp off"])},
    "fountain": {"en": Phrases(examples=["start the fountain", "let the water splash", "stop the fountain jets"])},
}


@pytest.mark.slow
async def test_new_groups_are_understood_once_learned_and_not_learned_twice() -> None:
    mind = Mind(settle_s=0.0)
    await mind.start()
    try:
        assert mind.semantic is not None
        shipped = mind.version
        mind.follow(NEW)
        assert mind.semantic.judge("splash some water in the fountain", (), frozenset(NEW), part=True) is None
        await mind.settled()
        assert mind.version == shipped + 1
        verdict = mind.semantic.judge("splash some water in the fountain", (), frozenset(NEW), part=False)
        assert verdict is not None
        assert verdict.groups == ("fountain",)
        mind.follow(NEW)
        await mind.settled()
        assert mind.version == shipped + 1
    finally:
        await mind.stop()
