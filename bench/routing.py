"""Measure the router: `python -m bench.routing --data FILE [FILE …] [--json] [--quick]`.

FILE is JSON lines in the form of `docs/routing.md`. Prints a table and, last, one JSON line. The same run measures
the original's design and, unless `--quick`, what each part contributes; what a process pays is measured in a fresh one.
"""

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from bench.routing_calibrate import shipped_phrases
from bench.routing_original import Original
from bench.routing_score import Outcome, right_share, score, timing
from services.router.classifier import Classifier
from services.router.decide import decide
from services.router.index import RoutingIndex, compile_index
from services.router.learned import DATA, Learned, Material, learn, load_material, read_shipped
from services.router.samples import GroupPhrases, Row, read_rows
from services.router.words import load_words
from shared.messages.routing import RouteDecision, RouteRequest, Tier
from shared.messages.tools import GroupDeclared

AT = datetime(2026, 1, 1, tzinfo=UTC)
TIERS: dict[str, Tier] = {"vision": "vision", "think": "deep"}
WARM_UP = 50

Route = Callable[[RouteRequest], RouteDecision]


def index_of(groups: GroupPhrases, learned: Learned | None) -> RoutingIndex:
    """Every group that ships, configured."""
    declared = [
        GroupDeclared(group=g, tools=[], at=AT, tier=TIERS.get(g, "fast"), phrases=dict(p)) for g, p in groups.items()
    ]
    return compile_index(declared, load_words(), learned.precision if learned else None)


def run(rows: Sequence[Row], route: Route) -> list[Outcome]:
    """Route every row, after a warm-up; the topic of the turn before is open."""
    requests = [RouteRequest(text=r.text, language=r.lang, open_groups=[r.prev] if r.prev else []) for r in rows]
    for request in requests[:WARM_UP]:
        route(request)
    outcomes = []
    gc.disable()
    for row, request in zip(rows, requests, strict=True):
        began = time.thread_time_ns()
        decision = route(request)
        outcomes.append(Outcome(row, decision, (time.thread_time_ns() - began) / 1000))
    gc.enable()
    return outcomes


def ablations(rows: Sequence[Row], groups: GroupPhrases, learned: Learned, material: Material) -> dict[str, object]:
    """The figures without one part at a time; where it was learned with the part, it is learned anew without."""
    vectors, bars = material.vectors, learned.thresholds
    index, trusting, semantic = index_of(groups, learned), index_of(groups, None), learned.semantic(vectors)
    wordless = _without_keywords(groups)
    silent, unguided = index_of(wordless, None), learn(wordless, material, bars).semantic(vectors)
    illiterate = msgspec.structs.replace(learned.model, dense=np.zeros_like(learned.model.dense))
    vectorless = Classifier(illiterate, vectors, bars)
    alone = learn(groups, msgspec.structs.replace(material, corpus=[]), bars).semantic(vectors)
    variants: dict[str, Route] = {
        "keywords alone": lambda r: decide(r, index),
        "every keyword decides": lambda r: decide(r, trusting, semantic),
        "no keywords": lambda r: decide(r, silent, unguided),
        "word vectors silenced": lambda r: decide(r, index, vectorless),
        "own phrases alone": lambda r: decide(r, index, alone),
    }
    return {name: _brief(run(rows, route)) for name, route in variants.items()}


def _without_keywords(groups: GroupPhrases) -> GroupPhrases:
    return {
        g: {lang: msgspec.structs.replace(p, keywords=[], blockers=[]) for lang, p in by_language.items()}
        for g, by_language in groups.items()
    }


def _brief(outcomes: Sequence[Outcome]) -> dict[str, object]:
    figures = score(outcomes)
    return {k: figures[k] for k in ("recall_loaded", "mean_tools", "fallback", "oos_none", "wrongly_none", "by_kind")}


def _footprint() -> dict[str, object]:
    """Measured in a process that has loaded nothing yet."""
    out = subprocess.run(
        [sys.executable, "-m", "bench.routing_footprint"], check=True, capture_output=True, text=True, timeout=120
    ).stdout
    found: dict[str, object] = json.loads(out)
    return found


def _table(report: dict[str, object], depth: int = 0) -> list[str]:
    lines = []
    for name, value in report.items():
        label = "  " * depth + name
        if isinstance(value, dict) and any(isinstance(v, dict) for v in value.values()):
            lines += [label, *_table(value, depth + 1)]
        elif isinstance(value, dict):
            lines.append(f"{label:32}" + "  ".join(f"{k} {v}" for k, v in value.items()))
        else:
            lines.append(f"{label:32}{value}")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="rows to route, JSON lines")
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    parser.add_argument("--quick", action="store_true", help="leave out the ablations, which learn anew")
    options = parser.parse_args(arguments)
    rows = [row for path in options.data for row in read_rows(path)]
    groups, learned = shipped_phrases(), read_shipped()
    if not learned.covers(groups):
        sys.exit("the phrases have changed since the router learned them: run python -m bench.routing_calibrate")
    material = load_material(load_words())
    index, semantic = index_of(groups, learned), learned.semantic(material.vectors)
    original = Original(groups, material.vectors)
    outcomes = run(rows, lambda r: decide(r, index, semantic))
    report: dict[str, object] = {
        **score(outcomes),
        **timing(outcomes),
        "model_bytes": {path.name: path.stat().st_size for path in sorted(DATA.iterdir())},
        "process": _footprint(),
        "original": _brief(run(rows, lambda r: original.decide(r.text))),
        "right_loaded": right_share(outcomes),
    }
    if not options.quick:
        report["ablations"] = ablations(rows, groups, learned, material)
    if not options.json:
        print("\n".join(_table(report)))
    print(json.dumps(report))


if __name__ == "__main__":
    main()
