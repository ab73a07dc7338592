"""Which log lines reach the console of `jada up`."""

import io

import pytest

from cli.console_log import Console

Line = tuple[float, str, str]


def shown(lines: list[Line], *, verbose: bool = False) -> list[str]:
    out = io.StringIO()
    times = iter([at for at, _, _ in lines])
    console = Console(out, verbose=verbose, clock=lambda: next(times))
    for _, level, event in lines:
        line = {"level": level, "event": event, "timestamp": "t"}
        assert console(None, level, line) is line
    return [line.split()[1] for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(0, "info", "message.handled"), (0, "debug", "a.b")], []),
        ([(0, "info", "bus.reconnected")], ["bus.reconnected"]),
        ([(0, "warning", "bus.disconnected"), (1, "error", "nats.died")], ["bus.disconnected", "nats.died"]),
        ([(0, "warning", "bus.disconnected"), (1, "warning", "bus.disconnected")], ["bus.disconnected"]),
        ([(0, "warning", "bus.disconnected"), (9, "warning", "bus.disconnected")], ["bus.disconnected"] * 2),
    ],
)
def test_important_lines_are_shown_and_what_five_services_say_only_once(lines: list[Line], expected: list[str]) -> None:
    assert shown(lines) == expected


def test_everything_is_shown_to_whoever_asks_for_it() -> None:
    assert shown([(0, "info", "message.handled"), (0, "info", "message.handled")], verbose=True) == [
        "message.handled",
        "message.handled",
    ]


def test_a_closed_console_does_not_disturb_the_services() -> None:
    out = io.StringIO()
    out.close()
    line = {"level": "error", "event": "nats.died"}
    assert Console(out, verbose=False)(None, "error", line) is line
