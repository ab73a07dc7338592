"""Claims: does an answer say that something was done which the log doesn't show? Pure: words in, verdict out."""

from services.agent.claims.check import check
from services.agent.claims.kinds import CallMade
from services.agent.claims.verdict import Claim, Verdict

__all__ = ["CallMade", "Claim", "Verdict", "check"]
