"""Answers the coordinator gives without the model: reminders, limits, failures. All true by construction."""

import tomllib
from functools import cache
from pathlib import Path

from services.agent.moves import LimitName
from services.agent.receipts import status_of
from shared.conversation.fold import Turn
from shared.messages.conversation import ReminderDue
from shared.model.errors import BadHistory, Denied, ModelError, Refused, TooLong
from shared.profiles import TurnLimits

_LATE_WORTH_SAYING_S = 120


@cache
def _texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


def say(language: str, key: str, **values: object) -> str:
    """One of our own sentences, in the profile's language."""
    return _texts()[language][key].format(**values)


def reminder(language: str, due: list[ReminderDue]) -> str:
    """What reminders say when they fire; a late one says how late it is."""
    lines = []
    for event in due:
        if event.late_s < _LATE_WORTH_SAYING_S:
            lines.append(say(language, "reminder", text=event.text))
            continue
        minutes = round(event.late_s / 60)
        late = say(language, "minutes", n=minutes) if minutes < 120 else say(language, "hours", n=minutes // 60)
        lines.append(say(language, "reminder_late", text=event.text, late=late))
    return "\n".join(lines)


def at_limit(language: str, turn: Turn, limits: TurnLimits, limit: LimitName) -> str:
    """What a turn says that ran into a limit: which one, what was done, what was not."""
    bounds = {"steps": limits.steps, "tokens": limits.tokens, "wall": f"{limits.wall_s:g}", "cost": limits.cost_usd}
    return " ".join(
        [
            say(language, f"limit_{limit}", limit=bounds[limit]),
            *_account(language, turn),
            say(language, "ask_again"),
        ]
    )


def unbacked(language: str, turn: Turn) -> str:
    """What is said in place of an answer that claimed what no tool did."""
    return " ".join([say(language, "unbacked"), *_account(language, turn), say(language, "ask_again")])


def cancelled(language: str, turn: Turn) -> str:
    """What a cancelled turn says."""
    return " ".join([say(language, "cancelled"), *_account(language, turn)])


def model_failure(language: str, error: ModelError, ref: str) -> str:
    """What a turn says whose model call failed for good."""
    match error:
        case Refused():
            return say(language, "model_refused")
        case Denied():
            return say(language, "model_denied", ref=ref)
        case TooLong():
            return say(language, "too_long", ref=ref)
        case BadHistory():
            return say(language, "bad_history", ref=ref)
        case _:
            return say(language, "model_down", ref=ref)


def failure(language: str, turn: Turn, ref: str) -> str:
    """What a turn says that failed for a reason of our own."""
    return " ".join([say(language, "failed", ref=ref), *_account(language, turn)])


def _account(language: str, turn: Turn) -> list[str]:
    done: list[str] = []
    open_ends: list[str] = []
    for call in turn.calls:
        if call.side_effects == "none" or call.refused:
            continue
        status = status_of(turn, call)
        line = say(language, f"status_{status}", name=call.name)
        (done if status == "ok" else open_ends).append(line)
    if not done and not open_ends:
        return [say(language, "nothing_done")]
    account = [say(language, "done", list=", ".join(done))] if done else []
    return account + ([say(language, "not_done", list=", ".join(open_ends))] if open_ends else [])
