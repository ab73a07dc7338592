"""Reminders: one-shot schedules the broker fires into the conversation that asked for them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from msgspec import Meta

from services.tools.context import Language, ToolContext, ToolError
from services.tools.declare import Group
from shared import when
from shared.errors import FenceLost
from shared.messages.schedules import ReminderScheduled
from shared.schedules import Pending, Schedules
from shared.text import clean

ALL_DAY_HOUR = 9

group = Group("reminders", titles={"es": "Recordatorios", "en": "Reminders"}, folder=Path(__file__).parent)


@group.tool(side_effects="reversible")
async def set_reminder(
    context: ToolContext,
    text: Annotated[str, Meta(description="What to remind of, as the person said it.", min_length=1, max_length=1000)],
    when: Annotated[  # noqa: A002, RUF100 - the name models expect
        str,
        Meta(
            description="When: ISO 8601, or as said: 'en 20 minutos', 'mañana a las 7', 'next Friday 3pm'.",
            min_length=1,
            max_length=200,
        ),
    ],
) -> Any:
    """Remind the user of something at a time. The result states the absolute local time: repeat it to the user."""
    schedules = Schedules(context.bus)
    if not clean(text).strip():
        raise ToolError("the text is empty; ask what to remind of")
    limit = context.settings.scheduler.max_pending_per_user
    pending = await schedules.pending(context.user_id)
    if len(pending) >= limit:
        raise ToolError(f"there are {limit} reminders pending already, the limit; cancel some first")
    due_at, assumed = _resolve(context, when)
    reminder = ReminderScheduled(
        schedule_id=_free_id(context, pending),
        user_id=context.user_id,
        conversation_id=context.conversation_id,
        text=clean(text).strip(),
        due_at=due_at,
        created_at=context.now,
    )
    await schedules.arm(reminder)
    shown = {"id": reminder.schedule_id, "text": reminder.text, "local": _local_words(context, due_at)}
    return {"reminder": shown, **({"assumed": assumed} if assumed else {})}


@group.tool()
async def list_reminders(context: ToolContext) -> Any:
    """List the user's pending reminders, the next one first."""
    pending = await Schedules(context.bus).pending(context.user_id)
    return {"reminders": [_shown(context, p) for p in pending], "total": len(pending)}


@group.tool(side_effects="reversible")
async def cancel_reminder(
    context: ToolContext,
    id: Annotated[str, Meta(description="The reminder's id, as list_reminders shows it.", max_length=40)],  # noqa: A002
) -> Any:
    """Cancel one pending reminder."""
    schedules = Schedules(context.bus)
    for pending in await schedules.pending(context.user_id):
        if pending.reminder.schedule_id == id:
            if await _cancel(context, schedules, pending):
                return {"cancelled": {"id": id, "text": pending.reminder.text}}
            raise ToolError("it fired just now, so it could not be cancelled any more")
    raise ToolError(f"there is no pending reminder {id!r}; look its id up with list_reminders")


@group.tool(side_effects="reversible")
async def cancel_reminders(context: ToolContext) -> Any:
    """Cancel all of the user's pending reminders."""
    schedules = Schedules(context.bus)
    pending = await schedules.pending(context.user_id)
    done = [p.reminder.text for p in pending if await _cancel(context, schedules, p)]
    return {"cancelled": len(done), "texts": done}


async def _cancel(context: ToolContext, schedules: Schedules, pending: Pending) -> bool:
    try:
        await schedules.cancel(pending, at=context.now)
    except FenceLost:
        return False
    return True


def _parse(context: ToolContext, text: str) -> when.Moment:
    """The moment in the profile's language, else in the other one: people write in both."""
    other: Language = "en" if context.language == "es" else "es"
    try:
        return when.parse(text, now=context.now, zone=context.time_zone, language=context.language)
    except when.NotUnderstood as exc:
        try:
            return when.parse(text, now=context.now, zone=context.time_zone, language=other)
        except when.NotUnderstood:
            raise ToolError(str(exc)) from exc


def _resolve(context: ToolContext, text: str) -> tuple[datetime, list[str]]:
    """The instant a phrase names, in UTC, and what was assumed; a day without an hour means the morning."""
    moment = _parse(context, text)
    at, assumed = moment.at, list(moment.assumed)
    if moment.all_day:
        at = moment.local.replace(hour=ALL_DAY_HOUR, minute=0, second=0, microsecond=0).astimezone(UTC)
        assumed.append(f"{ALL_DAY_HOUR}:00")
        if at <= context.now:
            raise ToolError(f"{ALL_DAY_HOUR}:00 of that day has passed; ask at what time")
    days = (at - context.now).days
    if days > context.settings.scheduler.horizon_days:
        raise ToolError(f"that is {days} days away; the limit is {context.settings.scheduler.horizon_days}")
    return at, assumed


def _shown(context: ToolContext, pending: Pending) -> dict[str, str]:
    reminder = pending.reminder
    return {"id": reminder.schedule_id, "text": reminder.text, "local": _local_words(context, reminder.due_at)}


def _local_words(context: ToolContext, at: datetime) -> str:
    """The absolute local time in words, so that model and user see what was resolved."""
    local = at.astimezone(ZoneInfo(context.time_zone))
    moment = when.Moment(at=at, local=local, zone=context.time_zone, kind="instant", all_day=False)
    return when.describe(moment, context.language)


def _free_id(context: ToolContext, pending: list[Pending]) -> str:
    """An id under which nothing is pending: arming a schedule replaces what has its id."""
    taken = {p.reminder.schedule_id for p in pending}
    free = [schedule_id for schedule_id in context.short_ids("r") if schedule_id not in taken]
    if not free:
        raise ToolError("there was no free id for the reminder; try once more")
    return free[0]
