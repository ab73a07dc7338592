"""Profiles from their files into the `profiles` bucket: at start, and again when a file changes."""

import asyncio
from pathlib import Path

from shared.buckets import Bucket
from shared.bus import Bus
from shared.errors import JadaError
from shared.logs import get_logger
from shared.messages.base import encode
from shared.profiles import Profile, load_profiles
from shared.settings.schema import Agent as AgentSettings

log = get_logger()


class ProfileFiles:
    """Keeps the bucket at what the files say. A file that becomes invalid changes nothing and is logged."""

    def __init__(self, bus: Bus, settings: AgentSettings) -> None:
        self._bucket = Bucket(bus, "profiles")
        self._settings = settings
        self._folder = Path(settings.profiles_dir)
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Publish what is there (`ProfileInvalid` if it cannot be used) and watch the folder."""
        seen = self._fingerprint()
        await self._publish()
        self._watching = asyncio.create_task(self._watch(seen))

    async def stop(self) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _publish(self) -> None:
        found = load_profiles(self._folder, identity_max_tokens=self._settings.identity_max_tokens)
        default = self._settings.default_profile
        if default not in found:
            await self._bucket.create(default, value=encode(Profile(name=default)))
        for name, profile in found.items():
            entry = await self._bucket.get(name)
            if entry is None or entry.value != encode(profile):
                await self._bucket.put(name, value=encode(profile))
                log.info("profile.published", profile=name, revision=profile.revision)

    async def _watch(self, seen: dict[str, int]) -> None:
        while True:
            await asyncio.sleep(self._settings.profiles_poll_s)
            now = self._fingerprint()
            if now == seen:
                continue
            try:
                await self._publish()
            except JadaError as exc:
                log.error("profile.not_published", error=str(exc))  # noqa: TRY400 - the operator's mistake, no traceback
            seen = now

    def _fingerprint(self) -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in self._folder.glob("*/*") if path.is_file()}
