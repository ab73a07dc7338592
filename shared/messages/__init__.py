"""Every message that crosses a process border: frozen, tagged structs in JSON.

A new field has a default; no field is renamed, retyped or reused; every message has a golden file that must
still decode (`tests/contract/golden`). Times are UTC datetimes (`*_at`, `at`), durations are seconds (`*_s`).
"""
