"""A conversation: an append-only log of events, and the state that folding it yields."""
