"""The built-in model: a rule machine behind the wire format of OpenAI's chat completions.

It needs neither key nor network. Rules, words and answers are data (`*.toml`); it calls only tools that the request
offers, writes its answers from their results, and says what it is.
"""
