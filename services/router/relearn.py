"""Learn from phrases in a process of its own: phrases as JSON on standard input, the packed state on standard output.

A process, because learning takes seconds of a core and a hundred megabytes that a router must not keep.
"""

import sys

import msgspec

from services.router.learned import learn, load_material, read_shipped, write_learned
from services.router.words import load_words
from shared.messages.tools import Phrases


def main() -> None:
    """Learn, with the thresholds that ship."""
    groups = msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, dict[str, Phrases]])
    learned = learn(groups, load_material(load_words()), read_shipped().thresholds)
    sys.stdout.buffer.write(write_learned(learned))


if __name__ == "__main__":
    main()
