"""Content of the permission dialog: everything the user should know before answering.

Texts from the agent and from files are escaped and never treated as Textual markup.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual.strip import Strip

from acp_tui.entry_labels import call_title, file_change, repeats_raw_input
from acp_tui.permissions.rules import describe_choice
from acp_tui.session.diff_position import first_line
from acp_tui.session.safe_text import (
    escape_controls,
    escape_invisible,
    escape_invisible_line,
    invisible_characters,
    visible_json,
)
from acp_tui.session.state import Content, Diff, Session, ToolCall
from acp_tui.ui.drawing.body import Body, DrawContext, LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines, limit_lines, wrapped_lines
from acp_tui.ui.drawing.wrap import hard_wrap, shorten
from acp_tui.ui.entries.renderers import GuardedBody
from acp_tui.ui.widgets.body_scroller import LongText

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.controller.user_questions import Question


LABEL_WIDTH = 13
"""The width, in cells, of the column with the labels of the request's details."""
MAX_COMMAND, MAX_COMMAND_END = 16_000, 4_000
"""The number of characters shown of the beginning and of the end of a long command."""
MAX_RAW = 100_000
"""The maximum number of characters of raw input shown."""
TITLE_LINES = 2
"""The maximum number of lines of the title at the top. A longer one is cut, and shown in full below."""
_KINDS = {
    "read": "read a file",
    "edit": "change a file",
    "delete": "delete a file",
    "move": "move a file",
    "search": "search",
    "execute": "run a command",
    "think": "think",
    "fetch": "use the network",
    "switch_mode": "change its mode",
    "mcp": "use a tool of an MCP server",
}
_SEVERAL = {
    "read": "read files",
    "edit": "change files",
    "delete": "delete files",
    "move": "move files",
}
_PART_SIGNS = {"allow": ("✓", "success"), "reject": ("✗", "error"), "ask": ("?", "warning")}
"""The sign and the style for a part of a composite command: allowed, rejected, or to be asked about."""


@dataclass(frozen=True, slots=True)
class QuestionContent:
    """The content of the dialog: `facts` must be on the screen before the question can be answered."""

    facts: list[Body]
    details: list[Body]
    """What may stay below the visible part, such as the lines of diffs."""
    raw_input: Body | None = None
    """The first of these bodies that shows the raw input."""

    @property
    def bodies(self) -> list[Body]:
        """All bodies, from top to bottom."""
        return [*self.facts, *self.details]


def question_content(question: Question, context: DrawContext, *, raw: bool = False) -> QuestionContent:
    """Draw all parts of the dialog's content. With `raw`, the agent's raw input is always one of them.

    The agent's texts and the raw input are facts if the request is unclear without them.
    """
    is_unclear = _is_unclear(question)
    diffs = [_diff(diff, question, context) for diff in _diffs(question)]
    calls = calls_bodies(question, context)
    texts: list[list[Body]] = [[part] for part in _content(question, context)]
    texts += [*calls, [_whole_title(question, context)]]
    facts: list[list[Body]] = [
        [_title_and_warnings(question, context)],
        [_command_body(question, context)],
        [_parts_body(question, context)],
        [_facts_body(question, context)],
        [head for head, _ in diffs],
    ]
    details: list[list[Body]] = []
    if len(diffs) == 1 and not is_unclear:  # directly below its head
        details.append([diffs[0][1]])
    else:
        details += [[head, lines] for head, lines in diffs]
    (facts if is_unclear or question.kind == "tool" else details).extend(texts)
    needs_raw = not (_is_self_explanatory(question) or calls or _raw_input_of(question) == {})
    raw_part = raw_input(question, context) if raw or needs_raw else []
    (facts if is_unclear and needs_raw else details).append(raw_part)
    shown, below = _separated(facts), _separated(details)
    if shown and below and not (len(diffs) == 1 and below[0] is diffs[0][1]):
        below.insert(0, _blank_row())
    return QuestionContent(shown, below, raw_part[0] if raw_part else None)


def _separated(groups: Iterable[Sequence[Body]]) -> list[Body]:
    """Return the bodies of the groups that are not empty, with a blank row between groups."""
    shown = [group for group in groups if any(body.height for body in group)]
    return [body for group in shown for body in (_blank_row(), *group)][1:]


