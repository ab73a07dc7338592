"""Schedules (`schedule.<user>.<id>`) and what comes out when they fire (`due.<user>.<id>`)."""

from datetime import datetime

from shared.messages.base import Codec, Message


class ReminderScheduled(Message, frozen=True, tag="schedule.reminder"):
    """A one-shot reminder for the person and conversation that asked for it."""

    schedule_id: str
    user_id: str
    conversation_id: str
    text: str
    due_at: datetime
    created_at: datetime


class ScheduleCancelled(Message, frozen=True, tag="schedule.cancelled"):
    """Takes the place of the firing of a schedule that was cancelled."""

    schedule_id: str
    user_id: str
    at: datetime


Firing = ReminderScheduled | ScheduleCancelled
firings: Codec[Firing] = Codec(Firing)
reminders: Codec[ReminderScheduled] = Codec(ReminderScheduled)
