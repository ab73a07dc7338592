"""Metrics of the router."""

from prometheus_client import Counter, Histogram

DECISIONS = Counter("jada_router_decisions_total", "Routing decisions, by layer", ["layer"])
DECISION_SECONDS = Histogram(
    "jada_router_decision_seconds",
    "Time to decide, without the network",
    buckets=(0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.05),
)
EMBEDDING_FAILURES = Counter(
    "jada_router_embedding_failures_total", "Times the embeddings endpoint did not answer within its budget"
)
REFUSED = Counter("jada_router_requests_refused_total", "Requests that could not be read")
