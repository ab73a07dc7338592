"""The one table of streams, buckets and durable consumers; set up idempotently, never deleted.

`docs/subjects.md` shows it, `jada doctor` prints it, and a test keeps both complete.
"""

from typing import Any

import msgspec
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError

from shared.settings.schema import Settings

_DAY_S = 86_400.0


class StreamSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A stream: what it holds, for how long, who writes and who reads.

    `max_age_s` 0 keeps for ever; `max_age_setting` names the setting of `tools` that holds it instead.
    """

    name: str
    subjects: tuple[str, ...]
    writers: str
    readers: str
    retention: str = "limits"
    max_age_s: float = 0.0
    max_age_setting: str = ""
    schedules: bool = False
    keep_last: bool = False
    purpose: str = ""


class ConsumerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A durable pull consumer."""

    stream: str
    name: str
    filter_subject: str
    ack_wait_s: float
    max_deliver: int = -1
    max_ack_pending: int = 1000


STREAMS = (
    StreamSpec(
        name="CONVERSATIONS",
        subjects=("conv.*.in", "conv.*.log", "conv.*.tool"),
        writers="API, scheduler (in); agent (log); tools (tool)",
        readers="agent, learner, API",
        purpose="every conversation: inputs, decisions, tool results",
    ),
    StreamSpec(
        name="TOOLS",
        subjects=("tool.*.*",),
        writers="agent",
        readers="tools",
        retention="workqueue",
        max_age_s=_DAY_S,
        purpose="jobs for tool workers",
    ),
    StreamSpec(
        name="PLAYBOOK",
        subjects=("playbook.*",),
        writers="learner",
        readers="learner",
        purpose="what the learner captured and, later, learned",
    ),
    StreamSpec(
        name="SCHEDULES",
        subjects=("schedule.*.*", "due.*.*"),
        writers="tools, scheduler",
        readers="scheduler, tools",
        retention="workqueue",
        schedules=True,
        purpose="pending schedules and their firings",
    ),
    StreamSpec(
        name="DEAD",
        subjects=("dead.*",),
        writers="all",
        readers="operator",
        max_age_s=30 * _DAY_S,
        purpose="messages nobody could handle, as they were",
    ),
    StreamSpec(
        name="BLOBS",
        subjects=("blob.*.*",),
        writers="API, tools",
        readers="API, tools",
        purpose="attachments by content hash, in chunks",
    ),
    StreamSpec(
        name="OUTPUTS",
        subjects=("output.*.*.*",),
        writers="tools",
        readers="tools",
        max_age_setting="outputs_ttl_s",
        purpose="full tool results by call, in chunks",
    ),
    StreamSpec(
        name="KV_profiles",
        subjects=("$KV.profiles.>",),
        writers="agent",
        readers="agent",
        keep_last=True,
        purpose="profiles as loaded from their files",
    ),
    StreamSpec(
        name="KV_documents",
        subjects=("$KV.documents.>",),
        writers="tools",
        readers="tools",
        keep_last=True,
        purpose="per-user documents of tools (notes)",
    ),
    StreamSpec(
        name="KV_claims",
        subjects=("$KV.claims.>",),
        writers="tools",
        readers="tools",
        max_age_setting="claims_ttl_s",
        keep_last=True,
        purpose="one claim per side-effecting call, taken before it runs",
    ),
    StreamSpec(
        name="KV_catalog",
        subjects=("$KV.catalog.>",),
        writers="tools",
        readers="agent, router",
        keep_last=True,
        purpose="the tool groups that workers declare",
    ),
    StreamSpec(
        name="KV_routing",
        subjects=("$KV.routing.>",),
        writers="learner, operator",
        readers="router",
        keep_last=True,
        purpose="utterances the router learned, by group",
    ),
    StreamSpec(
        name="KV_members",
        subjects=("$KV.members.>",),
        writers="agent",
        readers="API, tools",
        keep_last=True,
        purpose="which user takes part in which conversation",
    ),
)

