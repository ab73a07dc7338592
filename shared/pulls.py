"""The pull requests of one consumer that stand open at the broker."""


class OpenPulls:
    """How many messages may still come, by pull request, the oldest first: the broker serves them in that order.

    Several may be open at once, and each ends alone (by its count, by expiry, by an error); only a look at all of
    them tells how much is still asked for.
    """

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._made = 0

    @property
    def wanted(self) -> int:
        """Messages that were asked for and have not come."""
        return sum(self._left.values())

    def open(self, count: int) -> str:
        """Note a request for `count` messages; the token under which its end will be told."""
        self._made += 1
        token = str(self._made)
        self._left[token] = count
        return token

    def took_one(self) -> None:
        """A message came."""
        oldest = next(iter(self._left), None)
        if oldest is None:
            return
        self._left[oldest] -= 1
        if not self._left[oldest]:
            del self._left[oldest]

    def ended(self, token: str) -> None:
        """A request ended, however many messages it still wanted."""
        self._left.pop(token, None)

    def forget(self) -> None:
        """Nothing is open any more: the connection or the consumer is another one."""
        self._left.clear()
