"""What the router's semantic layer adds to a process, measured in this one: run by `bench.routing`, prints JSON."""

import json
import os
import time

import psutil

from services.router import service
from services.router.words import load_words


def _rss_mb() -> float:
    return float(psutil.Process(os.getpid()).memory_info().rss) / 2**20


def main() -> None:
    words = load_words()
    bare = _rss_mb()
    import numpy as np  # noqa: PLC0415 - what it adds is measured

    with_numpy = _rss_mb()
    began = time.perf_counter()
    from services.router.learned import load_shipped  # noqa: PLC0415 - the same

    semantic = load_shipped()
    loaded_ms = (time.perf_counter() - began) * 1000
    for text in ("¿lloverá esta tarde en Cali?", "note down the plumber's number"):
        semantic.judge(text, (), frozenset({"web", "notes"}), part=False)
    report = {
        "service": service.__name__,
        "numpy": np.__version__,
        "languages": len(words),
        "rss_bare_mb": round(bare, 1),
        "rss_numpy_mb": round(with_numpy - bare, 1),
        "rss_over_numpy_mb": round(_rss_mb() - with_numpy, 1),
        "load_ms": round(loaded_ms, 1),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
