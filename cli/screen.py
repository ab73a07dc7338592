"""What a person sees of a conversation: text as it comes, tools at work, receipts, and answers exactly once."""

import sys
from typing import Any, TextIO

from cli.api import ServerEvent
from cli.receipts import chips
from cli.texts import Texts
from shared.text import clean

_CLEAR_LINE = "\r\x1b[K"


class Screen:
    """Shows the events of one conversation. An answer may be heard from two streams; it is shown once."""

    def __init__(self, say: Texts, *, user: str, out: TextIO = sys.stdout) -> None:
        self._say = say
        self._user = user
        self._out = out
        self._shown: dict[str, str] = {}  # by turn: the text of its step that is on the screen
        self._steps: dict[str, int] = {}
        self._ended: set[str] = set()
        self._in_line = False

    def show(self, event: ServerEvent) -> bool:
        """Show an event; whether it was the first news of a turn's end."""
        data = event.data
        turn_id = str(data.get("turn_id") or "")
        if turn_id in self._ended:
            return False
        match event.name:
            case "delta":
                self._delta(turn_id, data["step"], clean(data["text"]))
            case "reset":
                self._line(self._say("chat.reset"))
                self._shown.pop(turn_id, None)
            case "tool_started":
                self._line(f"  … {clean(data['name'])}")
            case "message":
                self._message(data)
            case "answer" | "failed":
                self._end(turn_id, data)
                return True
        return False

    def say(self, text: str) -> None:
        """A line of the chat program itself."""
        self._line(text)

    def _delta(self, turn_id: str, step: int, text: str) -> None:
        if self._steps.get(turn_id) != step:
            self._steps[turn_id] = step
            self._shown[turn_id] = ""
            self._break()
            self._clear()
        self._shown[turn_id] = self._shown.get(turn_id, "") + text
        self._write(text)
        self._in_line = True

    def _message(self, data: dict[str, Any]) -> None:
        user = data.get("user_id")
        if data.get("role", "user") == "user" and user and user != self._user and data.get("text"):
            self._line(f"{clean(user)}: {clean(data['text'])}")

    def _end(self, turn_id: str, turn: dict[str, Any]) -> None:
        self._ended.add(turn_id)
        answer = clean(turn.get("answer") or turn["status"])
        shown = self._shown.pop(turn_id, "")
        self._steps.pop(turn_id, None)
        if shown and answer.startswith(shown.strip()):
            self._write(answer[len(shown.strip()) :])
            self._in_line = True
            self._break()
        else:
            self._line(answer)
        if turn.get("actions"):
            self._line(chips(turn["actions"]))

    def _line(self, text: str) -> None:
        self._break()
        self._clear()
        self._write(text + "\n")

    def _break(self) -> None:
        if self._in_line:
            self._write("\n")
            self._in_line = False

    def _clear(self) -> None:
        """Take the prompt off the line, and what is being typed; the reader shows it again."""
        if self._out.isatty():
            self._write(_CLEAR_LINE)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
