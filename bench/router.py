"""The router as a service: latency over NATS against a bare request and reply, and its memory against a bare service.

    python -m bench.router [--requests N] [--json]

Both take turns in the same run, one request in flight. The scheduler stands for a bare service: it routes nothing.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from nats.aio.msg import Msg

from bench.measures import Spread, ratio, spread
from bench.stack import running_stack
from shared import subjects
from shared.bus import Bus
from shared.messages.base import encode
from shared.messages.routing import RouteRequest

TEXTS = (
    "guarda una nota: comprar leche",
    "recuérdame mañana a las 7 llamar a Ana",
    "¿qué te dije sobre la reforma?",
    "what notas do I have about the trip",
    "hola, ¿qué tal?",
    "aquello tan importante del médico",
)
_BARE = "bench.echo"
_WARM_UP = 50


class Report(msgspec.Struct, frozen=True):
    """Milliseconds of both, and megabytes."""

    route_ms: Spread
    bare_ms: Spread
    in_bares: float
    router_rss_mb: float
    bare_service_rss_mb: float
    goal_p50_met: bool
    goal_rss_met: bool


async def measure(requests: int) -> Report:
    """Measure in turns: one decision, one echo."""
    with tempfile.TemporaryDirectory() as folder:
        async with running_stack(Path(folder), ("tools", "router", "scheduler")) as stack:
            await stack.bus.subscribe(_BARE, _echo)
            routes: list[float] = []
            bares: list[float] = []
            for n in range(_WARM_UP + requests):
                question = encode(RouteRequest(text=TEXTS[n % len(TEXTS)], language="es"))
                routed, bare = await _took(stack.bus, subjects.ROUTE, question), await _took(stack.bus, _BARE, question)
                if n >= _WARM_UP:
                    routes.append(routed)
                    bares.append(bare)
            memory = stack.rss_mb()
    route, echo = spread(routes), spread(bares)
    return Report(
        route_ms=route,
        bare_ms=echo,
        in_bares=ratio(route.p50, echo.p50),
        router_rss_mb=memory["router"],
        bare_service_rss_mb=memory["scheduler"],
        goal_p50_met=route.p50 <= 0.8,
        goal_rss_met=memory["router"] - memory["scheduler"] <= 60,
    )


async def _echo(message: Msg) -> None:
    await message.respond(message.data)


async def _took(bus: Bus, subject: str, data: bytes) -> float:
    began = time.perf_counter()
    await bus.client.request(subject, data, timeout=2)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Print a table, and with `--json` one line for programs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    report = asyncio.run(measure(arguments.requests))
    rows: dict[str, Any] = {
        "a decision over NATS, p50 / p99 ms": f"{report.route_ms.p50:.2f} / {report.route_ms.p99:.2f}",
        "a bare request and reply, p50 / p99 ms": f"{report.bare_ms.p50:.2f} / {report.bare_ms.p99:.2f}",
        "in bare requests": f"{report.in_bares:.2f}",
        "router, MB": f"{report.router_rss_mb:.1f}",
        "a bare service, MB": f"{report.bare_service_rss_mb:.1f}",
    }
    for name, value in rows.items():
        print(f"{name:<42} {value}")
    if arguments.json:
        print(msgspec.json.encode(report).decode())


if __name__ == "__main__":
    main()
