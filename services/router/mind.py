"""The learned state in use: the one that ships, or one learned anew when the declared phrases are others."""

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from services.router.lexicon import Precision
from services.router.samples import GroupPhrases
from services.router.semantic import Semantic
from shared import tasks
from shared.errors import Malformed
from shared.logs import get_logger

if TYPE_CHECKING:
    from services.router.learned import Learned
    from services.router.vectors import WordVectors

# Workers declare their groups one after the other, and somebody may be editing phrases. Keywords work meanwhile.
SETTLE_S = 10.0
PATIENCE_S = 120.0

log = get_logger()


class Mind:
    """Knows what was learned; `version` grows with it. Until something is, there is no semantic layer.

    numpy is imported with the first state, so that a process that never routes does not pay for it.
    """

    def __init__(self, settle_s: float = SETTLE_S) -> None:
        self.semantic: Semantic | None = None
        self.precision: Precision = {}
        self.version = 0
        self._settle_s = settle_s
        self._learned: Learned | None = None
        self._vectors: WordVectors | None = None
        self._wanted: GroupPhrases = {}
        self._failed: GroupPhrases | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load the state that ships."""
        from services.router.learned import DATA, read_shipped  # noqa: PLC0415 - imports numpy
        from services.router.vectors import load_vectors  # noqa: PLC0415 - the same

        self._vectors = await asyncio.to_thread(load_vectors, DATA)
        self._use(await asyncio.to_thread(read_shipped))

    async def stop(self) -> None:
        """Give up learning."""
        if self._task is not None:
            await tasks.cancel([self._task])

    def follow(self, groups: GroupPhrases) -> None:
        """Learn from these phrases, unless that was done; what was learned before is used meanwhile."""
        self._wanted = groups
        if not self._fits() and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._learn())

    async def settled(self) -> None:
        """Wait until nothing is being learned."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def _fits(self) -> bool:
        known = self._learned is not None and self._learned.covers(self._wanted)
        return known or self._wanted == self._failed

    async def _learn(self) -> None:
        while not self._fits():
            await asyncio.sleep(self._settle_s)
            wanted = self._wanted
            try:
                self._use(await _learn_apart(wanted))
                log.info("routing.learned", groups=len(wanted))
            except (Malformed, OSError, TimeoutError) as exc:
                self._failed = wanted
                log.warning("routing.learning_failed", error=str(exc) or type(exc).__name__)

    def _use(self, learned: "Learned") -> None:
        if self._vectors is None:
            raise RuntimeError("not started")
        self._learned = learned
        self.semantic = learned.semantic(self._vectors)
        self.precision = learned.precision
        self.version += 1


async def _learn_apart(groups: GroupPhrases) -> "Learned":
    from services.router.learned import read_learned  # noqa: PLC0415 - imports numpy

    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.router.relearn",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            packed, complaints = await process.communicate(msgspec.json.encode(groups))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Malformed(complaints.decode(errors="replace").strip()[-300:])
    return read_learned(packed)
