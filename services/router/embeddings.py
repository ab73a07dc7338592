"""The semantic layer over a configured embeddings endpoint; its centroids are made once and kept in `routing`."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence

import httpx

from services.router import metrics
from services.router.centroids import CentroidLayer, Centroids, examples_of, export, restore
from services.router.endpoint import EmbedderUnavailable, EndpointEmbedder
from services.router.learned import NONE_PHRASES
from services.router.remote import Remote
from services.router.samples import GroupPhrases
from shared import tasks
from shared.buckets import Bucket
from shared.bus import Bus
from shared.errors import JadaError, Malformed
from shared.logs import get_logger
from shared.phrases import load_phrases
from shared.settings.schema import Router as RouterSettings

# After a change of phrases, and after a failure, before the endpoint is asked for new centroids.
_SETTLE_S = 2.0
_PREFIX = "centroids"

log = get_logger()


class Embeddings:
    """Keeps the centroids current and fetches what a decision needs. A dead endpoint costs layers, never answers."""

    def __init__(self, bus: Bus, settings: RouterSettings) -> None:
        key = settings.embeddings_key.reveal()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.AsyncClient(headers=headers, trust_env=False)
        embedder = EndpointEmbedder(self._http, settings.embeddings_url, settings.embeddings_model)
        self._key = hashlib.sha256(embedder.identity.encode()).hexdigest()[:20]
        self._bucket = Bucket(bus, "routing")
        self._remote = Remote(embedder, settings.embeddings_budget_s)
        self._none = load_phrases(NONE_PHRASES)
        self._wanted: Mapping[str, Sequence[str]] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load the centroids another replica made, if there are any."""
        self._remote.state = await self._load()

    async def stop(self) -> None:
        """Stop computing and close the connections."""
        if self._task is not None:
            await tasks.cancel([self._task])
        await self._http.aclose()

    def follow(self, groups: GroupPhrases) -> None:
        """Bring the centroids up to date with these phrases, in the background."""
        self._wanted = examples_of(groups, self._none)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._update())

    async def layer(self, texts: Sequence[str]) -> CentroidLayer | None:
        """A layer that can judge `texts`; None when the endpoint did not answer within its budget."""
        before = self._remote.failures
        found = await self._remote.fetch(texts)
        if self._remote.failures > before:
            metrics.EMBEDDING_FAILURES.inc()
        return found

    async def _update(self) -> None:
        done: Mapping[str, Sequence[str]] | None = None
        while done != self._wanted:
            await asyncio.sleep(_SETTLE_S)
            wanted = self._wanted
            try:
                self._remote.state = await self._load() or self._remote.state
                if await self._remote.update(wanted):
                    await self._store(self._remote.state)
            except EmbedderUnavailable as exc:
                metrics.EMBEDDING_FAILURES.inc()
                log.warning("centroids.not_made", error=str(exc))
            except JadaError as exc:
                log.warning("centroids.not_kept", error=str(exc))
                done = wanted
            else:
                done = wanted

    async def _load(self) -> Centroids | None:
        entry = await self._bucket.get(_PREFIX, self._key)
        if entry is None:
            return None
        try:
            return restore(entry.value)
        except Malformed as exc:
            log.warning("centroids.unreadable", error=str(exc))
            return None

    async def _store(self, state: Centroids | None) -> None:
        if state is not None:
            await self._bucket.put(_PREFIX, self._key, value=export(state))
            log.info("centroids.made", classes=len(state.classes))
