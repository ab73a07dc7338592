"""Which hours of a day a clock and parts of the day can mean.

Hours are counted from a day's midnight, so 25 is one o'clock of the night that follows the day.

A number from 1 to 12 that does not say which half of the day ("at 7", "7:30", not "07:30" and not "7h") means
- without a day, or today: whichever comes first;
- on another day: 7 to 12 as they stand, 1 to 6 after noon;
- on a date in ISO 8601 or with its year: as it stands, if written with minutes ("7:30").
"""

from shared.when.phrase import Clock
from shared.when.words import Part

_FIRST_MORNING_HOUR = 7


def possible(clock: Clock, parts: list[Part]) -> list[int]:
    """Every hour that `clock` can be and that lies in all of `parts`, the earliest first."""
    if clock.dial:
        hours = [clock.hour % 12 + turn for turn in (0, 12, 24)]
    else:
        hours = [clock.hour, clock.hour + 24] if parts and clock.hour < 12 else [clock.hour]
    allowed = [hour for hour in hours if all(part.has(hour) for part in parts)]
    return [hour for hour in allowed if hour <= 24 or not parts or hour - 24 not in allowed]


def usual(clock: Clock, hours: list[int], *, as_written: bool) -> int:
    """The one of `hours` that is meant on a day that is not today."""
    if not clock.dial or len(hours) < 3:  # parts of the day left no choice
        return hours[0]
    if as_written and clock.digital:
        return clock.hour
    return clock.hour if clock.hour >= _FIRST_MORNING_HOUR else clock.hour + 12
