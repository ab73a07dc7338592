"""What a fired schedule becomes."""

from datetime import UTC, datetime, timedelta

import pytest

from services.scheduler.firing import occurrence_id, reminder_due
from shared.messages.schedules import ReminderScheduled

DUE = datetime(2026, 11, 30, 19, 5, tzinfo=UTC)


def reminder(due_at: datetime = DUE, schedule_id: str = "r1") -> ReminderScheduled:
    return ReminderScheduled(
        schedule_id=schedule_id, user_id="ana", conversation_id="c", text="pan", due_at=due_at, created_at=DUE
    )


@pytest.mark.parametrize(("after_s", "late_s"), [(0.0, 0.0), (0.1234, 0.123), (3600.0, 3600.0), (-0.2, 0.0)])
def test_a_reminder_tells_how_late_it_is_and_is_never_early(after_s: float, late_s: float) -> None:
    due = reminder_due(reminder(), now=DUE + timedelta(seconds=after_s))
    assert (due.schedule_id, due.user_id, due.text, due.due_at, due.late_s) == ("r1", "ana", "pan", DUE, late_s)


def test_one_firing_has_one_identity() -> None:
    assert occurrence_id(reminder()) == occurrence_id(reminder())
    assert occurrence_id(reminder()) != occurrence_id(reminder(schedule_id="r2"))
    assert occurrence_id(reminder()) != occurrence_id(reminder(DUE + timedelta(seconds=1)))
