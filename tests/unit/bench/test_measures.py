import pytest

from bench.measures import per_turn_ms, percentile, quietest_tenth, ratio, record_bytes, spread


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([7.0], 0.5, 7.0),
        ([7.0], 0.99, 7.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([4.0, 3.0, 2.0, 1.0], 0.5, 2.0),
        ([float(n) for n in range(1, 101)], 0.95, 95.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([float(n) for n in range(1, 101)], 1.0, 100.0),
        ([float(n) for n in range(1, 101)], 0.0, 1.0),
        ([1.0, 1.0, 1.0, 50.0], 0.75, 1.0),
        ([1.0, 1.0, 1.0, 50.0], 0.76, 50.0),
    ],
)
def test_a_percentile_is_the_smallest_value_that_its_share_of_all_does_not_exceed(
    values: list[float], share: float, expected: float
) -> None:
    assert percentile(values, share) == expected


def test_nothing_has_no_percentile() -> None:
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


def test_a_spread_holds_the_ends_and_the_ranks_between() -> None:
    found = spread([float(n) for n in range(100, 0, -1)])

    assert (found.n, found.min, found.p50, found.p95, found.p99, found.max) == (100, 1.0, 50.0, 95.0, 99.0, 100.0)


def test_a_ratio_says_how_many_floors_a_turn_takes() -> None:
    assert ratio(21.0, 7.0) == 3.0
    assert ratio(20.0, 7.0) == 2.86


def test_cpu_seconds_become_milliseconds_per_turn_of_each_process() -> None:
    assert per_turn_ms({"agent": 1.0, "tools": 0.5}, {"agent": 1.5, "tools": 0.5}, 100) == {"agent": 5.0, "tools": 0.0}


def test_the_quietest_tenth_is_found_without_the_process_that_works_now_and_then() -> None:
    blocks = [{"agent": float(n), "learner": 100.0 - n} for n in range(20, 0, -1)]

    assert quietest_tenth(blocks, leave_out="learner") == {"agent": 2.0, "learner": 98.0}


@pytest.mark.parametrize(
    ("subject", "headers", "data", "expected"),
    [
        ("a", {}, b"", 30 + 1),
        ("tool.notes.note_list", {}, b"x" * 100, 30 + 20 + 100),
        # "NATS/1.0\r\n" (10) + "Nats-Msg-Id: 7\r\n" (16) + "\r\n" (2), and four bytes for their length
        ("a", {"Nats-Msg-Id": "7"}, b"x", 30 + 1 + 4 + 28 + 1),
        ("ñ", {}, b"", 30 + 2),
    ],
)
def test_a_record_has_the_bytes_that_the_server_counts(
    subject: str, headers: dict[str, str], data: bytes, expected: int
) -> None:
    assert record_bytes(subject, headers, data) == expected
