"""Exit statuses that scripts can rely on; `jada --help` lists them."""

from enum import IntEnum

from shared.errors import JadaError


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1  # the turn, or what the command was asked to do
    USAGE = 2  # arguments, settings, or input the server refuses
    UNREACHABLE = 3  # no server


class Unreachable(JadaError):
    """Nothing answers at the API's address."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class ApiProblem(JadaError):
    """The API refused or failed: its problem document (RFC 9457)."""

    def __init__(self, status: int, *, code: str, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.remedy = remedy

    @property
    def passing(self) -> bool:
        """Whether the server is only starting, or waits for something itself."""
        return self.status in (502, 503, 504)

    @property
    def exit(self) -> Exit:
        """Bad input is the caller's, everything else a failure."""
        return Exit.USAGE if self.status in (400, 413, 415, 422) else Exit.FAILED
