"""The words around the conversation: system prompt, clock stamps and the notes that stand for what is not text."""

import tomllib
from datetime import datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from shared.profiles import Profile

_DAYS = {
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}


@cache
def _texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("prompt.toml").read_text(encoding="utf-8"))


def note(language: str, key: str, **values: object) -> str:
    """A note of ours inside the history."""
    return _texts()[language][key].format(**values)


def system_prompt(profile: Profile) -> str:
    """Identity first and verbatim, then the house rules, then what is known of the person. Same bytes every turn."""
    sections = [profile.identity, _texts()[profile.language]["rules"].strip()]
    if profile.user_facts:
        sections.append(f"{note(profile.language, 'facts')}\n{profile.user_facts}")
    return "\n\n".join(filter(None, sections))


def stamp(at: datetime, profile: Profile) -> str:
    """When a message was written, on the profile's clock; it goes on the message so that no prompt prefix changes."""
    local = at.astimezone(ZoneInfo(profile.time_zone))
    return f"[{_DAYS[profile.language][local.weekday()]} {local:%Y-%m-%d %H:%M} {profile.time_zone}]"
