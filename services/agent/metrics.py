"""Metrics of the agent."""

from prometheus_client import Counter, Gauge, Histogram

from shared.metrics import FAST_BUCKETS

TURNS = Counter("jada_agent_turns_total", "Turns ended, by status", ["status"])
TURN_SECONDS = Histogram("jada_agent_turn_seconds", "From first input to the end of the turn", buckets=FAST_BUCKETS)
TAKEOVERS = Counter("jada_agent_takeovers_total", "Turns taken over from an owner that went away")
FENCES_LOST = Counter("jada_agent_fences_lost_total", "Appends refused because another replica was first")
OPEN_CONVERSATIONS = Gauge("jada_agent_open_conversations", "Conversations with a turn on this replica")
MODEL_CALLS = Counter("jada_agent_model_calls_total", "Model calls, by outcome", ["outcome"])
MODEL_SECONDS = Histogram("jada_agent_model_seconds", "Duration of model calls", buckets=FAST_BUCKETS)
MODEL_TOKENS = Counter("jada_agent_model_tokens_total", "Tokens, by direction", ["direction"])
MODEL_COST = Counter("jada_agent_model_cost_usd_total", "USD spent on model calls")
CALLS_ABANDONED = Counter("jada_agent_calls_abandoned_total", "Tool calls given up, by reason", ["reason"])
ROUTES = Counter("jada_agent_routes_total", "Routing decisions, by layer; `fixed` means no router answered", ["layer"])
FALSE_CLAIMS = Counter(
    "jada_agent_false_claims_total", "Answers that claimed what no tool did, by what followed", ["then"]
)
LIMITS = Counter("jada_agent_limits_total", "Turns ended by a limit", ["limit"])
