"""Hours of the day: "19:05", "7 pm", "siete y cuarto", "ten to eight", "19h30", "noon"."""

from shared.when.cursor import Cursor
from shared.when.errors import Refusal
from shared.when.phrase import Clock


def clock(cursor: Cursor, *, bare: bool) -> Clock | None:
    """An hour. A number alone is one only if `bare`: after "at", or when the words around make it an hour."""
    start = cursor.at
    said = (
        cursor.attempt(_named)
        or cursor.attempt(lambda here: _digital(here, bare=bare))
        or cursor.attempt(lambda here: _minutes_to(here, bare=bare))
        or cursor.attempt(lambda here: _hour_and_minutes(here, bare=bare))
        or cursor.attempt(lambda here: _number(here, bare=bare))
    )
    if said is None:
        return None
    if said.hour > 24 or said.minute > 59 or said.second > 59 or (said.hour == 24 and (said.minute or said.second)):
        raise Refusal("no_such_hour", cursor.words(start, cursor.at))
    return said


def follows_number(cursor: Cursor) -> bool:
    """Whether the tokens here make an hour of the number before them."""
    if cursor.sees("hour_sign", "hour_word", "exactly", "after_hour", "minus", "sep"):
        return True
    return cursor.sees("plus") and cursor.sees("half", "quarter", "number", ahead=1)


def _named(cursor: Cursor) -> Clock | None:
    hour = cursor.take("clock", int)
    if hour is not None:
        return Clock(hour)
    hour = cursor.take("custom", int)
    return None if hour is None else Clock(hour, custom=True)


def _digital(cursor: Cursor, *, bare: bool) -> Clock | None:
    """19:05, 7.30, 19:05:30, 19h30. A leading zero, seconds, or an h mean the 24-hour clock."""
    hour = cursor.take("digits", str)
    if hour is None or len(hour) > 2:
        return None
    separator = cursor.separator(":.") or ("h" if cursor.skip("hour_sign") else None)
    minute = cursor.take("digits", str) if separator else None
    if minute is None or len(minute) != 2:
        return None
    second = cursor.take("digits", str) if separator == ":" and cursor.separator(":") else None
    signed = cursor.skip("hour_sign") or ((bare or separator == ":") and cursor.skip("hour_word"))
    day_clock = signed or separator == "h" or second is not None or hour.startswith("0")
    return Clock(int(hour), int(minute), int(second or 0), dial=_on_dial(int(hour)) and not day_clock, digital=True)


def _minutes_to(cursor: Cursor, *, bare: bool) -> Clock | None:
    """Quarter past seven, half past 8, ten minutes to eight, cuarto para las ocho; not "5 to 7", maybe a range."""
    if cursor.sees("quarter", ahead=1):
        cursor.skip("number")  # "a quarter"
    plain = cursor.sees("digits") and not cursor.sees("unit", ahead=1)
    minutes = _minutes(cursor)
    past = cursor.skip("past")
    if minutes is None or not (past or cursor.skip("to")):
        return None
    if not cursor.skip("at") and plain and not (past or bare):
        return None
    hour = cursor.take("number", int)
    cursor.skip("exactly")
    return None if hour is None else _shifted(hour, minutes if past else -minutes)


def _hour_and_minutes(cursor: Cursor, *, bare: bool) -> Clock | None:
    """Siete y media, siete y cuarto, 7 y 10 minutos, ocho menos cuarto; not "7 y 8", maybe two hours."""
    plain = cursor.sees("digits")
    hour = cursor.take("number", int)
    earlier = cursor.skip("minus")
    if hour is None or not (earlier or cursor.skip("plus")):
        return None
    plain = plain and cursor.sees("digits") and not cursor.sees("unit", ahead=1)
    minutes = _minutes(cursor)
    if minutes is None or (plain and not bare):
        return None
    return _shifted(hour, -minutes if earlier else minutes)


def _minutes(cursor: Cursor) -> int | None:
    if cursor.skip("half"):
        return 30
    if cursor.skip("quarter"):
        return 15
    minutes = cursor.take("number", int)
    if minutes is not None and cursor.sees("unit"):
        return minutes if cursor.take("unit", str) == "minute" else None
    return minutes if minutes is not None and minutes <= 59 else None


def _shifted(said: int, minutes: int) -> Clock:
    hour, minute = divmod(said * 60 + minutes, 60)
    return Clock(hour % 24 if hour < 0 else hour, minute, dial=_on_dial(said))


def _number(cursor: Cursor, *, bare: bool) -> Clock | None:
    """7 pm, siete de la tarde, 7 o'clock, 8 30 pm; 7h and "a las 20 horas", which are the 24-hour clock."""
    hour = cursor.take("number", int)
    if hour is None:
        return None
    if cursor.skip("hour_sign") or (bare and cursor.skip("hour_word")):
        return Clock(hour, digital=True)
    minute = cursor.attempt(_spoken_minutes) or 0
    exact = cursor.skip("exactly")
    if not (bare or exact or cursor.sees("after_hour", "part", "part_today")):
        return None
    return Clock(hour, minute, dial=_on_dial(hour))


def _spoken_minutes(cursor: Cursor) -> int | None:
    """The thirty of "eight thirty", two digits or a word, that nothing after it claims."""
    digits = cursor.take("digits", str)
    minutes = int(digits) if digits else cursor.take("number", int)
    if minutes is None or not 10 <= minutes <= 59 or (digits and len(digits) != 2):
        return None
    return None if cursor.sees("month", "unit", "sep", "suffix", "of") else minutes


def _on_dial(hour: int) -> bool:
    return 1 <= hour <= 12
