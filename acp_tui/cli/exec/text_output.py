"""Prints the output of `exec`: the answer on stdout, progress on stderr."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from acp_tui.console.quantities import pluralize
from acp_tui.entry_kinds.registry import kind_of
from acp_tui.entry_kinds.tool_call import progress_title
from acp_tui.protocol.client_records import to_record
from acp_tui.session.change import innermost
from acp_tui.session.decision_text import decision_text
from acp_tui.session.events import AgentExited, Decided, PromptSent, TextChunk
from acp_tui.session.state import AgentMessage, TurnEnd
from acp_tui.session.text.growing_text import GrowingText
from acp_tui.session.text.safe_text import json_text, visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import Session

MAX_CHANGED_FILES = 30
"""The maximum number of changed files to list; a build may change thousands."""


MAX_GREETING = 500
"""The maximum number of characters to print of what the agent says before the prompt."""


class ProgressPrinter:
    """Prints progress on stderr.

    Before each line, `break_line` is called to end an unfinished line on stdout.
    """

    def __init__(self, session: Session, break_line: Callable[[], None] = lambda: None) -> None:
        self._session = session
        self._break_line = break_line
        self._printed: dict[int, str] = {}  # last line of each entry, by id
        self.is_prompted = False
        """True once the prompt was sent: what the agent says from then on is the answer."""
        self._greeting = ""  # what the agent said before

    def take_greeting(self, events: Sequence[Event]) -> None:
        """Collect what the agent says before the prompt, and print it when the prompt is sent."""
        for event in events:
            if isinstance(event, PromptSent):
                self.is_prompted = True
                self.print_greeting()
            elif not self.is_prompted and isinstance(event, TextChunk) and event.speaker == "agent":
                self._greeting += event.text

    def print_greeting(self) -> None:
        """Print what the agent said before the prompt, if anything."""
        greeting, self._greeting = " ".join(self._greeting.split()), ""
        if greeting:
            self._print(f"before the prompt: {greeting[:MAX_GREETING]}")

    def print_progress(self, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Print decisions, tool calls, notices and plan progress."""
        agent_gone = any(isinstance(event, AgentExited) for event in events)
        for event in events:
            if isinstance(event, Decided) and event.by != "covered":  # the earlier decision was printed
                self._print(decision_text(event, event.subject or "") + self._unnamed_actions(event))
        for change in changes:
            if change.kind == "subagent":
                self._print_warning(innermost(change))
            if change.entry is None:
                continue
            kind = kind_of(change.entry)
            # When the agent exits, the failure that follows says why. A new entry would only repeat that.
            if kind.progress_updates or (change.kind == "added" and not agent_gone):
                self._print_once(change.entry.id, kind.progress(change.entry))

    def print_changed_files(self, files: list[dict[str, Any]], cwd: str) -> None:
        """Print the changed files."""
        for file in files[:MAX_CHANGED_FILES]:
            path = PurePath(file["path"])
            name = path.relative_to(cwd) if path.is_relative_to(cwd) else path
            self._print(f"{file['change']}: {name}{'' if file['canBeReverted'] else ' (cannot be reverted)'}")
        if len(files) > MAX_CHANGED_FILES:
            self._print(f"and {pluralize(len(files) - MAX_CHANGED_FILES, 'more file')} changed")

    def print_end(self, result: dict[str, Any]) -> None:
        """Print what the agent said if the prompt was never sent, and whether a turn ended without text."""
        self.print_greeting()
        end = next((entry for entry in reversed(self._session.entries) if isinstance(entry, TurnEnd)), None)
        is_silent = result["stopReason"] == "end_turn" and not result["text"] and "error" not in result
        if is_silent and not (end is not None and end.unfinished):  # its own line says so
            self._print("the agent ended the turn without text")

    def _unnamed_actions(self, event: Decided) -> str:
        """Return the calls in progress, for a request that names neither a command nor a file itself."""
        request = self._session.permissions.get(event.request_id)
        asked = None if request is None else self._session.tool_calls.get(request.call_id)
        if asked is None or asked.command or asked.paths or asked.mcp_tool is not None or asked.content:
            return ""
        calls = self._session.reducer_state.open_calls.values()
        named = [progress_title(call) for call in calls if call is not asked]
        return f" [in progress: {'; '.join(named)}]" if named else ""

    def _print_warning(self, change: Change) -> None:
        """Print a change in the session of a subagent, if it is a fault in what the agent sent."""
        entry = change.entry
        if change.kind == "added" and entry is not None and kind_of(entry).warning(entry) is not None:
            self._print(kind_of(entry).progress(entry) or "")

    def _print_once(self, entry_id: int, line: str | None) -> None:
        if line and self._printed.get(entry_id) != line:
            self._printed[entry_id] = line
            self._print(line)

    def _print(self, text: str) -> None:
        self._break_line()
        print(f"· {visible_line(text)}", file=sys.stderr, flush=True)