def _blank_row() -> Body:
    return LinesBody([Strip([Segment(" ")])], "")


def _is_unclear(question: Question) -> bool:
    """Return True if only the agent's texts and the raw input say what will be done."""
    return not _is_self_explanatory(question) and question.subject.kind not in ("switch_mode", "think")


def _is_self_explanatory(question: Question) -> bool:
    """Return True if the content makes the request clear without its raw input."""
    subject = question.subject
    if subject.kind in ("edit", "move"):
        return subject.certain and any(_diffs(question))
    if question.kind == "tool" and question.call is not None and question.call.content:
        return True
    return bool(subject.certain and (subject.targets or subject.command is not None or subject.argv))


def action_phrase(question: Question) -> str:
    """Return what the agent asks to do, such as "run a command"."""
    subject = question.subject
    if question.kind == "tool":
        return "use a tool of acp-tui"
    if len(subject.targets) > 1 and subject.kind in _SEVERAL:
        return _SEVERAL[subject.kind]
    return _KINDS.get(subject.kind, "do something")


# --------------------------------------------------------------------------- requests without details


def names_nothing(question: Question) -> bool:
    """Return True if a permission request names no command, file, tool or input."""
    call, subject = question.call, question.subject
    if call is None or call.content or call.locations or call.raw_input:
        return False
    return not (subject.targets or subject.command or subject.argv or subject.tool)


def calls_in_progress(question: Question, session: Session) -> list[ToolCall]:
    """Return the calls that a request without any details could be about; an empty list for other requests.

    These calls are in progress, and no pending permission request names them.
    """
    if not names_nothing(question):
        return []
    asked = {permission.call_id for permission in session.permissions.values()}
    return [
        call
        for call in session.reducer_state.open_calls.values()
        if call is not question.call and call.call_id not in asked
    ]


def calls_bodies(question: Question, context: DrawContext) -> list[list[Body]]:
    """Draw a heading, then each call in progress in full, as in the transcript; nothing if there is none."""
    calls = calls_in_progress(question, context.session)
    if not calls:
        return []
    words = "The agent did not say what this is about. In progress:"
    head = LinesBody(
        hanging_lines([], [Segment(words, context.palette.warning)], context.width, indent=0), ""
    )
    pages: list[list[Body]] = [[GuardedBody(call, context)] for call in calls]
    return [[head], *pages]


def raw_bodies(question: Question, context: DrawContext) -> list[Body]:
    """Draw the raw input of each call in progress."""
    bodies: list[Body] = []
    for call in calls_in_progress(question, context.session):
        title = Segment(f"raw input of {call_title(call, context.cwd)}", context.palette.dim)
        text = visible_json(call.raw_input) if call.raw_input else "none"
        bodies.append(LinesBody(hanging_lines([], [title], context.width, indent=0), ""))
        bodies.append(LongText(text, context.palette.text, context.width))
    return bodies


# --------------------------------------------------------------------------- words


def _title_and_warnings(question: Question, context: DrawContext) -> LinesBody:
    """Draw the title, the warnings, and why the user is asked."""
    text = "" if _title_is_redundant(question) else _title(question)
    shown = shorten(text, TITLE_LINES * context.width)
    lines = (
        hanging_lines([], [Segment(shown, context.palette.strong)], context.width, indent=0) if text else []
    )
    return LinesBody([*lines, *_warnings(question, context)], text)


def _title(question: Question) -> str:
    return escape_invisible_line(_raw_title(question)).strip()


def _raw_title(question: Question) -> str:
    call = question.call
    title = call.permission_title if call is not None else ""
    tool = call.mcp_tool if call is not None and title == call.title else None
    if tool is not None and tool.is_title and not tool.is_ambiguous:  # the title is only the tool's name
        return tool.label
    return (title or question.subject.description)[:MAX_COMMAND]


