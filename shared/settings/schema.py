"""The whole configuration: every setting with its unit, range and default. Loader and documents are made from it.

To add a setting, add a field: a description with the unit, and for numbers both ends of the range. Seconds end in `_s`,
bytes in `_bytes`. A new section is a struct and a field of `Settings`, its name one word.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from shared.secret import Secret

_KIB = 1024
_MIB = 1024 * _KIB
_GIB = 1024 * _MIB
_DAY_S = 86_400


class Bus(Struct, frozen=True, kw_only=True):
    """The connection to NATS and the limits of what is stored there."""

    url: Annotated[
        str,
        Meta(
            description="Servers, separated by commas, without credentials; empty: the embedded server.",
            pattern="^[^@]*$",
        ),
    ] = ""
    token: Annotated[Secret, Meta(description="Token to connect with; empty: none.")] = Secret()
    user: Annotated[str, Meta(description="User to connect as; empty: none.")] = ""
    password: Annotated[Secret, Meta(description="Password of that user.")] = Secret()
    replicas: Annotated[
        Literal[1, 3], Meta(description="Copies of each stream; 3 needs a cluster of three servers.")
    ] = 1
    request_timeout_s: Annotated[
        float, Meta(description="Seconds to wait for the answer to one request.", ge=0.05, le=60)
    ] = 2.0
    publish_patience_s: Annotated[
        float, Meta(description="Seconds to keep trying to store one message.", ge=0.1, le=600)
    ] = 30.0
    duplicate_window_s: Annotated[
        int, Meta(description="Seconds in which a message sent twice is stored once.", ge=1, le=_DAY_S)
    ] = 600
    max_event_bytes: Annotated[
        int,
        Meta(description="Bytes of the largest event; larger content goes to the blob store.", ge=_KIB, le=8 * _MIB),
    ] = 256 * _KIB
    max_store_bytes: Annotated[
        int, Meta(description="Bytes all streams together may take on disk.", ge=16 * _MIB, le=1024 * 1024 * _GIB)
    ] = 20 * _GIB


class Embedded(Struct, frozen=True, kw_only=True):
    """The NATS server Jada starts itself when `bus.url` is empty."""

    data_dir: Annotated[str, Meta(description="Folder of everything stored.", min_length=1)] = "data"
    sync: Annotated[
        Literal["always", "100ms", "1s"],
        Meta(
            description="When writes reach the disk: before each confirmation, or at this interval (faster, less safe)."
        ),
    ] = "always"
    listen: Annotated[str, Meta(description="Address the server listens on.", min_length=1)] = "127.0.0.1"


class Http(Struct, frozen=True, kw_only=True):
    """The API, the console and the health endpoint."""

    host: Annotated[str, Meta(description="Address the API listens on.", min_length=1)] = "127.0.0.1"
    port: Annotated[int, Meta(description="Port of the API; 0: any free one.", ge=0, le=65535)] = 8787
    health_port: Annotated[
        int, Meta(description="Port of health and metrics of a service without an API; 0: off.", ge=0, le=65535)
    ] = 8788
    max_body_bytes: Annotated[
        int, Meta(description="Bytes of the largest request body, uploads aside.", ge=_KIB, le=64 * _MIB)
    ] = _MIB
    max_upload_bytes: Annotated[int, Meta(description="Bytes of the largest uploaded file.", ge=_KIB, le=_GIB)] = (
        20 * _MIB
    )
    wait_max_s: Annotated[
        float, Meta(description="Seconds a caller may wait for an answer before it gets a link.", ge=0, le=3600)
    ] = 120.0
    sse_keepalive_s: Annotated[
        float, Meta(description="Seconds of silence before a stream sends a comment.", ge=0.1, le=300)
    ] = 15.0


class Agent(Struct, frozen=True, kw_only=True):
    """The service that runs turns."""

    concurrency: Annotated[int, Meta(description="Turns run at the same time.", ge=1, le=4096)] = 64
    ack_wait_s: Annotated[
        float, Meta(description="Seconds without a sign of life before a turn goes to another agent.", ge=0.5, le=600)
    ] = 10.0
    max_epochs: Annotated[int, Meta(description="Times a turn is taken up again before it fails.", ge=1, le=100)] = 5
    route_timeout_s: Annotated[
        float, Meta(description="Seconds to wait for the router before going on without it.", ge=0.01, le=30)
    ] = 0.3
    busy_delay_s: Annotated[
        float, Meta(description="Seconds before an input of a busy conversation is looked at again.", ge=0.01, le=60)
    ] = 0.2
    poll_s: Annotated[
        float, Meta(description="Seconds between looks at the log while a turn waits for tools.", ge=0.05, le=60)
    ] = 2.0
    cache_conversations: Annotated[
        int, Meta(description="Conversations kept in memory; 0: none.", ge=0, le=1_000_000)
    ] = 500
    queue_wait_s: Annotated[
        float,
        Meta(
            description="Seconds a tool call may wait for a free worker before it is not begun at all.", ge=0.1, le=3600
        ),
    ] = 60.0
    identity_max_tokens: Annotated[
        int, Meta(description="Tokens of the longest identity text of a profile.", ge=100, le=1_000_000)
    ] = 4000
    profiles_dir: Annotated[str, Meta(description="Folder of the profiles.", min_length=1)] = "profiles"
    profiles_poll_s: Annotated[
        float, Meta(description="Seconds between looks for changed profile files.", ge=0.1, le=3600)
    ] = 2.0
    default_profile: Annotated[str, Meta(description="Profile of inputs that name none.", min_length=1)] = "default"


class Model(Struct, frozen=True, kw_only=True):
    """The language model that answers."""

    url: Annotated[
        str,
        Meta(
            description="Address of the model's API, without credentials; empty: the provider's.",
            pattern="^(https?://[^/@]+(/.*)?)?$",
        ),
    ] = ""
    name: Annotated[str, Meta(description="Model to ask for; empty: the provider's usual one.")] = ""
    key: Annotated[Secret, Meta(description="Key of the model's API; empty: none.")] = Secret()
    provider: Annotated[str, Meta(description="Provider; empty: found from the key and the address.")] = ""
    context_window: Annotated[
        int, Meta(description="Tokens the model can read; 0: what the provider says.", ge=0, le=100_000_000)
    ] = 0
    max_output: Annotated[int, Meta(description="Tokens of the longest reply.", ge=1, le=1_000_000)] = 1024
    timeout_s: Annotated[float, Meta(description="Seconds one call may take.", ge=0.1, le=3600)] = 90.0
    price_in: Annotated[
        float, Meta(description="Price of a million tokens read, in USD; 0: the provider's.", ge=0, le=10_000)
    ] = 0.0
    price_out: Annotated[
        float, Meta(description="Price of a million tokens written, in USD; 0: the provider's.", ge=0, le=10_000)
    ] = 0.0


class Router(Struct, frozen=True, kw_only=True):
    """The service that chooses the tool groups of an input."""

    embeddings_url: Annotated[
        str,
        Meta(
            description="OpenAI-compatible embeddings endpoint, without credentials; empty: the built-in one.",
            pattern="^(https?://[^/@]+(/.*)?)?$",
        ),
    ] = ""
    embeddings_model: Annotated[str, Meta(description="Model to ask that endpoint for.")] = ""
    embeddings_key: Annotated[Secret, Meta(description="Key of that endpoint; empty: none.")] = Secret()
    embeddings_budget_s: Annotated[
        float, Meta(description="Seconds a decision may wait for that endpoint.", ge=0.001, le=10)
    ] = 0.15
    max_learned_per_group: Annotated[
        int, Meta(description="Utterances learned from outcomes that are kept for each group.", ge=0, le=10_000)
    ] = 200


class Tools(Struct, frozen=True, kw_only=True):
    """The workers that run tools."""

    groups: Annotated[str, Meta(description="Groups to serve, separated by commas; empty: all configured.")] = ""
    concurrency: Annotated[int, Meta(description="Calls run at the same time in each group.", ge=1, le=1024)] = 16
    ack_wait_s: Annotated[
        float, Meta(description="Seconds without a sign of life before a call goes to another worker.", ge=0.5, le=3600)
    ] = 30.0
    max_result_chars: Annotated[
        int, Meta(description="Characters of a result shown to the model.", ge=200, le=1_000_000)
    ] = 8000
    claims_ttl_s: Annotated[
        int, Meta(description="Seconds the claim on a call is remembered.", ge=60, le=365 * _DAY_S)
    ] = 7 * _DAY_S
    outputs_ttl_s: Annotated[
        int, Meta(description="Seconds the full output of a call is kept.", ge=60, le=365 * _DAY_S)
    ] = 7 * _DAY_S
    max_deliver: Annotated[int, Meta(description="Times a call is delivered before it fails.", ge=1, le=1000)] = 20


class Learner(Struct, frozen=True, kw_only=True):
    """The service that writes the playbook."""

    trigger: Annotated[
        Literal["tools", "signals"],
        Meta(description="Turns to learn from: those that ran tools, or only those with a sign of success or failure."),
    ] = "tools"
    window_s: Annotated[
        float,
        Meta(description="Seconds in which turns of a user are gathered to be studied together.", ge=0, le=_DAY_S),
    ] = 30.0
    pull_every_s: Annotated[float, Meta(description="Seconds between looks for finished turns.", ge=0.05, le=600)] = 2.0
    concurrency: Annotated[
        int, Meta(description="Finished turns gathered or studied at the same time.", ge=1, le=10_000)
    ] = 2048


class Scheduler(Struct, frozen=True, kw_only=True):
    """The service that keeps reminders and recurring work."""

    concurrency: Annotated[int, Meta(description="Schedules handled at the same time.", ge=1, le=4096)] = 64
    horizon_days: Annotated[int, Meta(description="Days ahead a schedule may lie.", ge=1, le=36_500)] = 3650
    max_pending_per_user: Annotated[int, Meta(description="Schedules one user may have.", ge=1, le=100_000)] = 500


class Intake(Struct, frozen=True, kw_only=True):
    """What is accepted as an input."""

    max_text_chars: Annotated[int, Meta(description="Characters of the longest text.", ge=1, le=1_000_000)] = 32_000
    max_attachments: Annotated[int, Meta(description="Attachments of one input.", ge=0, le=100)] = 10
    max_blob_bytes: Annotated[int, Meta(description="Bytes of the largest attachment.", ge=_KIB, le=_GIB)] = 20 * _MIB
    max_image_pixels: Annotated[
        int, Meta(description="Pixels of the largest image, width times height.", ge=1, le=1_000_000_000)
    ] = 50_000_000


class Log(Struct, frozen=True, kw_only=True):
    """What is logged and how."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Least important level that is written.")
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "console"], Meta(description="Form of a line; auto: console on a terminal, else json.")
    ] = "auto"


class Service(Struct, frozen=True, kw_only=True):
    """What every service has."""

    grace_s: Annotated[float, Meta(description="Seconds to finish running work after SIGTERM.", ge=0, le=600)] = 20.0


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set, by section. `Settings()` is the defaults."""

    bus: Bus = Bus()
    embedded: Embedded = Embedded()
    http: Http = Http()
    agent: Agent = Agent()
    model: Model = Model()
    router: Router = Router()
    tools: Tools = Tools()
    learner: Learner = Learner()
    scheduler: Scheduler = Scheduler()
    intake: Intake = Intake()
    log: Log = Log()
    service: Service = Service()
