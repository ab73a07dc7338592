"""From what a phrase says to the moment it means, given a now and a zone. Pure: the clock is an argument."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Literal
from zoneinfo import ZoneInfo

from shared.when import civil, hours
from shared.when.calendar_days import dates
from shared.when.errors import Refusal
from shared.when.moment import Moment, clock_words, date_words
from shared.when.phrase import After, Clock, Dated, Day, Near, Phrase, Weekday
from shared.when.words import Lexicon

HORIZON_YEARS = 10
_HORIZON = timedelta(days=365 * HORIZON_YEARS + 3)


class Resolver:
    """One phrase at one now. `assumed` grows as things are taken that were not said."""

    def __init__(self, phrase: Phrase, now: datetime, zone: ZoneInfo, lexicon: Lexicon) -> None:
        self.phrase = phrase
        self.lexicon = lexicon
        self.zone = phrase.zone or zone
        self.clocks = self.zone if phrase.offset is None else timezone(phrase.offset)
        self.now = now.astimezone(UTC)
        self.local_now = now.astimezone(self.clocks)
        self.today = self.local_now.date()
        self.assumed: list[str] = []

    def moment(self) -> Moment:
        """The moment; Refusal if there is none, or it is past or too far."""
        phrase = self.phrase
        if "approx" in phrase.words:
            self._assume("approx", words=phrase.words["approx"])
        timed = phrase.clock is not None or bool(phrase.parts)
        if phrase.instant is not None:
            at = self._exact(phrase.instant)
        elif timed:
            at = self._timed(phrase.day)
        elif isinstance(phrase.day, After):
            at = self._after(phrase.day)
        elif phrase.day is not None:
            return self._told(self._all_day(phrase.day), all_day=True)
        else:
            raise Refusal("incomplete")
        if at <= self.now:
            raise self._past()
        return self._told(at, all_day=False)

    def _exact(self, said: datetime) -> datetime:
        self._check(said.date())
        return self._instant(said) if said.tzinfo is None else said.astimezone(UTC)

    def _after(self, day: After) -> datetime:
        span = day.span
        if self.phrase.unmarked:
            self._assume("from_now", words=self.phrase.words["day"])
        if timedelta(seconds=span.seconds) > _HORIZON:
            raise self._too_far()
        at = self.now.replace(microsecond=0)
        if span.months or span.days:
            wall = self.local_now.time().replace(microsecond=0)
            at = self._instant(datetime.combine(self._moved(day), wall))
            if not span.seconds:
                self._assume("same_time", time=clock_words(at.astimezone(self.clocks)))
        return at + timedelta(seconds=span.seconds)

    def _moved(self, day: After) -> date:
        span = day.span
        if span.months > 12 * HORIZON_YEARS or timedelta(days=span.days) > _HORIZON:
            raise self._too_far()
        moved, shortened = civil.add_months(self.today, span.months)
        if shortened:
            self._assume("short_month", date=self._words(moved))
        return moved + timedelta(days=span.days)

    def _all_day(self, day: Day) -> datetime:
        choices = self._dates(day)
        if isinstance(day, Weekday) and len(choices) > 1 and choices[0] == self.today:
            choices = choices[1:]
            self._assume("other_week", date=self._words(choices[0]))
        chosen = next((choice for choice in choices if choice >= self.today), None)
        if chosen is None:
            raise self._past()
        self._note_date(day, choices[0], chosen, "")
        return self._instant(datetime.combine(self._check(chosen), time()))

    def _timed(self, day: Day | None) -> datetime:
        clock = self.phrase.clock or self._usual_hour()
        allowed = hours.possible(clock, self.phrase.parts)
        if not allowed:
            raise Refusal("contradiction", self._said("clock", "part"))
        slots = self._slots(day, clock, allowed)
        chosen = next((slot for slot in slots if self._at(*slot, clock) > self.now), None)
        if chosen is None:
            raise self._past()
        self._note_hour(clock, *chosen)
        if day is not None or not (chosen[1] == 0 or self._either_half(clock)):
            self._note_date(day, slots[0][0], chosen[0], f" {chosen[1] % 24:02}:{clock.minute:02}")
        return self._at(*chosen, clock, note=True)

    def _slots(self, day: Day | None, clock: Clock, allowed: list[int]) -> list[tuple[date, int]]:
        """The dates and hours the phrase can mean, in order of preference; the first to come is meant."""
        if day is None:
            tomorrow = self.today + timedelta(days=1)
            return [(on, hour) for on in (self.today, tomorrow) for hour in sorted({hour % 24 for hour in allowed})]
        if day == Near(0):
            today = [hour for hour in allowed if self.phrase.parts or hour <= 24]
            small = [hour - 24 for hour in today if hour >= 24]  # "tonight at 1", said after midnight
            if self.phrase.clock is None:  # this afternoon, and its usual hour is past
                part = self.phrase.parts[0]
                today += [hour for hour in range(self.local_now.hour + 1, 25) if part.has(hour)]
            return [(self.today, hour) for hour in (*small, *today)]
        return [(on, hours.usual(clock, allowed, as_written=self._full_date())) for on in self._dates(day)]

    def _dates(self, day: Day) -> list[date]:
        if isinstance(day, After):
            if day.span.seconds or not (day.span.months or day.span.days):
                raise Refusal("contradiction", self._said("day", "clock", "part"))
            choices = [self._moved(day)]
        else:
            choices = dates(day, self.today, self.lexicon, self._said("day"))
        if not choices:
            raise Refusal("no_such_date", self._said("day"))
        first = next((choice for choice in choices if choice >= self.today), choices[0])
        if isinstance(day, Dated) and day.weekday not in {None, first.weekday()}:
            raise Refusal("weekday", self._said("day"), date=self._words(first))
        return [self._check(choice) for choice in choices]

    def _at(self, on: date, hour: int, clock: Clock, *, note: bool = False) -> datetime:
        """The instant of `clock` at `hour` of the day `on`; `note` adds what clock changes did to it."""
        said = time(hour % 24, clock.minute, clock.second)
        return self._instant(datetime.combine(on + timedelta(days=hour // 24), said), note=note)

    def _instant(self, local: datetime, *, note: bool = True) -> datetime:
        at, change = civil.instant(local, self.clocks)
        if note and change:
            self._assume(change, time=clock_words(at.astimezone(self.clocks)))
        return at

    def _usual_hour(self) -> Clock:
        """The hour meant by "in the afternoon" alone."""
        part = self.phrase.parts[0]
        if part.hour is None or len(self.phrase.parts) > 1:
            raise Refusal("incomplete", self._said("part"))
        return Clock(part.hour)

    def _either_half(self, clock: Clock) -> bool:
        return clock.dial and not self.phrase.parts

    def _full_date(self) -> bool:
        day = self.phrase.day
        return isinstance(day, date) or (isinstance(day, Dated) and day.year is not None)

    def _note_hour(self, clock: Clock, on: date, hour: int) -> None:
        phrase = self.phrase
        told = {"time": f"{hour % 24:02}:{clock.minute:02}", "date": self._words(on + timedelta(days=hour // 24))}
        if self._either_half(clock) and not (clock.digital and self._full_date()):
            self._assume("dial", words=phrase.words["clock"], **told)
        elif phrase.clock is None:
            self._assume("part", words=phrase.words["part"], **told)
        elif clock.custom:
            self._assume("custom", words=phrase.words["clock"], **told)
        if phrase.day is not None and hour >= 24:
            self._assume("end_of_day", **told)
        elif phrase.day is not None and hour == 0 and clock.hour == 12:
            self._assume("start_of_day", **told)

    def _note_date(self, day: Day | None, first: date, chosen: date, clock: str) -> None:
        words, told = self.phrase.words.get("day", ""), self._words(chosen)
        if isinstance(day, Weekday) and day.which == "next_week" and day.week is None:
            self._assume("next_week", words=words, date=told)
        elif isinstance(day, Dated) and day.month is None and day.relative_month is None:
            self._assume("month", words=words, date=told)
        elif chosen != first:
            self._assume("moved", passed=f"{self._words(first)}{clock}", date=told)

    def _assume(self, what: str, **fields: str) -> None:
        self.assumed.append(self.lexicon.texts.assumed[what].format_map(fields))

    def _words(self, day: date) -> str:
        return date_words(day, self.lexicon.texts)

    def _said(self, *slots: str) -> tuple[str, ...]:
        return tuple(self.phrase.words[slot] for slot in slots if slot in self.phrase.words)

    def _check(self, day: date) -> date:
        """`day`, if it is near enough for arithmetic to be safe."""
        if day.year < self.today.year:
            raise self._past()
        if day.year > self.today.year + HORIZON_YEARS:
            raise self._too_far()
        return day

    def _past(self) -> Refusal:
        now = f"{self._words(self.today)} {clock_words(self.local_now)}"
        return Refusal("past", self._said("day", "clock", "part"), now=now)

    def _too_far(self) -> Refusal:
        return Refusal("too_far", self._said("day", "clock", "part"), years=str(HORIZON_YEARS))

    def _told(self, at: datetime, *, all_day: bool) -> Moment:
        local = at.astimezone(self.zone)
        if self.phrase.zone and self.phrase.offset not in {None, local.utcoffset()}:
            raise Refusal("contradiction", self._said("zone"))
        if at - self.now > _HORIZON:
            raise self._too_far()
        kind: Literal["date", "instant"] = "date" if all_day else "instant"
        return Moment(at=at, local=local, zone=self.zone.key, kind=kind, all_day=all_day, assumed=self.assumed)
