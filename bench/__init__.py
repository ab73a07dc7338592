"""Measured claims. Each bench prints a table, then one JSON line, and starts everything it measures itself."""