def _title_is_redundant(question: Question) -> bool:
    """Return True if the title can be omitted, because the dialog shows everything in the title anyway."""
    subject = question.subject
    if question.call is None:
        return True  # acp-tui asks, so there is no title from the agent
    if question.kind == "tool":  # the title is a part of what is shown below
        return bool(question.facts or question.call.content or not question.call.title)
    title = _title(question).strip("`")
    command = question.subject.command_text
    if command is not None:
        return title == escape_invisible_line(command[:MAX_COMMAND]).strip()
    shown = {target.path for target in subject.targets} | {diff.path for diff in _diffs(question)}
    return title in {escape_invisible_line(path) for path in shown}


def _shown_facts(question: Question) -> set[str]:
    """Return the values in `question.facts` as the dialog shows them."""
    return {escape_invisible_line(value) for _, value in question.facts}


def _whole_title(question: Question, context: DrawContext) -> LinesBody:
    """Draw the full title if the one at the top was shortened."""
    text = _title(question)
    if _title_is_redundant(question) or shorten(text, TITLE_LINES * context.width) == text:
        return LinesBody([], "")
    head = hanging_lines([], [Segment("title", context.palette.dim)], context.width, indent=0)
    return LinesBody([*head, *wrapped_lines(text, context.palette.text, context.width, 0)], "")


def _warnings(question: Question, context: DrawContext) -> list[Strip]:
    palette, width = context.palette, context.width
    subject = question.subject
    lines: list[Strip] = []
    concerns = list(subject.concerns)
    if subject.dangerous and concerns:
        mark = [Segment(" DANGEROUS ", palette.loud), Segment(" ")]
        lines += hanging_lines(
            mark, [Segment(escape_invisible_line(concerns.pop(0)), palette.error)], width, indent=12
        )
    if missing := _missing(question.subject.command_text or ""):
        concerns.append(f"{missing:,} characters in the middle of this command are not shown")
    if question.was_changed:
        concerns.append("the agent has changed this call since it asked; this is what it asks now")
    if subject.doubt:
        concerns.append(f"unclear what this does: {subject.doubt}")
    if hidden := _invisible_in(question):
        concerns.append(f"contains invisible characters: {hidden}")
    for concern in concerns:
        lines += _marked_lines("! ", concern, palette.warning, width)
    if subject.not_plain:
        lines += _marked_lines("· ", subject.not_plain, palette.dim, width)
    if question.why and not (subject.concerns and subject.concerns[-1] in question.why):
        lines += _marked_lines("· ", question.why, palette.dim, width)
    return lines


def _invisible_in(question: Question) -> str:
    """Return the names of the invisible characters in what the user is asked to allow, or ""."""
    subject = question.subject
    texts = [
        _raw_title(question),
        question.subject.command_text,
        _original_command(question),
        subject.server,
        subject.tool,
    ]
    texts += [text for pair in subject.environment for text in pair]
    texts += [text for target in subject.targets for text in (target.path, target.real)]
    texts += [diff.path for diff in _diffs(question)]
    texts += [subject.cwd.path, subject.cwd.real] if subject.cwd is not None else []
    texts += [option.name for option in question.options]
    unique = dict.fromkeys(filter(None, texts))  # a title may repeat the command
    return invisible_characters(*map(_shortened_command, unique))


def _marked_lines(sign: str, text: str, look: Style, width: int) -> list[Strip]:
    return hanging_lines([Segment(sign, look)], [Segment(escape_invisible_line(text), look)], width)


# --------------------------------------------------------------------------- commands


def _command_body(question: Question, context: DrawContext) -> LinesBody:
    """Draw the command as it will run. The middle of a very long one is not drawn, but can be copied."""
    text = question.subject.command_text
    if text is None:
        return LinesBody([], "")
    return LinesBody(_command_block(escape_invisible(_shortened_command(text)), context), text)


def _missing(command: str) -> int:
    """Return how many characters of a command are not shown."""
    return max(0, len(command) - MAX_COMMAND - MAX_COMMAND_END)


def _shortened_command(text: str) -> str:
    """Return the command. If it is very long, a note replaces its middle, so that drawing stays fast."""
    if not (missing := _missing(text)):
        return text
    return f"{text[:MAX_COMMAND]}\n… {missing:,} characters are not shown here …\n{text[-MAX_COMMAND_END:]}"


