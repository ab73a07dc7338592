"""Metrics of the learner."""

from prometheus_client import Counter, Gauge

TURNS = Counter("jada_learner_turns_total", "Finished turns seen, by what became of them", ["outcome"])
ROUTING_LESSONS = Counter("jada_learner_routing_lessons_total", "Utterances the router learned from outcomes")
WINDOWS = Gauge("jada_learner_open_windows", "Windows that gather turns right now")
