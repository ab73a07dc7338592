"""The bucket of learned utterances."""

from datetime import UTC, datetime, timedelta

from shared.bus import Bus
from shared.learned_examples import LearnedExamples

NOW = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


async def test_an_utterance_is_learned_once_however_it_was_typed(bus: Bus) -> None:
    examples = LearnedExamples(bus)

    assert await examples.add("notes", "Mete pan en la lista", source="outcome", at=NOW)
    assert not await examples.add("notes", "mete  PAN en la lista", source="outcome", at=NOW)
    assert await examples.add("reminders", "mete pan en la lista", source="outcome", at=NOW)

    assert [(e.group, e.text) for e in await examples.list("notes")] == [("notes", "Mete pan en la lista")]


async def test_an_utterance_that_was_removed_may_be_learned_again(bus: Bus) -> None:
    examples = LearnedExamples(bus)
    await examples.add("notes", "mete pan", source="outcome", at=NOW)

    assert await examples.remove("notes", "mete pan")
    assert not await examples.remove("notes", "mete pan")
    assert await examples.list() == []
    assert await examples.add("notes", "mete pan", source="outcome", at=NOW)


async def test_only_the_oldest_from_outcomes_make_room(bus: Bus) -> None:
    examples = LearnedExamples(bus)
    await examples.add("notes", "del operador", source="operator", at=NOW)
    for n in range(5):
        await examples.add("notes", f"frase {n}", source="outcome", at=NOW + timedelta(minutes=n))

    await examples.keep_newest("notes", 2)

    assert [e.text for e in await examples.list("notes")] == ["del operador", "frase 3", "frase 4"]
