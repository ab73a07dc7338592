"""`docs/subjects.md`: subjects, streams, buckets and consumers."""

import inspect
from collections.abc import Iterable, Sequence

from docs.generate.channels import Channel, Subject, all_subjects, load_channels, messages_of, stored_in, wildcard
from docs.generate.markdown import code, head, sentence, table
from shared import topology
from shared.settings import Settings
from shared.topology import ConsumerSpec, StreamSpec

_BUCKET = "KV_"
_RETENTION = {"limits": "all", "workqueue": "until acknowledged"}
_TIMES = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def page() -> str:
    """The page's text."""
    return "\n".join(
        [
            head("subjects"),
            "## Subjects\n",
            _subjects(),
            "## Filters\n",
            _filters(),
            "## Streams\n",
            _streams([spec for spec in topology.STREAMS if not spec.name.startswith(_BUCKET)]),
            "## Buckets\n",
            "Key-value buckets in the form of NATS KV: a stream `KV_<bucket>` each, with every key's last value.\n",
            _buckets([spec for spec in topology.STREAMS if spec.name.startswith(_BUCKET)]),
            "## Consumers\n",
            "Durable pull consumers with explicit acknowledgement; their values at default settings.\n",
            _consumers(),
        ]
    )


def consumers() -> list[tuple[ConsumerSpec, str]]:
    """Every durable consumer at default settings, with what is said about it."""
    found = []
    for function in vars(topology).values():
        if not inspect.isfunction(function) or inspect.signature(function).return_annotation is not ConsumerSpec:
            continue
        names = inspect.signature(function).parameters
        spec = function(*(Settings() if name == "settings" else f"<{name}>" for name in names))
        found.append((spec, sentence(inspect.getdoc(function))))
    return found


def link(name: str) -> str:
    """A link to a message's section of `docs/messages.md`."""
    return f"[{name}](messages.md#{name.lower()})"


def _subjects() -> str:
    channels = load_channels()
    plain = [subject for subject in all_subjects() if not subject.is_filter]
    rows = [_subject_row(subject, channels.get(subject.name)) for subject in plain]
    return table(("subject", "in code", "stored in", "messages", "writers → readers", "meaning"), rows)


def _subject_row(subject: Subject, channel: Channel | None) -> Sequence[str]:
    if channel is None:
        return code(subject.pattern), code(subject.name), "its bucket", "see Buckets", "see Buckets", subject.meaning
    carried = ", ".join(link(message.__name__) for message in messages_of(channel.messages))
    reply = ", ".join(link(message.__name__) for message in messages_of(channel.reply))
    return (
        code(subject.pattern),
        code(subject.name),
        code(stored_in(subject.pattern)) or "not stored",
        f"{carried}; reply {reply}" if reply else carried,
        _flow(channel),
        subject.meaning or channel.meaning,
    )


def _filters() -> str:
    rows = [(code(s.pattern), code(s.name), s.meaning) for s in all_subjects() if s.is_filter]
    return table(("filter", "in code", "meaning"), rows)


def _streams(specs: Iterable[StreamSpec]) -> str:
    rows = [
        (
            code(spec.name),
            ", ".join(map(code, spec.subjects)),
            _RETENTION[spec.retention],
            _age(spec),
            f"{spec.writers} → {spec.readers}",
            spec.purpose,
        )
        for spec in specs
    ]
    return table(("stream", "subjects", "kept", "at most", "writers → readers", "holds"), rows)


def _buckets(specs: Iterable[StreamSpec]) -> str:
    channels = load_channels()
    rows = []
    for spec in specs:
        values = [
            link(message.__name__)
            for name, channel in channels.items()
            if any(wildcard(subject).startswith(f"{name}.") for subject in spec.subjects)
            for message in messages_of(channel.messages)
        ]
        rows.append(
            (
                code(spec.name.removeprefix(_BUCKET)),
                ", ".join(map(code, spec.subjects)),
                _age(spec),
                f"{spec.writers} → {spec.readers}",
                ", ".join(values),
                spec.purpose,
            )
        )
    return table(("bucket", "subjects", "kept at most", "writers → readers", "messages", "holds"), rows)


def _consumers() -> str:
    rows = [
        (
            code(spec.name),
            code(spec.stream),
            code(spec.filter_subject),
            duration(spec.ack_wait_s),
            "unlimited" if spec.max_deliver < 0 else str(spec.max_deliver),
            str(spec.max_ack_pending),
            meaning,
        )
        for spec, meaning in consumers()
    ]
    columns = ("consumer", "stream", "filter", "redelivered after", "deliveries", "unacknowledged at most", "meaning")
    return table(columns, rows)


def _flow(channel: Channel) -> str:
    return f"{', '.join(channel.writers)} → {', '.join(channel.readers)}"


def _age(spec: StreamSpec) -> str:
    if spec.max_age_setting:
        default = getattr(Settings().tools, spec.max_age_setting)
        return f"`tools.{spec.max_age_setting}` ({duration(default)})"
    return duration(spec.max_age_s) if spec.max_age_s else "for ever"


def duration(seconds: float) -> str:
    """Seconds in the largest unit that divides them."""
    name, size = next(((name, size) for name, size in _TIMES if seconds % size == 0), ("second", 1))
    count = f"{seconds / size:g}"
    return f"{count} {name}" if count == "1" else f"{count} {name}s"
