"""Why a model call failed. The class says what the caller may do next; the table that decides is `classify`."""

from shared.errors import JadaError


class ModelError(JadaError):
    """Base of model failures. `gist` is safe for logs and events; `retry_after_s` is the server's wish, if any."""

    def __init__(self, gist: str, *, model: str = "", status: int = 0, retry_after_s: float | None = None) -> None:
        super().__init__(gist)
        self.gist = gist
        self.model = model
        self.status = status
        self.retry_after_s = retry_after_s


class Transient(ModelError):
    """May work soon: timeouts, overload, a cut stream, an empty reply. Retried once when the budget allows."""


class BadHistory(ModelError):
    """The request's content was refused. The same bytes must not be sent again, to this model or another."""


class TooLong(ModelError):
    """The context does not fit. Render with a smaller budget, once."""


class Refused(ModelError):
    """The provider's filter refused. Tell the user; no retry."""


class Denied(ModelError):
    """Credentials, payment or an unknown model: an operator must act."""


class Unclassified(ModelError):
    """A 4xx nobody recognises."""
