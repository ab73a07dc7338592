"""Rules about a request as a whole: model, sizes, and parameters that need each other."""

from collections.abc import Iterator

from tests.support.model_server.terms import JsonObject, Terms
from tests.support.model_server.tokens import prompt_tokens
from tests.support.model_server.violations import Finding


def missing_model(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Every request names its model."""
    if not body.get("model"):
        yield Finding("you must provide a model parameter")


def unknown_model(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """The model is one of those served."""
    model = body.get("model")
    if model and all(model != served.id for served in terms.models):
        yield Finding(f"The model `{model}` does not exist or you do not have access to it.")


def empty_messages(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """There is at least one message."""
    if not body["messages"]:
        yield empty_array("messages")


def output_budget(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """`max_tokens` is positive and not above what the model can write."""
    most = terms.model_of(body).max_output
    for name in ("max_tokens", "max_completion_tokens"):
        asked = body.get(name)
        if asked is None:
            continue
        if asked < 1:
            message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {asked} instead."
            yield Finding(message, name, "integer_below_min_value")
        elif asked > most:
            supported = f"This model supports at most {most} completion tokens, whereas you provided {asked}."
            yield Finding(f"{name} is too large: {asked}. {supported}", name, "invalid_value")


def temperature(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """The temperature lies between 0 and 2."""
    asked = body.get("temperature")
    if asked is None:
        return
    problem = ""
    if asked > 2:
        problem, code = "above maximum value. Expected a value <= 2", "decimal_above_max_value"
    elif asked < 0:
        problem, code = "below minimum value. Expected a value >= 0", "decimal_below_min_value"
    if problem:
        yield Finding(f"Invalid 'temperature': decimal {problem}, but got {asked} instead.", "temperature", code)


def stream_options(body: JsonObject, _: Terms) -> Iterator[Finding]:
    """Options of a stream need a stream."""
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield Finding(message, "stream_options")


def context_overflow(body: JsonObject, terms: Terms) -> Iterator[Finding]:
    """Messages, tools and the output asked for fit the model's window together."""
    window = terms.model_of(body).context_window
    messages, tools = prompt_tokens(body)
    output = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    if terms.dialect == "llamacpp":
        # Generation that reaches the window there ends with finish_reason "length" instead.
        output = 0
    if messages + tools + output <= window:
        return
    asked = f"({messages} in the messages, {tools} in the functions, {output} in the completion)"
    yield Finding(
        f"This model's maximum context length is {window} tokens. However, you requested "
        f"{messages + tools + output} tokens {asked}. Please reduce the length of the messages or completion.",
        "messages",
        extra={"n_prompt_tokens": messages + tools, "n_ctx": window} if terms.dialect == "llamacpp" else None,
    )


def empty_array(path: str) -> Finding:
    """The finding for an array that may not be empty."""
    expected = "Expected an array with minimum length 1, but got an empty array instead."
    return Finding(f"Invalid '{path}': empty array. {expected}", path, "empty_array")
