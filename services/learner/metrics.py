"""Metrics of the learner."""

from prometheus_client import Counter, Gauge

TURNS = Counter("jada_learner_turns_total", "Finished turns seen, by what became of them", ["outcome"])
WINDOWS = Gauge("jada_learner_open_windows", "Windows that gather turns right now")
