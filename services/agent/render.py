"""Render: the log to a model request. Pure, deterministic, the one choke point before every model call."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from services.agent import prompt
from services.agent.moves import AskModel
from shared.conversation.fold import Conversation, Turn
from shared.messages.conversation import (
    ApprovalGiven,
    CallRequested,
    CancelRequested,
    Input,
    ModelReplied,
    ReminderDue,
    ToolFinished,
    UserMessage,
    WorkflowReport,
)
from shared.messages.parts import BlobRef, Json, Opaque, Part, Text
from shared.model.types import AssistantTurn, Block, Call, ChatMessage, ChatRequest, ToolSpec, ToolTurn, UserTurn
from shared.profiles import Profile
from shared.text import estimate_tokens

# Beside the words: role markers and separators of a message, and the wrapping of a call.
_MESSAGE_TOKENS = 6
_CALL_TOKENS = 16
_MIN_INTERRUPTED = "tool call interrupted: its outcome is unknown"


class History:
    """The finished turns of one conversation as blocks, each rendered once; beside `Conversation`, never ahead."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        self._seen: tuple[int, str] = (0, "")

    def blocks(self, state: Conversation, profile: Profile) -> list[tuple[Turn, Block]]:
        """Each finished turn with its block. A redaction or another profile revision renders everything anew."""
        seen = (len(state.redactions), profile.revision)
        if seen != self._seen:
            self._blocks.clear()
            self._seen = seen
        finished = [turn for turn in state.turns if turn.ended is not None]
        for turn in finished:
            if turn.turn_id not in self._blocks:
                messages = tuple(turn_messages(state, turn, profile))
                self._blocks[turn.turn_id] = Block(messages, estimate(messages))
        return [(turn, self._blocks[turn.turn_id]) for turn in finished]

    def trim(self, state: Conversation, profile: Profile) -> None:
        """Forget, here and in `state`, the turns that no longer fit the budget."""
        pairs = self.blocks(state, profile)
        first = first_kept([b.tokens for _, b in pairs], profile.history_tokens, before=state.checkpoint.tokens)
        dropped = pairs[:first]
        state.forget_before(len(dropped), sum(block.tokens for _, block in dropped))
        for turn, _ in dropped:
            del self._blocks[turn.turn_id]


def request(
    state: Conversation,
    history: History,
    *,
    profile: Profile,
    tools: tuple[ToolSpec, ...],
    max_tokens: int,
    move: AskModel,
    steering: Sequence[int] = (),
    budget_share: float = 1.0,
) -> ChatRequest:
    """The request for the open turn's next step.

    `move` says whether it is the last one allowed, and whether the model is told that its last reply claimed what no
    tool did; `steering` are inputs this step shows first; `budget_share` below 1 shrinks the history after a provider
    said it is too long.
    """
    pairs = history.blocks(state, profile)
    budget = int(profile.history_tokens * budget_share)
    first = first_kept([b.tokens for _, b in pairs], budget, before=state.checkpoint.tokens)
    kept = [block for _, block in pairs[first:]]
    left_out = state.checkpoint.turns + first
    if left_out:
        gap = UserTurn(content=[Text(text=prompt.note(profile.language, "left_out", n=left_out))])
        kept.insert(0, Block((gap,), 0))
    current = turn_messages(state, state.open, profile) if state.open else []
    current += [_user_turn(seq, state, profile) for seq in steering]
    if move.correct:
        current.append(UserTurn(content=[Text(text=prompt.note(profile.language, "unbacked"))]))
    if move.last:
        current.append(UserTurn(content=[Text(text=prompt.note(profile.language, "last_step"))]))
    return ChatRequest(
        system=prompt.system_prompt(profile),
        tools=tools,
        history=tuple(kept),
        current=tuple(current),
        max_tokens=max_tokens,
        tool_choice="none" if move.last and tools else "auto",
    )


