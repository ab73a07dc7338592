"""Tool executors: read jobs from `tool.<group>.*`, run them, write results to `conv.*.tool`; declare their groups."""
