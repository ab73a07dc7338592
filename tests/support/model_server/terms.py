"""What a provider promises and limits: the configuration the rules judge by."""

from typing import Any, Literal

import msgspec

Dialect = Literal["openai", "mistral", "groq", "llamacpp"]
JsonObject = dict[str, Any]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of everything a script may say: a misspelt key is an error, never ignored."""


class Model(Config, frozen=True, kw_only=True):
    """One served model; `context_window` and `max_output` in tokens, as `tokens.py` estimates them."""

    id: str
    context_window: int = 128_000
    max_output: int = 16_384
    vision: bool = True


class Limits(Config, frozen=True, kw_only=True):
    """Sizes of a request. Defaults are the strictest documented by a provider the codec speaks to."""

    body_bytes: int = 20 * 1024 * 1024
    image_base64_bytes: int = 5 * 1024 * 1024
    image_side: int = 8000
    images: int = 100
    tools: int = 128
    call_id_length: int = 40


class Terms(Config, frozen=True, kw_only=True):
    """A provider as its clients meet it.

    `single_system` and `visible_text` are rules of some endpoints behind this protocol (chat templates that want one
    system message at the start; gateways that refuse empty text); OpenAI itself lets both pass.
    """

    dialect: Dialect = "openai"
    models: tuple[Model, ...] = (Model(id="test-model"),)
    limits: Limits = Limits()
    single_system: bool = True
    visible_text: bool = True

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("a provider serves at least one model")

    def model_of(self, body: JsonObject) -> Model:
        """The model `body` asks for; the first one when it names none that is served."""
        return next((model for model in self.models if model.id == body.get("model")), self.models[0])