def _original_command(question: Question) -> str | None:
    """Return the command in the raw input, such as `bash -lc …`.

    Return None if there is none, if the raw input has `args`, or if the dialog shows the command anyway.
    """
    given = question.call.raw_input if question.call is not None else None
    command = given.get("command") if isinstance(given, dict) and "args" not in given else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = None if tuple(command) == question.subject.argv else shlex.join(command)
    if not isinstance(command, str) or command.strip() == (question.subject.command_text or "").strip():
        return None
    return command


def _command_block(text: str, context: DrawContext) -> list[Strip]:
    """Draw a command on the background for code, with all lines indented like the first."""
    palette, width = context.palette, context.width
    lines: list[Strip] = []
    for number, line in enumerate(text.split("\n")):
        for part, piece in enumerate(hard_wrap([Segment(line, palette.code)], width - 3)):
            sign = " ❯ " if not (number or part) else "   "
            strip = Strip([Segment(sign, palette.code + palette.icon), *piece])
            lines.append(strip.extend_cell_length(width, palette.code))
    return lines


def _parts_body(question: Question, context: DrawContext) -> LinesBody:
    """Draw the parts of a composite command, and why each is allowed, rejected or asked about."""
    palette = context.palette
    lines: list[Strip] = []
    name = "parts".ljust(LABEL_WIDTH)
    for number, verdict in enumerate(question.parts):
        sign, look = _PART_SIGNS[verdict.answer]
        style: Style = getattr(palette, look)
        why = verdict.why
        if verdict.rule is not None and verdict.answer != "ask":
            why = f"{verdict.answer}ed by rule: {describe_choice(verdict.rule)}"
        lead = [Segment(name if number == 0 else " " * LABEL_WIDTH, palette.dim), Segment(f"{sign} ", style)]
        spans = [Segment(escape_invisible_line(_shortened_command(verdict.part.part_text)), palette.text)]
        spans += [Segment("  "), Segment(escape_invisible_line(why), style)]
        lines += hanging_lines(lead, spans, context.width, indent=LABEL_WIDTH + 2)
    return LinesBody(lines, "")


# --------------------------------------------------------------------------- facts


def _facts_body(question: Question, context: DrawContext) -> LinesBody:
    """Draw the details of the request, such as its directory and files, in two columns: labels and values."""
    palette = context.palette
    lines: list[Strip] = []
    for label, value, note in _named_facts(question, context):
        spans = [Segment(escape_invisible_line(value), palette.text)]
        if note:
            spans.append(Segment(f"  {note}", palette.warning))
        name = Segment(label.ljust(LABEL_WIDTH), palette.dim)
        lines += hanging_lines([name], spans, context.width, indent=LABEL_WIDTH)
    return LinesBody(lines, "")


