"""The rules of the tree: who imports whom, what stays pure, where things stand."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generate.channels import all_subjects, covers, load_channels, wildcard
from shared.topology import STREAMS
from tests.contract.source import ROOT, SERVICES, called, imports_of, modules, name_of, nodes_of, tree_of

PURE = (
    "services/agent/answers.py",
    "services/agent/arrivals.py",
    "services/agent/claim_check.py",
    "services/agent/claims/*.py",
    "services/agent/moves.py",
    "services/agent/prompt.py",
    "services/agent/receipts.py",
    "services/agent/render.py",
    "services/agent/toolbox.py",
    "services/learner/capture.py",
    "services/learner/routing_lessons.py",
    "services/router/decide.py",
    "services/router/index.py",
    "services/router/lessons.py",
    "services/router/lexicon.py",
    "services/router/patterns.py",
    "services/router/semantic.py",
    "services/router/talk.py",
    "services/router/tokens.py",
    "services/router/words.py",
    "services/scheduler/firing.py",
    "services/tools/compress.py",
    "shared/conversation/fold.py",
    "shared/messages/*.py",
    "shared/text.py",
    "shared/when/*.py",
)
PURE_MODULES = [path for pattern in PURE for path in sorted(ROOT.glob(pattern))]
EFFECTS = (
    "asyncio",
    "httpx",
    "nats",
    "os",
    "random",
    "secrets",
    "shared.bus",
    "socket",
    "subprocess",
    "threading",
    "time",
)
CLOCKS = {"now", "utcnow", "today", "uuid7", "print", "input"}
MAIN_LINES = 40

every_service = pytest.mark.parametrize("service", SERVICES, ids=lambda path: path.name)


def test_packages_import_each_other_in_one_direction_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--config", "pyproject.toml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@every_service
def test_a_service_is_one_of_those_that_may_not_import_each_other(service: Path) -> None:
    assert f'"services.{service.name}"' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("pattern", PURE)
def test_a_decision_module_exists(pattern: str) -> None:
    assert list(ROOT.glob(pattern))


@pytest.mark.parametrize("path", PURE_MODULES, ids=name_of)
def test_a_decision_module_has_no_effects_and_no_clock(path: Path) -> None:
    effects = [name for name in imports_of(path) if name.startswith(tuple(f"{e}." for e in EFFECTS)) or name in EFFECTS]
    assert effects == []
    assert [called(node) for node in nodes_of(path) if called(node) in CLOCKS] == []


@every_service
def test_a_service_says_which_subjects_it_reads_and_writes(service: Path) -> None:
    text = ast.get_docstring(tree_of(service / "__init__.py")) or ""
    named = [wildcard(span) for span in re.findall(r"`([a-z$][\w$.*<>]*)`", text)]
    known = [wildcard(s.pattern) for s in all_subjects() if not s.is_filter]
    known += [subject for spec in STREAMS for subject in spec.subjects]
    assert named
    assert [name for name in named if not any(covers(wide, name) for wide in known)] == []


@every_service
def test_a_service_has_metrics_and_a_main_that_only_runs_it(service: Path) -> None:
    assert (service / "metrics.py").is_file()
    assert len((service / "__main__.py").read_text("utf-8").splitlines()) < MAIN_LINES


@every_service
def test_a_service_uses_only_subjects_it_is_said_to_write_or_read(service: Path) -> None:
    channels = load_channels()
    used = {
        node.attr
        for path in service.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "subjects"
    }
    parties = {name: {*channels[name].writers, *channels[name].readers} for name in used & channels.keys()}
    assert [name for name, who in parties.items() if service.name not in who] == []


def test_metrics_are_defined_in_metrics_modules() -> None:
    kinds = {"prometheus_client.Counter", "prometheus_client.Gauge", "prometheus_client.Histogram"}
    others = [path for path in modules() if path.name != "metrics.py"]
    assert [name_of(path) for path in others if kinds & imports_of(path)] == []


def test_only_command_lines_print() -> None:
    assert [place for place, node in _nodes("shared", "services") if called(node) == "print"] == []


def test_no_error_is_swallowed() -> None:
    assert [place for place, node in _nodes() if _swallows(node)] == []


def test_a_bucket_that_is_opened_is_in_the_topology() -> None:
    names = {spec.name for spec in STREAMS}
    assert [place for place, node in _nodes() for name in _opened(node) if f"KV_{name}" not in names] == []


def _nodes(*packages: str) -> Iterator[tuple[str, ast.AST]]:
    for path in modules(*packages):
        name = name_of(path)
        for node in nodes_of(path):
            yield f"{name}:{getattr(node, 'lineno', 0)}", node


def _swallows(node: ast.AST) -> bool:
    match node:
        case ast.ExceptHandler(
            type=None | ast.Name(id="Exception" | "BaseException"), body=[ast.Pass() | ast.Continue()]
        ):
            return True
        case ast.Call(args=[*_, ast.Name(id="Exception" | "BaseException")]):
            return called(node) == "suppress"
    return False


def _opened(node: ast.AST) -> list[object]:
    match node:
        case ast.Call(args=arguments) if called(node) in ("Bucket", "Mirror"):
            return [argument.value for argument in arguments if isinstance(argument, ast.Constant)]
    return []
