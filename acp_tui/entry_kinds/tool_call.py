"""The entry kind for tool calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from acp_tui.entry_kinds.blocks import (
    Block,
    Code,
    ContentBlock,
    DiffBlock,
    FileList,
    FoldBlock,
    Headline,
    Part,
)
from acp_tui.entry_kinds.plain_text import indented, part_lines, raw_lines
from acp_tui.entry_kinds.terminal import output_text, terminal_lines, terminal_part
from acp_tui.entry_labels import (
    KIND_ICONS,
    OTHER_ICON,
    call_command,
    call_title,
    file_change,
    repeats_raw_input,
    shows_terminal,
)
from acp_tui.session.diff_position import first_line
from acp_tui.session.safe_text import escape_controls, escape_invisible_line, escape_line, visible_json
from acp_tui.session.state import (
    Content,
    Diff,
    Location,
    Session,
    Terminal,
    TerminalRef,
    ToolCall,
    ToolContent,
)
from acp_tui.text_format import MIN_SECONDS, format_duration, relative_path

if TYPE_CHECKING:
    from acp_tui.entry_kinds.kind import TextContext

UNFOLDED_KINDS = ("edit", "delete", "move", "execute")
"""The kinds of tool calls that start unfolded, because such calls change or run something."""
MAX_PROGRESS_COMMAND = 200
"""The maximum number of characters of a command in what `acp-tui exec` prints."""
_CHANGING_KINDS = ("edit", "delete", "move")
ShownContent = Content | Diff | Terminal
STATUS_WORDS = {"completed": "done", "failed": "failed", "cancelled": "cancelled", "unfinished": "left open"}


def starts_folded(call: ToolCall) -> bool:
    """Return True unless a call failed, has a diff or a terminal, or is of a kind that starts unfolded."""
    if call.status == "failed" or call.kind in UNFOLDED_KINDS:
        return False
    return not any(isinstance(item, (Diff, TerminalRef)) for item in call.content)


def has_failed(call: ToolCall) -> bool:
    return call.status == "failed"


def estimated_height(call: ToolCall, _width: int) -> int:
    # Calls that only read, search or think usually start folded to one row.
    return 1 if call.kind in ("read", "search", "think") else 8


def progress(call: ToolCall) -> str:
    """Return a call's title and, once the call has ended, the status."""
    title = progress_title(call)
    status = STATUS_WORDS.get(call.status)
    return f"{title}: {status}" if title and status else title


def progress_title(call: ToolCall) -> str:
    """Return the title of a call, and its command if the title does not name it."""
    title = escape_invisible_line(call_title(call, ""))
    command = escape_invisible_line(call.command or "").strip()
    if not command or command in title:
        return title
    shown = command if len(command) <= MAX_PROGRESS_COMMAND else f"{command[:MAX_PROGRESS_COMMAND]}…"
    return f"{title}: {shown}"


# --------------------------------------------------------------------------- texts


def plain_text(call: ToolCall, context: TextContext) -> Iterator[str]:
    """Yield a call as plain text: its title, its files, and its content or else its raw input and output."""
    kind = f", {call.kind}" if call.kind_given else ""
    code = f", exit code {call.exit_code}" if call.exit_code and not shows_terminal(call) else ""
    yield f"* {call_title(call, context.cwd)} ({call.status}{kind}{code})"
    for place in call.locations:
        yield f"  at {place.path}" + (f":{place.line}" if place.line is not None else "")
    for item in call.content:
        yield from indented(_item_lines(item, call, context))
    if not call.content:
        for label, value in (("input", call.raw_input), ("output", call.raw_output)):
            if value is not None:
                yield f"  {label}:"
                yield from indented(raw_lines(value))


def _item_lines(item: ToolContent, call: ToolCall, context: TextContext) -> Iterable[str]:
    if isinstance(item, TerminalRef):
        terminal = context.session.terminals.get(item.terminal_id)
        return terminal_lines(terminal, context) if terminal else [f"[terminal {item.terminal_id}, unknown]"]
    if isinstance(item, Diff):
        return part_lines(DiffBlock(item, item.path, first_line(call, item)))
    return part_lines(ContentBlock(item))


def search_text(call: ToolCall, session: Session) -> Iterator[str]:
    yield call.title
    if call.command is not None and call.command not in call.title:
        yield call.command
    yield from call.paths
    for item in call.content:
        match item:
            case Content():
                yield item.text
            case Diff():
                yield from (item.path, item.old or "", item.new or "", item.patch or "")
            case TerminalRef() if (terminal := session.terminals.get(item.terminal_id)) is not None:
                yield from output_text(terminal)


# --------------------------------------------------------------------------- exports


def blocks(call: ToolCall, context: TextContext) -> Iterable[Block]:
    headline = Headline(
        call_title(call, context.cwd),
        KIND_ICONS.get(call.kind, OTHER_ICON),
        is_command=call.kind == "execute",
        facts=_facts(call),
        status=call.status,
        changed_lines=_changed_lines(call),
    )
    return [FoldBlock(headline, [*_parts(call, context)], starts_folded(call))]


