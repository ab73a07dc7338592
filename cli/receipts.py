"""A turn's receipts as chips: what was really done, by the log."""

from collections.abc import Sequence
from typing import Any

_MARKS = {"ok": "✓", "error": "✗", "timeout": "✗", "refused": "⊘", "unknown": "?"}


def chips(actions: Sequence[dict[str, Any]]) -> str:
    """`✓ note_save  ✗ set_reminder`; empty when nothing was done."""
    return "  ".join(f"{_MARKS.get(action['status'], '?')} {action['name']}" for action in actions)
