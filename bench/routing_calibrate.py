"""Learn what the router ships: `python -m bench.routing_calibrate [--train FILE]` (`make calibrate`).

Without `--train` it learns from the phrases and the corpus in the repository; with it, the corpus is made anew from
FILE (the form of `docs/routing.md`), of whose rows only those are taken whose licence allows it. Deterministic.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from services.router.calibration import Case, choose_thresholds
from services.router.learned import CORPUS_FILE, DATA, LEARNED_FILE, Material, learn, load_material, make_samples
from services.router.learned import write_learned as pack_learned
from services.router.policy import Thresholds
from services.router.samples import (
    GroupPhrases,
    classes_of,
    gather,
    keywords_only,
    read_rows,
    shippable,
    write_corpus,
)
from services.router.training import Recipe, fit
from services.router.words import load_words
from shared.messages.tools import Phrases
from shared.phrases import load_phrases

GROUPS = Path(__file__).parents[1] / "services" / "tools" / "groups"
FOLDS = 5
# Thresholds sit in the tail of a distribution: one partition alone would move them by several hundredths.
REPEATS = 2


def shipped_phrases(folder: Path = GROUPS) -> dict[str, dict[str, Phrases]]:
    """Every tool group's phrases, as the workers will declare them."""
    return {path.parent.name: load_phrases(path) for path in sorted(folder.glob("*/phrases"))}


def cross_validate(groups: GroupPhrases, material: Material, recipe: Recipe) -> list[Case]:
    """What models said about the texts they had not learned from; negatives only teach."""
    utterances = gather(groups, material.none, material.corpus)
    classes = classes_of(groups)
    samples = make_samples(utterances, keywords_only(groups, material.endings), material)
    asked = [i for i, u in enumerate(utterances) if u.source != "negatives"]
    teaching = [s for s, u in zip(samples, utterances, strict=True) if u.source == "negatives"]
    cases = []
    for repeat in range(REPEATS):
        shuffled = np.random.default_rng(repeat).permutation(asked)
        for fold in range(FOLDS):
            held = set(shuffled[fold::FOLDS].tolist())
            model = fit([*(samples[i] for i in asked if i not in held), *teaching], classes, recipe)
            told = [(model.scores(samples[i].features, samples[i].hinted), samples[i].accepted) for i in sorted(held)]
            cases += [Case(scores, right) for scores, right in told]
    return cases


def main(arguments: Sequence[str] | None = None) -> None:
    """Calibrate, learn, and write the two files; prints what was chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, help="routing data to make the corpus from")
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write to")
    options = parser.parse_args(arguments)
    if options.train is not None:
        write_corpus(options.out / CORPUS_FILE, shippable(read_rows(options.train)))
    began = time.perf_counter()
    groups, recipe = shipped_phrases(), Recipe()
    material = load_material(load_words())
    cases = cross_validate(groups, material, recipe)
    thresholds: Thresholds = choose_thresholds(cases)
    learned = learn(groups, material, thresholds, recipe)
    packed = pack_learned(learned)
    (options.out / LEARNED_FILE).write_bytes(packed)
    trusted = sum(p >= 0.995 for texts in learned.keywords.values() for p in texts.values())
    print(f"{len(cases)} cases of {REPEATS} times {FOLDS} folds, {time.perf_counter() - began:.0f} s")
    print(f"thresholds {msgspec.json.encode(thresholds).decode()}")
    print(f"keywords that decide alone: {trusted} of {sum(map(len, learned.keywords.values()))}")
    print(f"wrote {options.out / LEARNED_FILE}: {len(packed)} bytes")


if __name__ == "__main__":
    main()
