"""One package per tool group: `__init__.py` with a `group` and its tools, `phrases/<language>.toml` beside it."""