_BY_HEAD = {subject.removeprefix("$KV.").split(".")[0]: spec.name for spec in STREAMS for subject in spec.subjects}


def stream_of(subject: str) -> str:
    """The stream that stores a subject; `KeyError` for a subject no stream stores."""
    return _BY_HEAD[subject.removeprefix("$KV.").split(".", 1)[0]]


def agent_consumer(settings: Settings) -> ConsumerSpec:
    """Inputs of all conversations. Unlimited deliveries: inputs wait their turn by being handed back."""
    return ConsumerSpec(
        stream="CONVERSATIONS",
        name="agent",
        filter_subject="conv.*.in",
        ack_wait_s=settings.agent.ack_wait_s,
        max_ack_pending=10_000,
    )


def tools_consumer(settings: Settings, group: str) -> ConsumerSpec:
    """One group's jobs: the unit of scaling."""
    return ConsumerSpec(
        stream="TOOLS",
        name=f"tools-{group}",
        filter_subject=f"tool.{group}.*",
        ack_wait_s=settings.tools.ack_wait_s,
        max_deliver=settings.tools.max_deliver,
    )


def learner_consumer(settings: Settings) -> ConsumerSpec:
    """Everything agents decide; the learner picks finished turns. Acknowledged when their window closes."""
    return ConsumerSpec(
        stream="CONVERSATIONS",
        name="learner",
        filter_subject="conv.*.log",
        ack_wait_s=settings.learner.window_s + 30,
        max_ack_pending=10_000,
    )


def scheduler_consumer() -> ConsumerSpec:
    """Schedules that fired."""
    return ConsumerSpec(stream="SCHEDULES", name="scheduler", filter_subject="due.*.*", ack_wait_s=10)


def stream_config(spec: StreamSpec, settings: Settings) -> api.StreamConfig:
    """The broker's form of a stream."""
    max_age_s = float(getattr(settings.tools, spec.max_age_setting)) if spec.max_age_setting else spec.max_age_s
    return api.StreamConfig(
        name=spec.name,
        description=spec.purpose,
        subjects=list(spec.subjects),
        retention=api.RetentionPolicy(spec.retention),
        storage=api.StorageType.FILE,
        num_replicas=settings.bus.replicas,
        duplicate_window=settings.bus.duplicate_window_s,
        max_age=max_age_s or None,
        max_msgs_per_subject=1 if spec.keep_last else -1,
        allow_direct=True,
        allow_msg_schedules=spec.schedules or None,
        allow_msg_ttl=spec.schedules or None,
        allow_rollup_hdrs=spec.keep_last or spec.schedules,
        discard=api.DiscardPolicy.OLD if spec.schedules else api.DiscardPolicy.NEW,
    )


async def ensure_streams(jetstream: JetStreamContext, settings: Settings) -> None:
    """Create what is missing and update what differs. Any number of services may do this at the same time."""
    for spec in STREAMS:
        wanted = stream_config(spec, settings)
        try:
            current = (await jetstream.stream_info(spec.name)).config
        except NotFoundError:
            await jetstream.add_stream(wanted)
            continue
        if _differs(current, wanted):
            await jetstream.update_stream(wanted)


async def ensure_consumer(jetstream: JetStreamContext, spec: ConsumerSpec) -> None:
    """Create a durable pull consumer, or update its limits."""
    await jetstream.add_consumer(
        spec.stream,
        api.ConsumerConfig(
            durable_name=spec.name,
            filter_subject=spec.filter_subject,
            ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=spec.ack_wait_s,
            max_deliver=spec.max_deliver,
            max_ack_pending=spec.max_ack_pending,
        ),
    )


def _differs(current: api.StreamConfig, wanted: api.StreamConfig) -> bool:
    fields = ("subjects", "description", "num_replicas", "duplicate_window", "max_age", "max_msgs_per_subject")

    def values(config: api.StreamConfig) -> list[Any]:
        return [getattr(config, field) or 0 for field in fields]

    return values(current) != values(wanted)
