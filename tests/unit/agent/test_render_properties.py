"""Render over arbitrary logs: what goes out is accepted by every dialect, the same each time, within its budget."""

import itertools
import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.agent import render
from services.agent.arrivals import steering_inputs
from services.agent.moves import AskModel
from shared.conversation.fold import Checkpoint, Conversation
from shared.messages.conversation import Redacted, ToolFinished, TurnEnded, TurnStarted, UserMessage
from shared.messages.parts import Text
from shared.model.dialects import DIALECTS
from shared.model.openai_codec import OpenAICodec
from shared.model.types import ChatRequest, ToolSpec, ToolTurn
from shared.profiles import Profile
from shared.text import clean
from tests.support.model_server import Dialect, Terms, violations
from tests.unit.agent.turns import call, message, outcome, running, step
from tests.unit.shared.arbitrary_logs import START, TOOLS, Log, cut_logs, fold, logs, texts

some = settings(deadline=None, max_examples=30)
PROFILE = Profile(identity="Soy Jada, de {casa}.", history_tokens=500, time_zone="America/Bogota")
OFFERED = tuple(
    ToolSpec(name=name, description=name, parameters=msgspec.Raw(b'{"type":"object","properties":{}}'))
    for name in TOOLS
)
# Whose rules hold for a server we speak to.
RULES: dict[str, Dialect] = {"openai": "openai", "mistral": "mistral", "groq": "groq", "llamacpp": "llamacpp"}


def with_open_turn(log: Log) -> Conversation:
    """The state at which a model is asked: as the log stands, a turn begun if none is open."""
    state = fold(log)
    if state.open is not None:
        return state
    seq = max(log[-1][0] if log else 0, state.fence) + 1
    state.apply(seq, UserMessage(message_id="m", user_id="ana", text="sigue", sent_at=START))
    started = TurnStarted(turn_id=f"{seq}-new", epoch=1, owner="o", lease=seq, inputs=[seq], at=START)
    state.apply(seq + 1, started)
    return state


def ask(
    state: Conversation, *, profile: Profile = PROFILE, history: render.History | None = None, **options: Any
) -> ChatRequest:
    move = AskModel(1, last=options.pop("last", False), correct=options.pop("correct", False))
    return render.request(
        state,
        history or render.History(),
        profile=profile,
        tools=options.pop("tools", OFFERED),
        max_tokens=256,
        move=move,
        **options,
    )


def wire(request: ChatRequest, dialect: str = "openai") -> Any:
    body = OpenAICodec(DIALECTS[dialect], "test-model").encode(request, stream=False)
    return json.loads(body)


def kinds(body: Any, dialect: Dialect) -> set[str]:
    return {f"{v.kind}: {v.message}" for v in violations(body, Terms(dialect=dialect))}


def test_every_dialect_of_the_strict_server_is_judged() -> None:
    assert set(RULES.values()) == set(get_args(Dialect))


@pytest.mark.parametrize("dialect", sorted(RULES.keys() - {"groq"}))
@some
@given(cut_logs(), st.booleans(), st.booleans(), st.booleans())
def test_any_log_renders_to_a_request_the_provider_accepts(
    dialect: str, log: Log, last: bool, bare: bool, correct: bool
) -> None:
    state = with_open_turn(log)
    assert state.open is not None
    steering = steering_inputs(state, state.open, PROFILE)
    request = ask(state, last=last, correct=correct, steering=steering, tools=() if bare else OFFERED)
    assert kinds(wire(request, dialect), RULES[dialect]) == set()


@pytest.mark.xfail(
    reason="BUG: only the routed tools are offered; Groq refuses a history that calls others", strict=True
)
def test_a_history_that_calls_a_tool_no_longer_routed_renders_to_a_request_groq_accepts() -> None:
    state, turn = running()
    step(state, call("web_search"))
    outcome(state, "web_search", "ok")
    ended = TurnEnded(turn_id=turn.turn_id, status="answered", answer="ya", inputs=[1], at=START)
    state.apply(state.fence + 1, ended)
    state.apply(500, message())
    state.apply(501, TurnStarted(turn_id="500-t", epoch=1, owner="o", lease=500, inputs=[500], at=START))
    assert kinds(wire(ask(state, tools=OFFERED[:1]), "groq"), "groq") == set()


@pytest.mark.xfail(reason="BUG: a result heard live has no sequence yet, so its redaction misses it", strict=True)
def test_a_redacted_result_is_not_rendered_by_the_owner_who_heard_it_live() -> None:
    state, turn = running()
    step(state, call("web_search"))
    poisoned = ToolFinished(
        call_id="web_search", turn_id=turn.turn_id, name="x", status="ok", at=START, content=[Text(text="POISON")]
    )
    state.apply(0, poisoned)  # as `Listening` hears it; the stream holds it at 150
    state.apply(200, Redacted(target_seq=150, part=0, note="healed", reason="surrogate", at=START))
    assert "POISON" not in json.dumps(wire(ask(state)))


@some
@given(cut_logs())
def test_but_for_tools_not_offered_groq_accepts_any_log(log: Log) -> None:
    found = kinds(wire(ask(with_open_turn(log)), "groq"), "groq")
    assert {one for one in found if not one.startswith("not-offered")} == set()


