"""Runs one prompt without a screen, and prints the answer as text or JSON."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from acp_tui.cli.headless import HeadlessRun
from acp_tui.cli.options import CANCELLED, FAILED, OK, OTHER_STOP
from acp_tui.console import content_stream, pluralize, print_message
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.entry_kinds.tool_call import progress_title
from acp_tui.errors import UserError
from acp_tui.protocol.client_records import to_record
from acp_tui.session.events import AgentExited, Decided, Event, Noticed, PromptSent, TextChunk
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.record import Change, Record, innermost
from acp_tui.session.reduce.requests import decision_text
from acp_tui.session.safe_text import escape_line, json_text
from acp_tui.session.state import AgentMessage, Entry, RpcError, Session, ToolCall, TurnEnd, Usage

if TYPE_CHECKING:
    import argparse

    from acp_tui.controller import Conversation

MAX_CHANGED_FILES = 30
"""The maximum number of changed files to list; a build may change thousands."""
MAX_GREETING = 500
"""The maximum number of characters to print of what the agent says before the prompt."""
MAX_STDERR_LINES = 10
"""The maximum number of lines of the agent's stderr to print after a failure."""
QUIET_SECONDS = 0.15
"""Seconds without a message before the prompt is sent: some agents greet right after the session is open."""
FLUSH_SECONDS = 0.05
"""Seconds between flushes of the output."""


class RunLog:
    """Collects the permission decisions of a run, and the faults in what the agent sent."""

    def __init__(self) -> None:
        self.decisions: list[dict[str, Any]] = []
        self._faulty: dict[int, Entry] = {}

    @property
    def warnings(self) -> list[dict[str, str]]:
        """The faults in what the agent sent, such as messages of an unknown kind and refused requests."""
        found = (kind_of(entry).warning(entry) for entry in self._faulty.values())
        return [{"text": warning[0], "detail": warning[1]} for warning in found if warning is not None]

    def add(self, events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Record the decisions among the events, and the warnings among the changed entries."""
        for event in events:
            self._add_decision(event)
        for change in changes:
            entry = innermost(change).entry
            if entry is not None and kind_of(entry).warning(entry) is not None:
                self._faulty[id(entry)] = entry

    def _add_decision(self, event: Event) -> None:
        if isinstance(event, Decided):
            outcome = {True: "allowed", False: "rejected", None: "cancelled"}[event.allowed]
            self.decisions.append(
                {"asked": event.subject, "outcome": outcome, "by": event.by, "why": event.why}
            )


async def build_result(conversation: Conversation, run_log: RunLog, failure: str | None) -> dict[str, Any]:
    session = conversation.session
    agent = session.agent
    result: dict[str, Any] = {
        "agent": {"name": agent.name, "title": agent.title, "version": agent.version} if agent else None,
        "cwd": str(conversation.cwd),
        "sessionId": session.session_id,
        "stopReason": session.stop_reason,
        "text": answer_text(session),
        "toolCalls": [
            _tool_call(entry) for entry in session.entries if isinstance(entry, ToolCall) and not entry.served
        ],
        "permissions": run_log.decisions,
        "warnings": run_log.warnings,
        "changedFiles": await _changed_files(conversation),
        "usage": _usage(session.usage),
        "log": conversation.log_path,
    }
    if failure is not None:
        result["error"] = {"message": failure, **_error(session.last_error)}
    return result


async def _changed_files(conversation: Conversation) -> list[dict[str, Any]] | None:
    """Return the changed files.

    If they cannot be determined, add a warning to the conversation and return None.
    """
    try:
        changes = await conversation.changes()
    except UserError as error:
        conversation.note(Noticed("warning", str(error)))
        return None
    return [
        {"path": str(change.path), "change": change.kind, "canBeReverted": change.revertable}
        for change in changes
    ]


def answer_text(session: Session) -> str:
    """Return the agent's messages of the last turn, separated by blank lines."""
    messages = [
        entry.text
        for entry in session.entries
        if isinstance(entry, AgentMessage) and entry.turn == session.turn and entry.text.strip()
    ]
    return "\n\n".join(messages)


def _tool_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.call_id,
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "locations": [{"path": place.path, "line": place.line} for place in call.locations],
    }


