"""What `exec` prints while it runs: the answer on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from acp_tui.entry_display import call_title
from acp_tui.protocol.client_records import to_record
from acp_tui.session.events import AgentExited, Decided, TextChunk
from acp_tui.session.invisible import reveal_line
from acp_tui.session.state import AgentMessage, Notice, Plan, ToolCall, TurnEnd
from acp_tui.session.text import GrowingText, json_text, visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record

STATUS = {"completed": "done", "failed": "failed", "cancelled": "cancelled", "unfinished": "left open"}
TOLD_SOURCES = frozenset({"client", "agent", "protocol"})
"""Of notices; the others repeat a decision."""
MOST_FILES = 30
"""… are named; the changes may be a whole build."""
DECIDED = {True: "allowed", False: "rejected", None: "cancelled"}


class Narrator:
    """Says on stderr what goes on, a line each. Every text in the state is safe already."""

    def __init__(self) -> None:
        self._told: dict[int, str] = {}

    def see(self, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Tell what a person would want to know."""
        ended = any(isinstance(event, AgentExited) for event in events)  # told with the failure it causes
        for event in events:
            if isinstance(event, Decided) and event.by != "covered":  # then it was said a moment ago
                self._say(f"{DECIDED[event.allowed]}: {event.subject} ({event.why})")
        for change in changes:
            entry = change.entry
            if isinstance(entry, ToolCall):
                self._tool_call(entry)
            elif change.kind != "added":
                continue
            elif isinstance(entry, Notice) and entry.source in TOLD_SOURCES and not ended:
                self._say(entry.text if entry.detail is None else f"{entry.text}: {entry.detail}")
            elif isinstance(entry, Plan) and entry.items:
                done = sum(item.status == "completed" for item in entry.items)
                self._say(f"plan: {done} of {len(entry.items)} steps done")
            elif isinstance(entry, TurnEnd) and entry.stop_reason not in (None, "end_turn"):
                self._say(f"the agent stopped: {entry.stop_reason}")

    def changed(self, files: list[dict[str, Any]], cwd: str) -> None:
        """Tell which files are not as they were."""
        for file in files[:MOST_FILES]:
            path = PurePath(file["path"])
            name = path.relative_to(cwd) if path.is_relative_to(cwd) else path
            self._say(
                f"{file['change']}: {name}{'' if file['canBeReverted'] else ' (no copy of it as it was)'}"
            )
        if len(files) > MOST_FILES:
            self._say(f"and {len(files) - MOST_FILES} more files changed")

    def _tool_call(self, call: ToolCall) -> None:
        title = call_title(call, "")
        now = f"{title}: {STATUS[call.status]}" if call.status in STATUS else title
        if title and self._told.get(call.id) != now:
            self._told[call.id] = now
            self._say(reveal_line(now))

    def _say(self, text: str) -> None:
        print(f"· {visible_line(text)}", file=sys.stderr, flush=True)


class TextOutput:
    """The answer as the agent wrote it; made safe when stdout is a terminal."""

    shows_history = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._narrator = Narrator()
        self._safe = stream.isatty()
        self._text = GrowingText()
        self._carry = ""  # half of a character, when it is cut by chunks
        self._at_line_start = True
        self._started = False

    def see(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Print text as it comes; a blank line between two messages."""
        if self._started and any(
            change.kind == "added" and isinstance(change.entry, AgentMessage) for change in changes
        ):
            self._write("\n\n" if not self._at_line_start else "\n")
        for event in events:
            if isinstance(event, TextChunk) and event.speaker == "agent" and event.text:
                self._write(self._made_safe(event.text) if self._safe else self._joined(event.text))
                self._started = True
        self._narrate(events, changes)

    def _narrate(self, events: Sequence[Event], changes: Sequence[Change]) -> None:
        if len(changes) == 1 and isinstance(changes[0].entry, AgentMessage):
            return  # the hot path: text, which stands on stdout
        self.flush()
        self._narrator.see(events, changes)

    def flush(self) -> None:
        """Bring out what is held back."""
        self._stream.flush()

    def end(self, result: dict[str, Any]) -> None:
        """End the last line; say what has changed."""
        if self._started and not self._at_line_start:
            self._write("\n")
        self.flush()
        self._narrator.changed(result["changedFiles"] or [], result["cwd"])

    def _made_safe(self, chunk: str) -> str:
        before = self._text.length
        self._text.append(chunk)
        return self._text.since(before)

    def _joined(self, chunk: str) -> str:
        """Halves of characters are joined across chunks; single ones cannot be written."""
        chunk = self._carry + chunk
        self._carry = ""
        if chunk.isascii():
            return chunk
        if "\ud800" <= chunk[-1] <= "\udbff":
            self._carry, chunk = chunk[-1], chunk[:-1]
        return chunk.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _write(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._at_line_start = text.endswith("\n")


class JsonOutput:
    """One object at the end."""

    shows_history = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._narrator = Narrator()

    def see(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Only stderr tells of the way."""
        self._narrator.see(events, changes)

    def flush(self) -> None:
        """Nothing is held back."""

    def end(self, result: dict[str, Any]) -> None:
        """Print the object."""
        print(as_json(result, self._stream, indent=2), file=self._stream, flush=True)


class NdjsonOutput:
    """One event a line while it runs; the last line is the result."""

    shows_history = True

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def see(self, record: Record, events: Sequence[Event], _changes: Sequence[Change]) -> None:
        """A line for each event."""
        for event in events:
            self._stream.write(as_json({"at": record.at, **to_record(event)}, self._stream) + "\n")

    def flush(self) -> None:
        """Bring out what is held back."""
        self._stream.flush()

    def end(self, result: dict[str, Any]) -> None:
        """The last line."""
        print(as_json({"event": "result", **result}, self._stream), file=self._stream, flush=True)


def as_json(value: Any, stream: TextIO, *, indent: int | None = None) -> str:
    """JSON that is safe to print; only ASCII on a terminal."""
    return json_text(value, ascii_only=stream.isatty(), indent=indent)


Output = TextOutput | JsonOutput | NdjsonOutput
OUTPUTS: dict[str, type[Output]] = {
    "text": TextOutput,
    "json": JsonOutput,
    "ndjson": NdjsonOutput,
}
