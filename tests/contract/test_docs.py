"""The documentation tables are complete, current and true."""

import inspect
import re
from pathlib import Path

import pytest

from docs.generate import channels, metrics, pages, subjects
from docs.generate.channels import Subject, all_subjects, covers, load_channels, messages_of, stored_in, wildcard
from shared import subjects as builders
from shared import topology
from shared.messages import parts
from shared.settings.fields import all_fields
from tests.contract.golden import TYPES, tag_of
from tests.contract.source import ROOT

SUBJECTS = [subject for subject in all_subjects() if not subject.is_filter]
CHANNELS = load_channels()
NOT_CHANNELS = {"kv"}  # its buckets have a table of their own
METRICS = [metric for module in metrics.modules() for metric in metrics.metrics_of(module)]
ID_LABELS = re.compile(r"(^|_)(id|user|conversation|turn|call|message|text|name|key|url|path)s?$")


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


@pytest.mark.parametrize("name", pages.documents())
def test_a_generated_page_is_current(name: str) -> None:
    assert name not in pages.stale(), "run python -m docs.generate --write"


def test_check_fails_until_the_pages_are_written_and_again_after_a_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pages.main(["--check"], tmp_path) == 1
    assert "docs/subjects.md: out of date" in capsys.readouterr().out
    assert pages.main(["--write"], tmp_path) == 0
    assert pages.main(["--check"], tmp_path) == 0
    (tmp_path / "docs/metrics.md").write_text("old", "utf-8")
    assert pages.main(["--check"], tmp_path) == 1


def test_every_subject_builder_is_on_the_page() -> None:
    functions = [name for name, value in vars(builders).items() if inspect.isfunction(value) and name[0] != "_"]
    missing = [name for name in functions if f"| `{name}` |" not in page("subjects.md")]
    assert set(missing) == channels._ENCODING


def test_every_stream_bucket_and_consumer_is_on_the_page() -> None:
    text = page("subjects.md")
    names = [spec.name.removeprefix("KV_") for spec in topology.STREAMS] + [c.name for c, _ in subjects.consumers()]
    assert [name for name in names if f"\n| `{name}` |" not in text] == []
    functions = [name for name in vars(topology) if name.endswith("_consumer") and name != "ensure_consumer"]
    assert len(functions) == len(subjects.consumers())


def test_every_setting_is_on_its_page() -> None:
    text = page("settings.md")
    assert [field.key for field in all_fields().values() if f"| `{field.key}` |" not in text] == []


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_on_its_page_with_its_labels_and_is_well_named(metric: metrics.Metric) -> None:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    assert f"| `{metric.name}` | {metric.kind} | {labels} |" in page("metrics.md")
    assert re.fullmatch(r"jada_[a-z]+(_[a-z]+)*", metric.name)
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert metric.help
    assert [label for label in metric.labels if ID_LABELS.search(label)] == []


def test_no_two_metrics_have_one_name() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_every_subject_has_a_channel_and_every_channel_a_subject() -> None:
    names = {subject.name for subject in SUBJECTS}
    buckets = {f.removesuffix(".>") for spec in topology.STREAMS for f in spec.subjects if f.startswith("$KV.")}
    assert names - NOT_CHANNELS == {name for name in CHANNELS if not name.startswith("$KV.")}
    assert {name for name in CHANNELS if name.startswith("$KV.")} <= buckets


def test_every_message_travels_somewhere() -> None:
    carried = {
        m for channel in CHANNELS.values() for m in (*messages_of(channel.messages), *messages_of(channel.reply))
    }
    assert sorted(TYPES.keys() - {tag_of(message) for message in carried}) == sorted(parts.PART_TAGS)


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s.name in CHANNELS], ids=lambda subject: subject.name)
def test_a_subject_is_stored_exactly_when_it_is_meant_to_be(subject: Subject) -> None:
    assert bool(stored_in(subject.pattern)) == CHANNELS[subject.name].stored


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_stream_of_agrees_with_the_subjects_of_the_streams(subject: Subject) -> None:
    if subject.name in NOT_CHANNELS:
        examples = {
            builders.kv(spec.name.removeprefix("KV_"), "a b"): spec.name
            for spec in topology.STREAMS
            if "KV_" in spec.name
        }
    else:
        examples = {re.sub(r"<\w+>", "x", subject.pattern): stored_in(subject.pattern)}
    for example, stream in examples.items():
        if stream:
            assert topology.stream_of(example) == stream
        else:
            with pytest.raises(KeyError):
                topology.stream_of(example)


def test_no_two_streams_store_one_subject() -> None:
    filters = [(spec.name, subject) for spec in topology.STREAMS for subject in spec.subjects]
    assert [(a, b) for a, x in filters for b, y in filters if a < b and _overlap(x.split("."), y.split("."))] == []


def test_the_consumer_of_a_stream_asks_for_subjects_the_stream_stores() -> None:
    for consumer, _ in subjects.consumers():
        assert stored_in(consumer.filter_subject) == consumer.stream


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("conv.*.in", "conv.*.in", True),
        ("conv.*.in", "conv.x.in", True),
        ("conv.x.in", "conv.*.in", False),
        ("conv.*.in", "conv.*.log", False),
        ("conv.>", "conv.*.in", True),
        ("conv.>", "conv", False),
        ("tool.*.*", "tool.*", False),
        ("tool.*", "tool.*.*", False),
        ("tool.*.*", "tool.cancel.*", True),
    ],
)
def test_one_filter_covers_another_as_the_broker_would_match(outer: str, inner: str, expected: bool) -> None:
    assert covers(outer, inner) == expected


def _overlap(one: list[str], other: list[str]) -> bool:
    if not one or not other:
        return one == other
    if ">" in (one[0], other[0]):
        return True
    return ("*" in (one[0], other[0]) or one[0] == other[0]) and _overlap(one[1:], other[1:])


def test_a_parameter_in_a_pattern_is_a_wildcard() -> None:
    assert wildcard("conv.<conversation_id>.in") == "conv.*.in"