def _usage(usage: Usage) -> dict[str, Any]:
    cost = usage.cost
    return {
        "used": usage.used,
        "size": usage.size,
        "cost": {"amount": cost.amount, "currency": cost.currency} if cost else None,
        "tokens": usage.tokens,
    }


def _error(error: RpcError | None) -> dict[str, Any]:
    return {} if error is None else {"code": error.code, "detail": error.detail}


class ProgressPrinter:
    """Prints progress on stderr.

    Before each line, `break_line` is called to end an unfinished line on stdout.
    """

    def __init__(
        self, session: Session, break_line: Callable[[], None] = lambda: None, prefix: str = ""
    ) -> None:
        """`prefix` is printed at the beginning of each line."""
        self._session = session
        self._break_line = break_line
        self._prefix = prefix
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
        print(f"· {escape_line(self._prefix + text)}", file=sys.stderr, flush=True)


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

    def __init__(self, stream: TextIO, session: Session, prefix: str = "") -> None:
        self._stream = stream
        self._progress = ProgressPrinter(session, prefix=prefix)

    def print_record(self, _record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
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


async def execute(args: argparse.Namespace, agent: str | None, prompt: str) -> int:
    """Run one prompt and return the exit code."""
    headless = HeadlessRun(args, agent)
    conversation = headless.conversation
    output = OUTPUTS[args.output](content_stream(), conversation.session)
    run_log = RunLog()
    listener = OutputListener(output, run_log, headless)
    conversation.listen(listener)
    headless.before_message = listener.break_line

    async def end() -> None:
        failure = headless.failure
        if failure is not None:
            listener.flush()
            listener.break_line()
            print_message(failure, headless.stderr_tail[-MAX_STDERR_LINES:])
        listener.end(await build_result(conversation, run_log, failure))
        if headless.failure is not None and failure is None:  # printing itself failed
            print_message(headless.failure)

    try:
        await headless.run(run_turn(headless, prompt))
        if headless.stopped_by != signal.SIGPIPE:
            await headless.finish(end())
    finally:
        await headless.close()
    if headless.stopped_by is not None:
        return CANCELLED if headless.stopped_by == signal.SIGINT else 128 + headless.stopped_by
    if headless.failure is not None:
        return FAILED
    if args.strict and (warnings := len(run_log.warnings)):
        print_message(
            f"Failed because of {pluralize(warnings, 'warning')} about what the agent sent (--strict)."
        )
        return FAILED
    return OK if conversation.session.stop_reason == "end_turn" else OTHER_STOP


async def run_turn(headless: HeadlessRun, prompt: str) -> None:
    """Start the agent, open the session and send the prompt."""
    conversation = headless.conversation
    await conversation.start()
    await headless.open()
    await headless.apply_options()
    await headless.wait_until_quiet(QUIET_SECONDS)
    await conversation.prompt([{"type": "text", "text": prompt}])


class OutputListener:
    """Prints the events of a run, and flushes the output at intervals rather than per chunk."""

    def __init__(self, output: Output, run_log: RunLog, headless: HeadlessRun) -> None:
        self._output = output
        self._run_log = run_log
        self._headless = headless
        self._flush_timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def __call__(self, record: Record, events: Sequence[Event], changes: Sequence[Change]) -> None:
        self._run_log.add(events, changes)
        history = self._headless.conversation.session.replaying
        if self._stopped or (history and not self._output.shows_history):
            return
        self._print(self._output.print_record, record, events, changes)
        if self._flush_timer is None:
            self._flush_timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        self._flush_timer = None
        if not self._stopped:
            self._print(self._output.flush)

    def break_line(self) -> None:
        """On a terminal, end an unfinished line of the answer."""
        if isinstance(self._output, TextOutput) and not self._stopped:
            self._print(self._output.break_line)

    def end(self, result: dict[str, Any]) -> None:
        """Print the result. Nothing is printed after it."""
        self._stopped = True
        self._print(self._output.end, result)

    def _print(self, call: Callable[..., None], *args: Any) -> None:
        self._headless.printing = True
        try:
            call(*args)
        except OSError as error:
            self._stopped = True
            self._headless.handle_output_error(error)
        finally:
            self._headless.printing = False