def _named_facts(question: Question, context: DrawContext) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of `_facts_body`: a label, a value, and a warning or ""."""
    subject = question.subject
    if question.other_session:
        yield "session", question.other_session, "not announced by the agent"
    sent = _original_command(question)
    if sent is not None:
        yield "sent as", _shortened_command(sent), ""
    if subject.cwd is not None:
        yield (
            "directory",
            subject.cwd.path,
            _path_warning(subject.cwd.path, subject.cwd.real, subject.cwd.inside),
        )
    elif subject.kind == "execute" and context.cwd:
        yield "directory", context.cwd, ""
    for name, value in question.facts:
        yield name, value, ""
    label = "environment"
    for name, value in subject.environment:
        note = "may change what the command does" if (name, value) in subject.variables else ""
        yield label, f"{name}={value}", note
        label = ""
    if subject.server is not None:
        yield "MCP server", subject.server, ""
    if subject.tool is not None:
        yield "tool", subject.tool, ""
    shown = {diff.path for diff in _diffs(question)}  # each diff has its path above it
    if subject.kind == "execute":  # some agents list the directory among the files
        shown.add(subject.cwd.path if subject.cwd is not None else context.cwd)
    targets = [target for target in subject.targets if target.path not in shown]
    label = "file" if len(targets) == 1 else "files"
    for target in targets:
        yield label, target.path, _path_warning(target.path, target.real, target.inside)
        label = ""


def _path_warning(path: str, real: str, inside: bool) -> str:
    """Return a warning if `real` is not `path`, or if the path is outside the workspace; otherwise "".

    The warning is safe to display.
    """
    remarks = [f"leads to {escape_invisible_line(real)}"] if real != path else []
    return ", ".join(remarks if inside else [*remarks, "outside the workspace"])


# --------------------------------------------------------------------------- diffs and other content


def _diffs(question: Question) -> Iterator[Diff]:
    """Yield the known diffs of the files that would change."""
    if question.kind == "write":
        path = question.subject.targets[0].path if question.subject.targets else ""
        old, new = question.old_text, question.new_text
        yield Diff(path, None if old is None else escape_controls(old), escape_controls(new or ""))
    if question.call is not None:
        for part in question.call.content:
            if isinstance(part, Diff):
                yield next((whole for diff, whole in question.whole_file_diffs if diff == part), part)


def _diff(diff: Diff, question: Question, context: DrawContext) -> tuple[Body, Body]:
    """Draw a diff: a head with the path and the number of changed lines, and the lines."""
    from acp_tui.ui.entries.diff import DiffBody, compute_difference
    from acp_tui.ui.entries.headline import line_counts

    palette = context.palette
    found = compute_difference(diff)
    pieces = line_counts(found.added, found.removed)
    counts = [segment for text, look in pieces for segment in (Segment(" "), Segment(text, look))]
    remarks = [
        _path_warning(one.path, one.real, one.inside)
        for one in question.subject.targets
        if one.path == diff.path
    ]
    became = file_change(diff, question.subject.kind)
    remarks.append("new file" if became == "new" else became)
    remark = Segment(f"  {', '.join(filter(None, remarks))}", palette.warning)
    head = [Segment(f"{escape_invisible_line(diff.path)} ", palette.strong), *counts, remark]
    is_whole_file = question.call is None or any(diff == whole for _, whole in question.whole_file_diffs)
    first = 1 if is_whole_file or question.call is None else first_line(question.call, diff)
    return (
        LinesBody(hanging_lines([], head, context.width, indent=0), diff.path),
        DiffBody(diff, context, first=first),
    )


def _content(question: Question, context: DrawContext) -> Iterator[LinesBody]:
    """Draw text that came with the question, such as a plan or an explanation."""
    if question.call is None:
        return
    for part in question.call.content:
        if not isinstance(part, Content) or repeats_raw_input(part, question.call):
            continue
        text = part.text or " ".join(filter(None, (f"[{part.kind}]", part.name, part.uri, part.mime)))
        if text.strip() and text not in _shown_facts(question):
            yield LinesBody(_prose(text.strip("\n"), context), text)


def _prose(text: str, context: DrawContext) -> list[Strip]:
    """Draw text as Markdown, or as plain text if Markdown could hide something, such as a link's address."""
    if len(text) > MAX_COMMAND or any(mark in text for mark in ("](", "]:", "<")):
        return limit_lines(wrapped_lines(text, context.palette.text, context.width, 0), context)
    from acp_tui.ui.entries.tool_call import markdown_strips

    return markdown_strips(text, context, indent_cells=0)


def _raw_input_of(question: Question) -> Any:
    return question.call.raw_input if question.call is not None else None


def raw_input(question: Question, context: DrawContext) -> list[Body]:
    """Draw the raw input of the request, or of the tool calls in progress that the request could be about."""
    palette, width = context.palette, context.width
    if calls := raw_bodies(question, context):
        return calls
    given = _raw_input_of(question)
    if not given:
        none = [Segment("The agent sent no raw input with this question.", palette.dim)]
        return [LinesBody(hanging_lines([], none, width, indent=0), "")]
    label = "arguments" if question.kind in ("tool", "mcp") else "raw input"
    head = LinesBody(hanging_lines([], [Segment(label, palette.dim)], width, indent=0), "")
    text = visible_json(given)
    if len(text) > MAX_RAW:
        text = f"{text[:MAX_RAW]}\n… {len(text) - MAX_RAW:,} more characters"
    return [head, LongText(escape_invisible(text), palette.text, width)]