@some
@given(cut_logs(), texts, st.integers(500, 4000), st.sampled_from((1.0, 0.25, 0.0)))
@example([], "Soy Jada.", 500, 0.0)
def test_the_identity_is_first_and_whole_under_any_budget(log: Log, identity: str, tokens: int, share: float) -> None:
    # Profiles are cleaned when they are loaded.
    profile = Profile(identity=clean(identity).strip(), history_tokens=tokens)
    messages = wire(ask(with_open_turn(log), profile=profile, budget_share=share))["messages"]
    assert [m["role"] for m in messages].count("system") == 1
    assert messages[0]["role"] == "system"
    assert messages[0]["content"].startswith(profile.identity)


@some
@given(cut_logs())
def test_the_same_log_gives_the_same_bytes(log: Log) -> None:
    codec = OpenAICodec(DIALECTS["openai"], "test-model")
    once, twice = (codec.encode(ask(with_open_turn(log)), stream=True) for _ in range(2))
    assert once == twice


@some
@given(logs())
def test_a_history_kept_from_the_start_renders_like_a_fresh_one(log: Log) -> None:
    state, kept = Conversation("c"), render.History()
    for seq, event in log:
        state.apply(seq, event)
        kept.blocks(state, PROFILE)
    assert wire(ask(state, history=kept)) == wire(ask(state))


@some
@given(logs(), st.sampled_from((500, 520, 700)))
def test_a_reader_from_the_checkpoint_renders_what_the_owner_renders(log: Log, tokens: int) -> None:
    """The owner trims whenever it ends a turn; who reads from its last checkpoint sees the same history."""
    profile = Profile(history_tokens=tokens)
    owner, history = Conversation("c"), render.History()
    for seq, event in log:
        if isinstance(event, TurnEnded):
            history.trim(owner, profile)
        owner.apply(seq, event)
    reader = fold(log, Checkpoint.from_header(owner.checkpoint.header()))
    assert wire(ask(owner, history=history, profile=profile)) == wire(ask(reader, profile=profile))


@some
@given(cut_logs(), st.integers(500, 3000), st.sampled_from((1.0, 0.25)))
def test_the_history_stays_within_its_budget_and_tells_what_is_left_out(log: Log, tokens: int, share: float) -> None:
    profile = Profile(history_tokens=tokens)
    state = with_open_turn(log)
    request = ask(state, profile=profile, budget_share=share)
    assert sum(block.tokens for block in request.history) <= tokens * share
    finished = [turn for turn in state.turns if turn.ended]
    shown = [block for block in request.history if block.tokens or not block.messages]
    note = bool(request.history) and len(request.history) > len(shown)
    assert note == (len(shown) < len(finished))


@some
@given(cut_logs(), texts)
def test_the_answer_of_a_failed_turn_is_never_put_into_the_models_mouth(log: Log, secret: str) -> None:
    marked = [
        (seq, msgspec.structs.replace(e, answer=f"FALLO-{secret}", status="failed", final=None))
        if isinstance(e, TurnEnded)
        else (seq, e)
        for seq, e in log
    ]
    assert "FALLO-" not in json.dumps(wire(ask(with_open_turn(marked))))


@some
@given(cut_logs())
def test_every_call_shown_has_exactly_one_result_right_behind_it(log: Log) -> None:
    request = ask(with_open_turn(log))
    for block in (*(b.messages for b in request.history), request.current):
        owed: list[str] = []
        for one in block:
            if isinstance(one, ToolTurn):
                assert owed.pop(0) == one.call_id
                continue
            assert owed == []
            owed = [made.call_id for made in getattr(one, "calls", [])]
        assert owed == []


sizes = st.lists(st.integers(0, 400), max_size=30)


@given(sizes, st.integers(1, 2000), st.integers(0, 5000))
def test_what_is_kept_fits_the_budget_and_no_more_is_dropped_than_a_quarter_of_it(
    tokens: list[int], budget: int, before: int
) -> None:
    first = render.first_kept(tokens, budget, before=before)
    assert sum(tokens[first:]) <= budget
    if first and before + sum(tokens) > budget:
        assert sum(tokens[first - 1 :]) > budget - max(1, budget // 4) - 1


@given(sizes, st.integers(0, 400), st.integers(1, 2000), st.integers(0, 5000))
def test_the_cut_never_moves_back_as_a_conversation_grows(
    tokens: list[int], more: int, budget: int, before: int
) -> None:
    now = render.first_kept(tokens, budget, before=before)
    assert render.first_kept([*tokens, more], budget, before=before) >= now


@given(sizes, st.integers(4, 2000), st.data())
def test_the_cut_is_the_same_after_older_turns_were_forgotten(
    tokens: list[int], budget: int, data: st.DataObject
) -> None:
    first = render.first_kept(tokens, budget, before=0)
    gone = data.draw(st.integers(0, first))
    assert gone + render.first_kept(tokens[gone:], budget, before=sum(tokens[:gone])) == first


def test_the_cut_stays_put_for_several_turns() -> None:
    cuts = [render.first_kept([100] * turns, 1000, before=0) for turns in range(1, 60)]
    moves = sum(one != two for one, two in itertools.pairwise(cuts))
    assert moves <= 59 * 100 / 250 + 1