def _facts(call: ToolCall) -> list[str]:
    seconds = call.ended_at - call.began if call.ended_at is not None else 0
    facts = [f"exit code {call.exit_code}"] if call.exit_code and not shows_terminal(call) else []
    return [*facts, format_duration(seconds)] if seconds > MIN_SECONDS else facts


def _changed_lines(call: ToolCall) -> tuple[int, int]:
    from acp_tui.diffing.patch import diff_lines

    lines = [line for item in call.content if isinstance(item, Diff) for line in diff_lines(item)]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def _parts(call: ToolCall, context: TextContext) -> Iterator[Part]:
    """Yield the parts of a call for an export. Raw input and output are only used if no content is shown."""
    if locations := other_locations(call, context.cwd):
        yield FileList([location_label(place, context.cwd) for place in locations])
    command = call_command(call) if call.kind == "execute" else ""
    terminals = {item.terminal_id for item in call.content if isinstance(item, TerminalRef)}
    title = call_title(call, context.cwd)
    if command and escape_line(command) != title and not terminals & context.session.terminals.keys():
        yield Code(command, "sh")
    shown = [*shown_content(call, context.session)]
    yield from (_part(item, call, context) for item in shown)
    if not shown:
        for label, value in raw_values(call):
            yield Code(escape_controls(value) if isinstance(value, str) else visible_json(value), label=label)


def _part(item: ShownContent, call: ToolCall, context: TextContext) -> Part:
    if isinstance(item, Diff):
        change = file_change(item, call.kind)
        label = f"{relative_path(item.path, context.cwd)}{f' ({change})' if change else ''}"
        return DiffBlock(item, label, first_line(call, item))
    if isinstance(item, Terminal):
        return terminal_part(item, context.cwd)
    return ContentBlock(item, verbatim=True)


# --------------------------------------------------------------------------- content that is shown


def shown_content(call: ToolCall, session: Session) -> Iterator[ShownContent]:
    """Yield the content of a call, without unknown terminals, blank texts and copies of the raw input."""
    for item in call.content:
        if isinstance(item, TerminalRef):
            if (terminal := session.terminals.get(item.terminal_id)) is not None:
                yield terminal
        elif isinstance(item, Diff) or item.kind != "text" or _adds_text(item, call):
            yield item


def _adds_text(item: Content, call: ToolCall) -> bool:
    return bool(item.text.strip()) and not repeats_raw_input(item, call)


def raw_values(call: ToolCall) -> Iterator[tuple[Literal["input", "output"], Any]]:
    """Yield a call's raw input and output, which are shown only if the call has no other content.

    Each value is preceded by its name. Empty values are left out. An input that is a command is also left
    out, because commands are shown anyway.
    """
    empty: tuple[object, ...] = (None, {}, "")
    if call.raw_input not in empty and not (call.kind == "execute" and call_command(call)):
        yield "input", call.raw_input
    if call.raw_output not in empty:
        yield "output", call.raw_output


# --------------------------------------------------------------------------- files


def other_locations(call: ToolCall, cwd: str) -> list[Location]:
    """Return a call's locations, except `cwd` and files that the title or one of the diffs already names."""
    known = {item.path for item in call.content if isinstance(item, Diff)}
    known.add(cwd)  # the directory of a command is not a file that it touches
    return [
        place
        for place in call.locations
        if place.path not in known and not title_names(call, place.path, cwd)
    ]


def title_names(call: ToolCall, path: str, cwd: str) -> bool:
    """Return True if the call's title contains the file name or, for a file outside `cwd`, the full path."""
    inside = not cwd or relative_path(path, cwd) != path or not path.startswith("/")
    title = call_title(call, cwd)
    return path in title or (inside and path.rstrip("/").rpartition("/")[2] in title)


def location_label(location: Location, cwd: str) -> str:
    """Return `path:line`, or only the path if no line is known. Paths in `cwd` are made relative to it."""
    line = f":{location.line}" if location.line is not None else ""
    return f"{relative_path(location.path, cwd)}{line}"


# --------------------------------------------------------------------------- actions


def code(call: ToolCall) -> list[str]:
    """Return the code to copy: the new texts of the changed files, or else the call's command."""
    texts = [item.new for item in call.content if isinstance(item, Diff) and item.new]
    command = call.raw_input.get("command") if isinstance(call.raw_input, dict) else None
    return texts or ([command] if isinstance(command, str) else [])


def location(call: ToolCall) -> tuple[str, int | None] | None:
    """Return the path and, if known, the line of the first file of a call."""
    for place in call.locations:
        return place.path, place.line
    return next(((item.path, None) for item in call.content if isinstance(item, Diff)), None)


def changed_paths(call: ToolCall) -> Iterator[str]:
    """Yield the paths of the files that a completed call changed."""
    if call.status == "completed":
        yield from (item.path for item in call.content if isinstance(item, Diff))
        if call.kind in _CHANGING_KINDS:
            yield from (place.path for place in call.locations)
