"""Metrics of the tool workers."""

from prometheus_client import Counter, Histogram

from shared.metrics import FAST_BUCKETS

CALLS = Counter("jada_tools_calls_total", "Tool calls, by group and status", ["group", "status"])
CALL_SECONDS = Histogram("jada_tools_call_seconds", "Duration of tool calls", ["group"], buckets=FAST_BUCKETS)
TRUNCATED = Counter("jada_tools_truncated_total", "Results that were cut for the model", ["group"])
