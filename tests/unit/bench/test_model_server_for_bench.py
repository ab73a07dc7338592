import msgspec
import pytest

from bench.model_server import reply_to
from bench.race import known_of

_USER = {"role": "user", "content": 'say "role":"tool"'}
_CALL = {"role": "assistant", "content": None}
_RESULT = {"role": "tool", "content": "{}"}
_ANSWER = {"role": "assistant", "content": "done"}


@pytest.mark.parametrize(
    ("history", "finish"),
    [
        ([_USER], "tool_calls"),
        ([_USER, _CALL, _RESULT], "tool_calls"),
        ([_USER, _CALL, _RESULT, _CALL, _RESULT], "stop"),
        ([_USER, _CALL, _RESULT, _CALL, _RESULT, _ANSWER, _USER], "tool_calls"),
        ([_USER, _CALL, _RESULT, _CALL, _RESULT, _ANSWER, _USER, _CALL, _RESULT, _CALL, _RESULT], "stop"),
    ],
)
def test_the_model_calls_a_tool_until_two_results_follow_the_last_user_message(
    history: list[dict[str, str | None]], finish: str
) -> None:
    body = msgspec.json.encode({"model": "test-model", "messages": history})

    reply = msgspec.json.decode(reply_to(body, 1))

    assert reply["choices"][0]["finish_reason"] == finish


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([["a"]] * 3 + [["a", "b"]] * 3, 2),
        ([["a"]] * 3 + [["b"]] * 3, 1),
        ([["b"]] * 3 + [["b", "a"]] * 3, 0),
        ([["a"]] * 3 + [["a", "b"]] * 2, 1),
        ([["a", "b"]] * 3, 0),
        ([], 0),
    ],
)
def test_a_message_knew_the_earlier_ones_when_every_request_of_its_turn_held_exactly_them(
    seen: list[list[str]], expected: int
) -> None:
    assert known_of(seen, ["a", "b"]) == expected
