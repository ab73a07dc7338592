"""A scripted model provider over real HTTP, as strict about requests as the real ones are.

    async with ModelServer(Script(rules=(Rule(when=When(last_user="hola"), reply=Reply(text="buenas")),))) as server:
        ...  # a client of server.base_url

`violations(body, Terms(dialect=...))` is the judgement alone, for property tests.
"""

from tests.support.model_server.app import Received
from tests.support.model_server.rules import judge, violations
from tests.support.model_server.script import Call, Fault, Reply, Rule, Script, TextMatch, Usage, When, load
from tests.support.model_server.server import ModelServer
from tests.support.model_server.terms import Dialect, Limits, Model, Terms
from tests.support.model_server.violations import Violation

__all__ = [
    "Call",
    "Dialect",
    "Fault",
    "Limits",
    "Model",
    "ModelServer",
    "Received",
    "Reply",
    "Rule",
    "Script",
    "Terms",
    "TextMatch",
    "Usage",
    "Violation",
    "When",
    "judge",
    "load",
    "violations",
]
