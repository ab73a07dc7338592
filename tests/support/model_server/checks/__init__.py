"""The rules, one function each: `(body, terms) -> findings`. Only `shape` copes with a body of the wrong shape."""