def is_same_file(one: TextIO, other: TextIO) -> bool:
    """Return True if two streams are the same file or pipe, as after `2>&1`."""
    try:
        return os.path.sameopenfile(one.fileno(), other.fileno())
    except (OSError, ValueError):  # one of them has no file descriptor
        return False


class TextOutput:
    """Prints the answer. Control characters are replaced if stdout is a terminal."""

    shows_history = False

    def __init__(self, stream: TextIO, session: Session) -> None:
        self._stream = stream
        self._progress = ProgressPrinter(session, self.break_line)
        self._is_terminal = stream.isatty()
        self._is_mixed = self._is_terminal or is_same_file(stream, sys.stderr)
        self._text = GrowingText()
        self._carry = ""  # first half of a surrogate pair at the end of a chunk
        self._at_line_start = True
        self._started = False

    def print_record(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Print new text of the answer, with a blank line between messages. Progress goes to stderr."""
        self._progress.take_greeting(events)
        if self._started and any(
            change.kind == "added" and isinstance(change.entry, AgentMessage) for change in changes
        ):
            self._write("\n\n" if not self._at_line_start else "\n")
        for event in events:
            if not (isinstance(event, TextChunk) and event.speaker == "agent"):
                continue
            if self._progress.is_prompted and event.text:
                self._write(
                    self._sanitize(event.text) if self._is_terminal else self._join_surrogates(event.text)
                )
                self._started = True
        self._print_progress(events, changes)

    def _print_progress(self, events: Sequence[Event], changes: Sequence[Change]) -> None:
        if len(changes) == 1 and isinstance(changes[0].entry, AgentMessage):
            return  # fast path: the text is on stdout already
        self.flush()
        self._progress.print_progress(events, changes)

    def flush(self) -> None:
        self._stream.flush()

    def break_line(self) -> None:
        """End an unfinished line of the answer before something is printed to stderr.

        Only if both go to a terminal, or to the same file or pipe: elsewhere the answer stays as it is.
        """
        if self._is_mixed and not self._at_line_start:
            self._write("\n")
            self.flush()

    def end(self, result: dict[str, Any]) -> None:
        """End the last line of the answer, and print the changed files."""
        if self._started and not self._at_line_start:
            self._write("\n")
        self.flush()
        self._progress.print_end(result)
        self._progress.print_changed_files(result["changedFiles"] or [], result["cwd"])

    def _sanitize(self, chunk: str) -> str:
        before = self._text.length
        self._text.append(chunk)
        return self._text.since(before)

    def _join_surrogates(self, chunk: str) -> str:
        """Join surrogate pairs across chunks. Replace lone surrogates, which cannot be encoded."""
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
    """Prints one JSON object at the end."""

    shows_history = False

    def __init__(self, stream: TextIO, session: Session) -> None:
        self._stream = stream
        self._progress = ProgressPrinter(session)

    def print_record(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Print progress on stderr."""
        self._progress.take_greeting(events)
        self._progress.print_progress(events, changes)

    def flush(self) -> None:
        """Do nothing: there is no buffered output."""

    def end(self, result: dict[str, Any]) -> None:
        self._progress.print_end(result)
        print(as_json(result, self._stream, indent=2), file=self._stream, flush=True)


class NdjsonOutput:
    """Prints one JSON event per line; the last line is the result."""

    shows_history = True

    def __init__(self, stream: TextIO, _session: Session) -> None:
        self._stream = stream

    def print_record(self, record: Record, events: Sequence[Event], _changes: Sequence[Change]) -> None:
        """Print the events of one record."""
        for event in events:
            self._stream.write(as_json({"at": record.at, **to_record(event)}, self._stream) + "\n")

    def flush(self) -> None:
        self._stream.flush()

    def end(self, result: dict[str, Any]) -> None:
        """Print the result as the last line."""
        print(as_json({"event": "result", **result}, self._stream), file=self._stream, flush=True)


def as_json(value: Any, stream: TextIO, *, indent: int | None = None) -> str:
    """Return the value as JSON. If the stream is a terminal, all non-ASCII characters are escaped."""
    return json_text(value, ascii_only=stream.isatty(), indent=indent)


Output = TextOutput | JsonOutput | NdjsonOutput
OUTPUTS: dict[str, type[Output]] = {
    "text": TextOutput,
    "json": JsonOutput,
    "ndjson": NdjsonOutput,
}
