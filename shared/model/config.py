"""One model as configuration: where it is, what it can do, what it costs."""

from typing import Annotated

import msgspec
from msgspec import Meta

from shared.secret import Secret


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A model to talk to. `dialect` names a row of `dialects.toml`; `base_url` ends before `/chat/completions`.

    `context_window` and `max_output` are tokens, prices are USD per million tokens, `timeout_s` bounds one `complete`
    with its retry. `tools` and `vision` say what the model can do; what it can't is left out of its requests.
    """

    name: str
    provider: str
    dialect: str
    model_id: str
    base_url: str
    api_key: Secret = Secret()
    context_window: Annotated[int, Meta(ge=512)] = 32_768
    max_output: Annotated[int, Meta(ge=1)] = 1024
    tools: bool = True
    vision: bool = False
    price_in: Annotated[float, Meta(ge=0)] = 0.0
    price_out: Annotated[float, Meta(ge=0)] = 0.0
    timeout_s: Annotated[float, Meta(gt=0)] = 90.0
    max_request_bytes: Annotated[int, Meta(ge=1024)] = 16 * 1024 * 1024

    def cost_usd(self, tokens_in: int, tokens_out: int) -> float:
        """What a call of this size costs, in USD."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000
