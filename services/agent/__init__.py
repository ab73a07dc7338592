"""The coordinator: reads `conv.*.in`, decides, writes `conv.*.log` (it alone), and serves the HTTP API."""