def first_kept(tokens: Sequence[int], budget: int, *, before: int) -> int:
    """The index of the first turn that is kept when whole turns are dropped from the oldest on.

    The cut moves in steps of a quarter of the budget of the conversation's running total (`before` included), so
    that it stays put for several turns and providers' prompt caches keep working.
    """
    total = before + sum(tokens)
    quantum = max(1, budget // 4)
    start = -(-max(0, total - budget) // quantum) * quantum
    position = before
    for index, size in enumerate(tokens):
        if position >= start:
            return index
        position += size
    return len(tokens)


def turn_messages(state: Conversation, turn: Turn, profile: Profile) -> list[ChatMessage]:
    """The messages of one turn, well-formed: every call has its result, nothing is empty, errors stay out.

    A failed or cancelled turn in which no tool ran is left out whole. One in which tools ran keeps them, for they
    happened, and ends in a neutral mark instead of the error text.
    """
    ended = turn.ended
    broken = ended is not None and ended.status in ("failed", "cancelled")
    if broken and not any(isinstance(o, ToolFinished) for o in turn.outcomes.values()):
        return []
    messages: list[ChatMessage] = [_user_turn(seq, state, profile) for seq in turn.first_inputs]
    for seq, reply in zip(turn.reply_seqs, turn.replies, strict=True):
        messages += [_user_turn(shown, state, profile) for shown in reply.inputs]
        # A false claim is shown to the model while it puts it right, and never again.
        if not (reply.unbacked and ended):
            messages += _reply_messages(state, turn, seq, reply)
    if broken:
        messages.append(AssistantTurn(content=[Text(text=prompt.note(profile.language, "interrupted"))]))
    elif ended is not None and (ended.final is None or not ended.final.content):
        messages.append(AssistantTurn(content=[Text(text=ended.answer)]))
    return messages


def _reply_messages(state: Conversation, turn: Turn, seq: int, reply: ModelReplied) -> list[ChatMessage]:
    content = _redact(state, seq, reply.content)
    if not content and not reply.calls:
        return []
    calls = [Call(call_id=c.call_id, name=c.name, arguments=c.arguments) for c in reply.calls]
    results = [_tool_turn(state, turn, call) for call in reply.calls]
    return [AssistantTurn(content=content, calls=calls), *results]


def _tool_turn(state: Conversation, turn: Turn, call: CallRequested) -> ToolTurn:
    outcome = turn.outcomes.get(call.call_id)
    if call.refused:
        text = _error_text(call.refused)
    elif isinstance(outcome, ToolFinished):
        text = _result_text(state, turn, call, outcome)
    else:
        text = _error_text(f"{_MIN_INTERRUPTED} ({outcome.reason})" if outcome else _MIN_INTERRUPTED)
    return ToolTurn(call_id=call.call_id, name=call.name, content=text)


def _result_text(state: Conversation, turn: Turn, call: CallRequested, outcome: ToolFinished) -> str:
    parts = _redact(state, turn.outcome_seqs.get(call.call_id, 0), outcome.content)
    text = "\n".join(_part_text(part) for part in parts)
    if outcome.status != "ok" and not text:
        text = _error_text(f"the tool ended with {outcome.status}")
    return text or "(empty result)"


def _error_text(problem: str) -> str:
    return msgspec.json.encode({"error": problem}).decode()


def _user_turn(seq: int, state: Conversation, profile: Profile) -> UserTurn:
    event = state.inputs.get(seq)
    if event is None:  # older than what was read: its turn was kept, its input fell to the checkpoint's edge
        return UserTurn(content=[Text(text="[…]")])
    return UserTurn(content=_redact(state, seq, _input_parts(event, profile)))


def _input_parts(event: Input, profile: Profile) -> list[Part]:
    language = profile.language

    def stamped(at: datetime, text: str) -> Part:
        return Text(text=f"{prompt.stamp(at, profile)} {text}")

    match event:
        case UserMessage():
            return [stamped(event.sent_at, event.text), *event.attachments]
        case ReminderDue():
            return [stamped(event.due_at, prompt.note(language, "reminder_due", text=event.text))]
        case WorkflowReport():
            return [stamped(event.at, prompt.note(language, "report", workflow=event.workflow)), *event.content]
        case CancelRequested():
            return [stamped(event.at, prompt.note(language, "cancel"))]
        case ApprovalGiven():
            answer = "yes" if event.approved else "no"
            return [stamped(event.at, prompt.note(language, "approval", answer=answer))]


def _redact(state: Conversation, seq: int, parts: Sequence[Part]) -> list[Part]:
    """`parts` with every redacted one replaced by its note."""
    if not state.redactions:
        return list(parts)
    return [
        Text(text=redacted.note) if (redacted := state.redactions.get((seq, index))) else part
        for index, part in enumerate(parts)
    ]


def _part_text(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Json():
            return msgspec.json.encode(part.value).decode()
        case BlobRef():
            return (
                f"[{part.media_type} {part.name or 'file'}, {part.bytes} bytes, blob:{part.sha256}] {part.note}".strip()
            )
        case Opaque():
            return f"[{part.kind}]"


def estimate(messages: Sequence[ChatMessage]) -> int:
    """Estimated tokens of messages."""
    total = 0
    for message in messages:
        match message:
            case ToolTurn():
                total += estimate_tokens(message.content)
            case AssistantTurn():
                total += sum(estimate_tokens(_part_text(p)) for p in message.content)
                total += sum(len(bytes(c.arguments)) // 4 + _CALL_TOKENS for c in message.calls)
            case UserTurn():
                total += sum(estimate_tokens(_part_text(p)) for p in message.content)
        total += _MESSAGE_TOKENS
    return total
