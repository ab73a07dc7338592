"""The router's edge to NATS: a micro service (ADR-32) on `route`, fed by the catalog of tool groups."""

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec
import nats.micro
from nats.micro.request import Request
from nats.micro.service import EndpointConfig, Service, ServiceConfig

from services.router import metrics
from services.router.decide import decide, texts_to_judge
from services.router.index import RoutingIndex, compile_index
from services.router.lessons import with_examples
from services.router.mind import Mind
from services.router.semantic import Semantic
from services.router.words import load_words
from shared import subjects, tracing
from shared.buckets import Mirror
from shared.errors import Malformed
from shared.learned_examples import PREFIX, decode_example
from shared.lifecycle import Context
from shared.logs import get_logger
from shared.messages import routing as messages
from shared.messages.base import Unknown, encode
from shared.messages.routing import LearnedExample, RouteRequest
from shared.messages.tools import GroupDeclared, decode_group

if TYPE_CHECKING:
    from services.router.embeddings import Embeddings

log = get_logger()


class RouterService:
    """Answers route requests; the index follows the catalog live."""

    name = "router"

    def __init__(self, context: Context) -> None:
        self._bus = context.bus
        self._settings = context.settings.router
        self._catalog: Mirror[GroupDeclared] = Mirror(context.bus, "catalog", decode_group)
        self._learned: Mirror[LearnedExample] = Mirror(context.bus, "routing", decode_example, prefix=PREFIX)
        self._service: Service | None = None
        self._words = load_words()
        self._mind = Mind()
        self._embeddings: Embeddings | None = None
        self._waiting: set[asyncio.Task[None]] = set()
        self._index: RoutingIndex = compile_index([], self._words)
        self._version = (-1, -1, -1)

    async def start(self) -> None:
        """Follow the catalog and begin to answer."""
        await self._catalog.start()
        await self._learned.start()
        await self._mind.start()
        if self._settings.embeddings_url:
            from services.router.embeddings import Embeddings  # noqa: PLC0415 - imports numpy and httpx

            self._embeddings = Embeddings(self._bus, self._settings)
            await self._embeddings.start()
        self._service = await nats.micro.add_service(
            self._bus.client, ServiceConfig(name="router", version="0.1.0", description="which tool groups?")
        )
        await self._service.add_endpoint(
            EndpointConfig(name="route", subject=subjects.ROUTE, queue_group="router", handler=self._on_request)
        )
        await self._bus.catch_up()  # started means that whoever asks from now on is answered

    async def stop(self, grace_s: float) -> None:
        """Stop answering; requests under way take microseconds and need no grace."""
        del grace_s
        if self._service is not None:
            await self._service.stop()
        if self._embeddings is not None:
            await self._embeddings.stop()
        await self._mind.stop()
        await self._learned.stop()
        await self._catalog.stop()

    def alive_at(self) -> float:
        """The router has no loop of its own."""
        return time.monotonic()

    def problems(self) -> dict[str, str]:
        """Nothing keeps the router from answering but the bus."""
        return {}

    def degraded(self) -> dict[str, str]:
        """Without declared groups there is nothing to choose from."""
        return {} if self._catalog.values else {"tools": "no tool worker has declared its groups yet"}

    async def _on_request(self, request: Request) -> None:
        tracing.enter(request.headers)
        try:
            question = messages.requests.decode(request.data)
        except Malformed as exc:
            metrics.REFUSED.inc()
            await request.respond_error("400", str(exc))
            return
        if isinstance(question, Unknown):
            metrics.REFUSED.inc()
            await request.respond_error("400", f"not a route request: {question.type}")
            return
        if self._embeddings is None:
            await self._decide(request, question, self._mind.semantic)
        else:
            # Handlers of an endpoint run one after the other; what waits for another server must not.
            task = asyncio.create_task(self._decide_from_afar(request, question, self._embeddings))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)

    async def _decide_from_afar(self, request: Request, question: RouteRequest, embeddings: "Embeddings") -> None:
        layer = await embeddings.layer(texts_to_judge(question, self._current_index()))
        await self._decide(request, question, layer)

    async def _decide(self, request: Request, question: RouteRequest, semantic: Semantic | None) -> None:
        began = time.perf_counter()
        decision = decide(question, self._current_index(), semantic)
        elapsed = time.perf_counter() - began
        metrics.DECISIONS.labels(decision.layer).inc()
        metrics.DECISION_SECONDS.observe(elapsed)
        await request.respond(encode(msgspec.structs.replace(decision, elapsed_us=round(elapsed * 1e6, 1))))

    def _current_index(self) -> RoutingIndex:
        version = (self._catalog.version, self._learned.version, self._mind.version)
        if self._version != version:
            declared = with_examples(self._catalog.values.values(), self._learned.values.values())
            self._index = compile_index(declared, self._words, self._mind.precision)
            phrases = {g.group: g.phrases for g in declared}
            self._mind.follow(phrases)
            if self._embeddings is not None:
                self._embeddings.follow(phrases)
            for problem in self._index.problems:
                log.warning("phrases.pattern_left_out", problem=problem)
            self._version = version
        return self._index


def build_service(context: Context) -> RouterService:
    """The router on one connection."""
    return RouterService(context)
