"""Show a session as plain text, for pipes, pagers and bug reports."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import TYPE_CHECKING

from acp_tui.diffing.diff_text import diff_lines
from acp_tui.entry_display import call_title, shows_terminal, terminal_command
from acp_tui.session import state
from acp_tui.session.diff_lines import first_line
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.text import GrowingText, visible, visible_json
from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TERMINAL_LINES = 40
"""Maximum number of output lines shown per terminal, counted from the end."""

_STEPS = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}
_LEVELS = {"info": "-", "warning": "!", "error": "!!"}


def transcript_lines(session: state.Session, *, thoughts: bool = False) -> Iterator[str]:
    """Yield the lines of the transcript, safe for a terminal.

    Thoughts are shown as a line count unless `thoughts` is true.
    """
    text = _Text(session, thoughts)
    for entry in session.entries:
        try:
            lines = list(text.lines(entry))
        except Exception as error:  # one entry must not cost the rest
            lines = [failure_note(entry, error), *_indented(raw_text(entry).split("\n"))]
        if lines:
            # Make every line safe here, including the ones that come from `raw_*` fields.
            yield from (visible(line) for line in [*_marks(entry), *lines, ""])


class _Text:
    """Renders the entries of one session as lines."""

    def __init__(self, session: state.Session, thoughts: bool) -> None:
        self.session = session
        self.thoughts = thoughts
        self.shown_by_calls = {
            part.terminal_id
            for call in session.tool_calls.values()
            for part in call.content
            if isinstance(part, state.TerminalRef)
        }

    @singledispatchmethod
    def lines(self, entry: state.Entry) -> Iterable[str]:
        """Return the lines of one entry."""
        raise TypeError(f"no text for {type(entry).__name__}")

    @lines.register(state.UserMessage)
    def _(self, entry: state.UserMessage) -> Iterable[str]:
        return _indented(_message(entry), "> ")

    @lines.register(state.AgentMessage)
    def _(self, entry: state.AgentMessage) -> Iterable[str]:
        return _message(entry)

    @lines.register(state.Thought)
    def _(self, entry: state.Thought) -> Iterable[str]:
        lines = _message(entry)
        if self.thoughts or not lines:
            return _indented(lines, ". ")
        return [f". thought, {_count(lines, 'line')}"]

    @lines.register(state.ToolCall)
    def _(self, entry: state.ToolCall) -> Iterable[str]:
        kind = f", {entry.kind}" if entry.kind_given else ""
        code = f", exit code {entry.exit_code}" if entry.exit_code and not shows_terminal(entry) else ""
        title = call_title(entry, self.session.cwd or "")
        yield f"* {title} ({entry.status}{kind}{code})"
        for place in entry.locations:
            yield f"  at {place.path}" + (f":{place.line}" if place.line is not None else "")
        for part in entry.content:
            yield from _indented(self._tool_content(part, entry))
        if not entry.content:
            for label, value in (("input", entry.raw_input), ("output", entry.raw_output)):
                if value is not None:
                    yield f"  {label}:"
                    yield from _indented(_raw(value))

    @lines.register(state.Plan)
    def _(self, entry: state.Plan) -> Iterable[str]:
        if entry.removed:
            return ["Plan removed"]
        lines = [f"  {_STEPS.get(item.status, f'[{item.status}]')} {item.content}" for item in entry.items]
        lines += _indented((entry.markdown or "").splitlines(), "  ")
        lines += [f"  {entry.uri}"] if entry.uri else []
        return ["Plan", *lines] if lines else ["Plan cleared"]

    @lines.register(state.Permission)
    def _(self, entry: state.Permission) -> Iterable[str]:
        call = self.session.tool_calls.get(entry.call_id)
        yield f"? Permission: {(call and call.title) or entry.call_id}: {self._outcome(entry)}"
        if entry.why:
            yield f"  {entry.why}"

    @staticmethod
    def _outcome(entry: state.Permission) -> str:
        options = ", ".join(option.name for option in entry.options)
        if entry.outcome is None:
            waits = "not answered" if entry.answerable else "cannot be answered: the request has no id"
            return f"{waits} (offered: {options})"
        answer = f"{entry.option.name} ({entry.option.kind})" if entry.option else entry.outcome
        return f"{answer}, by {entry.by}" if entry.by else answer

    @lines.register(state.Elicitation)
    def _(self, entry: state.Elicitation) -> Iterable[str]:
        outcome = entry.outcome or "not answered"
        yield from f"? Question ({entry.mode}): {entry.message}".splitlines()
        if entry.url:
            yield f"  {entry.url}"
        yield f"  {outcome}" + (" and finished" if entry.completed else "")

    @lines.register(state.Terminal)
    def _(self, entry: state.Terminal) -> Iterable[str]:
        return [] if entry.terminal_id in self.shown_by_calls else self._terminal(entry)

    @lines.register(state.Notice)
    def _(self, entry: state.Notice) -> Iterable[str]:
        yield from f"{_LEVELS.get(entry.level, '-')} {entry.text}".splitlines()
        yield from _indented((entry.detail or "").splitlines())

    @lines.register(state.TurnEnd)
    def _(self, entry: state.TurnEnd) -> Iterable[str]:
        empty = ": no answer" if entry.empty else ""
        if entry.error is None:
            return [f"-- {entry.stop_reason}{empty} --"]
        first = f"!! The turn failed: {entry.error.message} ({entry.error.code}){empty}"
        return [*first.splitlines(), *_indented((entry.error.detail or "").splitlines())]

    @lines.register(state.Compaction)
    def _(self, entry: state.Compaction) -> Iterable[str]:
        yield f"- The agent compacted its context ({entry.status})"
        yield from _indented([*str(entry.summary).splitlines(), *(entry.error or "").splitlines()])

    @lines.register(state.Unrecognised)
    def _(self, entry: state.Unrecognised) -> Iterable[str]:
        return [f"- Not recognised: {entry.what}", *_indented(_raw(entry.raw))]

    def _tool_content(self, part: state.ToolContent, call: state.ToolCall) -> Iterable[str]:
        if isinstance(part, state.Diff):
            return [part.path, *diff_lines(part, first_line(call, part))]
        if isinstance(part, state.TerminalRef):
            terminal = self.session.terminals.get(part.terminal_id)
            return self._terminal(terminal) if terminal else [f"[terminal {part.terminal_id}, unknown]"]
        if part.for_assistant_only:
            return [f"[for the agent only: {_count(part.text.splitlines(), 'line')}]"]
        return _content(part)

    def _terminal(self, entry: state.Terminal) -> Iterator[str]:
        command = terminal_command(entry, self.session.cwd or "")
        first = f"$ {command}" if command else f"[terminal {entry.terminal_id}]"
        yield first + (f"  (in {entry.cwd})" if entry.cwd else "")
        model = TerminalEmulator(styles=False)
        model.feed(entry.output.tail or entry.output.head)
        lines = model.text().rstrip("\n").splitlines()
        if entry.output.tail or len(lines) > TERMINAL_LINES:
            yield f"… last {min(len(lines), TERMINAL_LINES)} lines:"
        yield from lines[-TERMINAL_LINES:]
        if entry.signal:
            yield f"[ended by {entry.signal}]"
        elif entry.exit_code is not None:
            yield f"[exit code {entry.exit_code}]"


# --------------------------------------------------------------------------- helpers


def _message(entry: state.Message) -> Sequence[str]:
    pieces: list[str] = []
    for part in entry.parts:
        hidden = isinstance(part, state.AnnotatedText | state.Content) and part.for_assistant_only
        text = str(part) if isinstance(part, GrowingText) else "\n".join(_content(part))
        if hidden:
            text = f"[for the agent only: {_count(text.splitlines(), 'line')}]"
        other = isinstance(part, state.Content) and part.kind != "text"
        pieces.append(f"\n{text}\n" if hidden or other else text)
    return "".join(pieces).strip("\n").splitlines()


def _content(content: state.Content) -> Iterator[str]:
    """Show a text block in full; describe any other content block."""
    if content.kind == "text":
        yield from content.text.splitlines()
        return
    facts = [content.name or content.title, content.uri, content.mime, content.description]
    if content.data is not None:
        facts.append(f"{len(content.data.rstrip('=')) * 3 // 4} bytes")
    elif content.size is not None:
        facts.append(f"{content.size} bytes")
    yield f"[{content.kind}: {', '.join(fact for fact in facts if fact)}]"
    yield from _indented(content.text.splitlines())
    if content.raw is not None:
        yield from _indented(_raw(content.raw))


def _raw(value: object) -> list[str]:
    text = visible(value) if isinstance(value, str) else visible_json(value)
    return text.splitlines()


def _count(things: Sequence[str], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def _marks(entry: state.Entry) -> Iterator[str]:
    if entry.withdrawn:
        yield "~ no longer in the agent's context:"
    if entry.stray:
        yield "~ outside a turn:"


def _indented(lines: Iterable[str], indent: str = "    ") -> Iterator[str]:
    return (f"{indent}{line}" if line else indent.rstrip() for line in lines)
