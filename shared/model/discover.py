"""Which model to use: the one that is configured, else what a key or a local server offers, else the built-in one."""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
import msgspec

from shared.model.client import OpenAIChat
from shared.model.config import ModelConfig
from shared.model.tables import load_table
from shared.secret import Secret
from shared.settings import SettingsError, load
from shared.settings.schema import Model

PROBE_TIMEOUT_S = 0.3
ASK_TIMEOUT_S = 5.0
_MAX_CONNECTIONS = 200
_KEEPALIVE_S = 60.0
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of `providers.toml`: `key` names the environment variable of its key, `host` tells it from an address."""

    name: str
    base_url: str
    context_window: int
    key: str = ""
    host: str = ""
    dialect: str = ""
    model: str = ""
    vision: bool = False
    local: bool = False
    price_in: float = 0.0
    price_out: float = 0.0


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: list[Provider]


PROVIDERS = {row.name: row for row in load_table("shared.model", "providers.toml", _Table).provider}


class _Models(msgspec.Struct, frozen=True):
    """What `GET /v1/models` answers."""

    class Entry(msgspec.Struct, frozen=True):
        id: str

    data: list[Entry]


async def discover(env: Mapping[str, str], http: httpx.AsyncClient, *, settings: Model | None = None) -> ModelConfig:
    """Choose the model.

    First what `settings` (default: `JADA_MODEL_*` of `env`) says; then the provider of a key in `env`; then a local
    server that answers within 0.3 s; then the offline model. `SettingsError` when what is configured can't be used.
    """
    wish = load(env=env).model if settings is None else settings
    provider = _wished(wish) or next((row for row in PROVIDERS.values() if row.key and env.get(row.key)), None)
    if provider is not None and not provider.local:
        return await _configured(provider, wish, env, http)
    local = [provider] if provider is not None else [row for row in PROVIDERS.values() if row.local]
    answers = await asyncio.gather(*(_first_model(_base_url(row, wish), http) for row in local))
    for row, model_id in zip(local, answers, strict=True):
        if model_id or (provider is not None and wish.name):
            return _config(row, wish, model_id=wish.name or model_id, key=wish.key)
    if provider is not None:
        raise SettingsError([f"model.provider: {provider.name} does not answer at {_base_url(provider, wish)}"])
    if wish.name:
        raise SettingsError([f"model.name: {wish.name!r} needs model.url, model.provider or a provider's key"])
    return offline_config()


def offline_config() -> ModelConfig:
    """Return the built-in model that needs neither key nor network."""
    return _config(PROVIDERS["offline"], Model(), model_id="offline", key=Secret())


def build(config: ModelConfig) -> OpenAIChat:
    """Make the client of a model, with a connection pool of its own; close it with `aclose()`."""
    if config.provider == "offline":
        # Imported here: only machines without a model pay for its rules (3 MB).
        from shared.model.offline.transport import OfflineTransport  # noqa: PLC0415

        return OpenAIChat(config, httpx.AsyncClient(transport=OfflineTransport()))
    limits = httpx.Limits(
        max_connections=_MAX_CONNECTIONS, max_keepalive_connections=_MAX_CONNECTIONS, keepalive_expiry=_KEEPALIVE_S
    )
    # A proxy of the environment can't reach this machine's own servers.
    loopback = urlsplit(config.base_url).hostname in _LOOPBACK
    # The certificates of the world take 2 MB; a plain connection needs none.
    verify = config.base_url.startswith("https:")
    return OpenAIChat(config, httpx.AsyncClient(limits=limits, trust_env=not loopback, verify=verify))


def _wished(wish: Model) -> Provider | None:
    """Find the provider that the settings name, by its name, its address or the name of the offline model."""
    if wish.provider and wish.provider not in PROVIDERS:
        raise SettingsError([f"model.provider: unknown {wish.provider!r}; known: {', '.join(PROVIDERS)}"])
    if wish.provider or wish.name == "offline":
        return PROVIDERS[wish.provider or "offline"]
    if wish.url:
        host = urlsplit(wish.url).hostname
        return next((row for row in PROVIDERS.values() if row.host and row.host == host), PROVIDERS["vllm"])
    return None


async def _configured(provider: Provider, wish: Model, env: Mapping[str, str], http: httpx.AsyncClient) -> ModelConfig:
    if provider.name == "offline":
        return offline_config()
    # A provider's key goes to the provider only, not to another address that speaks its dialect.
    own_address = not wish.url or urlsplit(wish.url).hostname == provider.host
    key = wish.key or Secret(env.get(provider.key, "") if provider.key and own_address else "")
    base_url = _base_url(provider, wish)
    if not base_url:
        raise SettingsError([f"model.url: provider {provider.name} needs one"])
    model_id = wish.name or provider.model or await _first_model(base_url, http, key=key, patience_s=ASK_TIMEOUT_S)
    if not model_id:
        raise SettingsError([f"model.name: not set, and {base_url}/models names no model"])
    return _config(provider, wish, model_id=model_id, key=key)


def _config(provider: Provider, wish: Model, *, model_id: str, key: Secret) -> ModelConfig:
    # What is known of a provider's usual model says nothing of another one.
    usual = model_id == provider.model
    return ModelConfig(
        name=model_id,
        provider=provider.name,
        dialect=provider.dialect or provider.name,
        model_id=model_id,
        base_url=_base_url(provider, wish),
        api_key=key,
        context_window=wish.context_window or provider.context_window,
        max_output=wish.max_output,
        vision=provider.vision and usual,
        price_in=wish.price_in or (provider.price_in if usual else 0.0),
        price_out=wish.price_out or (provider.price_out if usual else 0.0),
        timeout_s=wish.timeout_s,
    )


def _base_url(provider: Provider, wish: Model) -> str:
    return (wish.url or provider.base_url).rstrip("/")


async def _first_model(
    base_url: str, http: httpx.AsyncClient, *, key: Secret | None = None, patience_s: float = PROBE_TIMEOUT_S
) -> str:
    """Ask a server for its first chat model; empty when it does not answer in time or is no model server."""
    headers = {"authorization": f"Bearer {key.reveal()}"} if key else {}
    try:
        async with asyncio.timeout(patience_s):
            response = await http.get(f"{base_url}/models", headers=headers)
        models = msgspec.json.decode(response.content, type=_Models)
    except (TimeoutError, httpx.RequestError, msgspec.DecodeError, UnicodeDecodeError):
        return ""
    if response.status_code != httpx.codes.OK:
        return ""
    return next((model.id for model in models.data if "embed" not in model.id.lower()), "")
