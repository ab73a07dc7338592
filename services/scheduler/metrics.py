"""Metrics of the scheduler."""

from prometheus_client import Counter, Histogram

FIRINGS = Counter("jada_scheduler_firings_total", "Schedules handled after they fired, by outcome", ["outcome"])
LATENESS_SECONDS = Histogram(
    "jada_scheduler_lateness_seconds",
    "How late a reminder was handed to its conversation",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600, 86400),
)
