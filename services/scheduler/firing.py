"""What a fired schedule turns into."""

from datetime import datetime

from shared.messages.conversation import ReminderDue
from shared.messages.schedules import ReminderScheduled


def reminder_due(reminder: ReminderScheduled, *, now: datetime) -> ReminderDue:
    """The input for the conversation, with how late it is."""
    return ReminderDue(
        schedule_id=reminder.schedule_id,
        user_id=reminder.user_id,
        text=reminder.text,
        due_at=reminder.due_at,
        late_s=round(max(0.0, (now - reminder.due_at).total_seconds()), 3),
    )


def occurrence_id(reminder: ReminderScheduled) -> str:
    """The identity of this firing: fired or delivered twice, it is one input."""
    return f"reminder.{reminder.schedule_id}.{reminder.due_at.isoformat()}"
