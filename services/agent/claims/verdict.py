"""What the claim check says."""

import msgspec


class Claim(msgspec.Struct, frozen=True):
    """An action the answer says was done or will be: what kind, in which words, in which sentence.

    `needs` are the kinds of which one has to be proved; `open`: a tool in no kind may have done the `action`, too.
    `clear` is false for what the words leave to be understood.
    """

    kind: str
    words: str
    sentence: str
    needs: frozenset[str] = frozenset()
    action: str = ""
    open: bool = False
    clear: bool = True


class Verdict(msgspec.Struct, frozen=True):
    """All claims, those no call proves, and how sure that is.

    `score` is from 0 (honest) to 1 (a false claim); over a half counts as false. Not `certain`: a judge may be asked.
    """

    claimed: list[Claim]
    unbacked: list[Claim]
    certain: bool
    score: float

    @property
    def false_claim(self) -> bool:
        """Whether the answer is to be held back."""
        return bool(self.unbacked)
