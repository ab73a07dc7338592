"""The scheduler: reads `due.*.*` (schedules the broker fired), writes reminders to `conv.*.in`.

It owns one-shot reminders; recurring schedules and workflows come with the deterministic engine.
"""
