"""Keeps a model's thinking (`<think>…</think>` at the start of its text) out of the answer."""

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkFilter:
    """Passes on the visible part of a text that comes in pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._passing = False

    def feed(self, piece: str) -> str:
        """Return what becomes visible with `piece`."""
        if self._passing:
            return piece
        self._held += piece
        return self._release() if self._advance() else ""

    def close(self) -> str:
        """Return what was held back and is visible after all; thinking that never ended is not."""
        return "" if self._thinking else self._release()

    def _advance(self) -> bool:
        if not self._thinking:
            start = self._held.lstrip()
            if len(start) < len(_OPEN) and _OPEN.startswith(start):
                return False
            if not start.startswith(_OPEN):
                self._passing = True
                return True
            self._thinking = True
            self._held = start[len(_OPEN) :]
        _, found, rest = self._held.partition(_CLOSE)
        self._held = rest.lstrip() if found else self._held[-len(_CLOSE) :]
        self._passing = bool(found)
        self._thinking = not found
        return self._passing

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


def without_thinking(text: str) -> str:
    """Return the visible part of a whole text.

    Some templates open the thinking themselves: then only its end is there.
    """
    think = ThinkFilter()
    shown = think.feed(text) + think.close()
    head, found, rest = shown.partition(_CLOSE)
    return rest.lstrip() if found and _OPEN not in head else shown
