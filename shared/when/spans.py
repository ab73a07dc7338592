"""Lengths of time: "hora y media", "1h30", "tres cuartos de hora", "2 days and 3 hours"."""

from fractions import Fraction

from shared.when.cursor import Cursor
from shared.when.phrase import Span

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400}
_MONTHS = {"month": 1, "year": 12}
_SMALLER = {"hour": "minute", "minute": "second"}


def span(cursor: Cursor) -> Span | None:
    """One or more amounts of units, joined by nothing or "and"."""
    total = cursor.attempt(_item)
    while total is not None:
        more = cursor.attempt(_joined)
        if more is None:
            return total
        total += more
    return None


def _joined(cursor: Cursor) -> Span | None:
    cursor.skip("and")
    return cursor.attempt(_item)


def _item(cursor: Cursor) -> Span | None:
    return cursor.attempt(_fraction) or cursor.attempt(_counted) or cursor.attempt(_implied_one)


def _fraction(cursor: Cursor) -> Span | None:
    """Half an hour, a quarter of an hour, three quarters of an hour."""
    if cursor.skip("half"):
        amount = Fraction(1, 2)
    else:
        count = cursor.take("number", int)
        if cursor.skip("half"):  # "a half hour"
            amount = Fraction(1, 2) if count == 1 else Fraction(0)
        elif cursor.skip("quarter"):
            amount = Fraction(1 if count is None else count, 4)
        else:
            return None
    cursor.skip("of")
    if cursor.sees("number") and not cursor.sees("digits"):  # "half an hour"
        cursor.skip("number")
    unit = cursor.take("unit", str)
    return _measure(amount, unit) if unit and amount else None


def _counted(cursor: Cursor) -> Span | None:
    """Two days, 1.5 hours, 1h30, an hour and a half, two and a half hours."""
    count = cursor.take("number", int)
    if count is None:
        return None
    amount = Fraction(count) + (cursor.attempt(_decimals) or 0)
    if amount == count:
        amount += cursor.attempt(_and_half) or 0
    unit = cursor.take("unit", str)
    if unit is None:
        return None
    if amount == count:
        amount += cursor.attempt(_and_part) or 0
    measured = _measure(amount, unit)
    rest = cursor.attempt(_compact_rest) if amount == count and unit in _SMALLER else None
    if measured is None or rest is None:
        return measured
    return measured + Span(seconds=rest * _SECONDS[_SMALLER[unit]])


def _implied_one(cursor: Cursor) -> Span | None:
    """Hora y media."""
    unit = cursor.take("unit", str)
    half = cursor.attempt(_and_part)
    return _measure(1 + half, unit) if unit and half else None


def _decimals(cursor: Cursor) -> Fraction | None:
    if cursor.separator(".,") is None:
        return None
    digits = cursor.take("digits", str)
    return Fraction(int(digits), 10 ** len(digits)) if digits else None


def _and_half(cursor: Cursor) -> Fraction | None:
    return Fraction(1, 2) if _and(cursor, "half") else None


def _and_part(cursor: Cursor) -> Fraction | None:
    """After a unit: y media, and a half, y cuarto; not "y media hora", which is an amount of its own."""
    half = cursor.attempt(_and_half)
    part = half or (Fraction(1, 4) if _and(cursor, "quarter") else None)
    return None if cursor.sees("of", "unit", "number") else part


def _and(cursor: Cursor, role: str) -> bool:
    if not cursor.skip("and"):
        return False
    if cursor.sees("number") and not cursor.sees("digits"):
        cursor.skip("number")
    return cursor.skip(role)


def _compact_rest(cursor: Cursor) -> int | None:
    """The minutes of "1h30", two digits under sixty that nothing else claims."""
    digits = cursor.take("digits", str)
    if digits is None or len(digits) != 2 or int(digits) > 59 or cursor.sees("unit", "sep"):
        return None
    return int(digits)


def _measure(amount: Fraction, unit: str) -> Span | None:
    """`amount` of `unit`; whole days keep the hour on the wall, a part of one is exact; None if it has no measure."""
    if unit in _MONTHS:
        months = amount * _MONTHS[unit]
        return Span(months=int(months)) if months.denominator == 1 else None
    seconds = amount * _SECONDS[unit]
    if seconds.denominator != 1:
        return None
    if unit in {"day", "week"}:
        days, rest = divmod(int(seconds), _SECONDS["day"])
        return Span(days=days, seconds=rest)
    return Span(seconds=int(seconds))
