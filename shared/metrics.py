"""Metrics that every service has. Labels come from closed sets only, never from ids.

Each service's own metrics are in its `metrics.py`; `docs/metrics.md` lists all of them and a test keeps it complete.
"""

from prometheus_client import Counter, Gauge, Histogram

FAST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

MESSAGES = Counter("jada_messages_handled_total", "Messages settled, by outcome", ["consumer", "outcome"])
MESSAGE_SECONDS = Histogram(
    "jada_message_seconds", "From receipt to settlement of a message", ["consumer"], buckets=FAST_BUCKETS
)
IN_FLIGHT = Gauge("jada_messages_in_flight", "Messages being handled", ["consumer"])
DEAD_LETTERS = Counter("jada_dead_letters_total", "Messages given up and copied to dead.<stream>", ["stream"])
APPENDS = Counter("jada_appends_total", "Appends to streams, by outcome", ["stream", "outcome"])
APPEND_SECONDS = Histogram("jada_append_seconds", "From append to the broker's ack", ["stream"], buckets=FAST_BUCKETS)
BUS_CONNECTED = Gauge("jada_bus_connected", "1 while connected to the broker")
BUS_RECONNECTS = Counter("jada_bus_reconnects_total", "Reconnections to the broker")
BUS_ERRORS = Counter("jada_bus_errors_total", "Asynchronous errors the client library reported")
