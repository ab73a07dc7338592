"""The error tree. The class says what happens next.

JadaError
├── Retryable            the message is redelivered later (nak with delay)
│   ├── FenceLost        somebody else appended first: forget what you read, read again
│   ├── BusUnavailable   the broker did not answer within the patience given
│   └── StorageFull      the broker refuses to store more: an operator must make room
├── Permanent            trying again cannot help (term, dead letter)
│   ├── EventTooLarge    over the one size limit of the log
│   └── Malformed        bytes that are no message of ours
└── Rejected             bad input from outside, refused at the door with a reason and a remedy
"""


class JadaError(Exception):
    """Base of every error Jada raises on purpose."""


class Retryable(JadaError):
    """The same work may succeed later."""


class FenceLost(Retryable):
    """An append carried a sequence that is no longer the last one of its subject."""


class BusUnavailable(Retryable):
    """The broker did not confirm in time; the message may or may not be stored."""


class StorageFull(Retryable):
    """The broker has no room left; nothing was stored."""


class Permanent(JadaError):
    """Trying again cannot help."""


class EventTooLarge(Permanent):
    """An event exceeds the size limit; large content belongs in the blob store."""


class Malformed(Permanent):
    """Bytes that cannot be read as the message their subject promises."""


class Rejected(JadaError):
    """Input refused at the door.

    `code` is a stable word for programs, `status` the HTTP status that fits, `remedy` says what to do instead.
    """

    def __init__(self, code: str, detail: str, *, status: int = 422, remedy: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = status
        self.remedy = remedy
