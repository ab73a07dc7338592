"""What the strict server says about a bad request must be known as such: it must neither be repeated nor cool down."""

import json
from typing import Any

import msgspec
import pytest

from shared.model.classify import read_failure, to_error
from shared.model.errors import BadHistory, Denied, ModelError, TooLong, Unclassified
from tests.support.model_server import Terms, violations
from tests.support.model_server.rules import ROWS, SHAPE_ROWS
from tests.support.model_server.violations import envelope
from tests.unit.model_server.rule_cases import CASES

# Options of the request, not its history: no redaction can mend them.
OPTIONS = {
    "max-tokens",
    "temperature",
    "stream-options",
    "choice-without-tools",
    "unknown-choice",
    "missing-model",
    "invalid-type",
}
OTHERS: dict[str, type[ModelError]] = {"context-overflow": TooLong, "unknown-model": Denied}
ROWS_BY_DIALECT = [(row.kind, dialect) for row in SHAPE_ROWS + ROWS for dialect in sorted(row.dialects)]


@pytest.mark.parametrize(("kind", "dialect"), ROWS_BY_DIALECT)
def test_a_broken_rule_is_recognised_in_every_dialect(kind: str, dialect: Any) -> None:
    case = CASES[kind]
    terms = msgspec.convert({"dialect": dialect, **msgspec.to_builtins(case.terms)}, Terms)
    broken = next(violation for violation in violations(case.bad, terms) if violation.kind == kind)
    body = json.dumps(envelope(broken, dialect)).encode()
    error = to_error(read_failure(broken.status, body), dialect)
    if kind in OPTIONS:
        assert isinstance(error, BadHistory | Unclassified)
    else:
        assert type(error) is OTHERS.get(kind, BadHistory)
