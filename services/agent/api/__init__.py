"""The HTTP API: turns, conversations, files and what there is to know about this installation. See docs/api.md."""
