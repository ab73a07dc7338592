"""`docs/metrics.md`: every metric, its labels and its help."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import msgspec
from prometheus_client.metrics import MetricWrapperBase

import services
from docs.generate.markdown import code, head, sentence, table
from shared import metrics as shared_metrics


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as it is scraped."""

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str


def modules() -> list[ModuleType]:
    """The modules that define metrics: the shared one and one of each service."""
    names = [module.name for module in pkgutil.iter_modules(services.__path__) if module.ispkg]
    return [shared_metrics, *(importlib.import_module(f"services.{name}.metrics") for name in names)]


def metrics_of(module: ModuleType) -> list[Metric]:
    """The metrics a module defines, in its order."""
    found = []
    for metric in vars(module).values():
        if isinstance(metric, MetricWrapperBase):
            [told] = metric.describe()
            name = f"{told.name}_total" if told.type == "counter" else told.name
            labels = metric._labelnames  # noqa: SLF001 - the client tells them nowhere else before a first use
            found.append(Metric(name=name, kind=told.type, labels=tuple(labels), help=told.documentation))
    return found


def page() -> str:
    """The page's text."""
    parts = [head("metrics")]
    for module in modules():
        title = module.__name__.removesuffix(".metrics").rpartition(".")[2]
        rows = [
            (code(m.name), m.kind, ", ".join(map(code, m.labels)), m.help.replace("<", "&lt;"))
            for m in metrics_of(module)
        ]
        parts += [
            f"## {title}\n",
            f"{sentence(inspect.getdoc(module))}\n",
            table(("metric", "kind", "labels", "meaning"), rows),
        ]
    return "\n".join(parts)
