"""Titles, icons and labels of entries, for the screen and the exports."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from acp_tui.protocol.raw_values import read_command
from acp_tui.session.safe_text import escape_invisible, escape_invisible_line, escape_line
from acp_tui.session.state import (
    Compaction,
    Content,
    Diff,
    Elicitation,
    Location,
    Permission,
    Session,
    Subagent,
    Terminal,
    TerminalRef,
    ToolCall,
)

KIND_ICONS = {
    "read": "◇",
    "edit": "✎",
    "delete": "✂",
    "move": "⇄",
    "search": "⌕",
    "execute": "❯",
    "think": "∴",
    "fetch": "↧",
    "switch_mode": "⇆",
}
"""Icons of tool calls by kind."""
OTHER_ICON = "·"
STATUS_ICONS = {
    "pending": "○",
    "in_progress": "●",
    "completed": "✔",
    "failed": "✘",
    "cancelled": "⊘",
    "unfinished": "–",
}
"""Icons for the status of a tool call or of a step of a plan."""
CHECKBOXES = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}
"""The status of a step of a plan, as plain text."""
_VERBS = {"read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move", "search": "Search"}
"""By kind of call: the verb to put before a title that is only a file name."""
_LITERAL_TITLES = frozenset({"read", "edit", "delete", "move", "execute"})
"""Kinds of calls whose title is a command or a path rather than prose."""
_BARE_NAME = re.compile("[A-Za-z_]+")
"""Matches a title that is only the name of a tool, such as `read` or `read_text_file`."""
_SHELL = re.compile(r"(?:/\S*/)?(?:ba|da|z)?sh -l?c (?=\S)")
_MAX_JSON_CHARACTERS = 20_000
"""Texts with more characters are not parsed as JSON."""
_COMPACTION_WORDS = {
    "in_progress": "compacting the context…",
    "completed": "compacted the context",
    "failed": "could not compact the context",
    "cancelled": "stopped compacting the context",
}


# --------------------------------------------------------------------------- tool calls


def call_title(call: ToolCall, cwd: str) -> str:
    """Return the title of a call. Except in commands, paths below the session's directory `cwd` are relative.

    The title of an MCP tool call begins with the names of the server and the tool, unless the title is a
    command.
    """
    if (tool := call.mcp_tool) is None:
        return _agents_title(call, cwd)
    label = escape_line(tool.label)
    if tool.is_title:
        return label
    title = _agents_title(call, cwd)
    return title if call.kind == "execute" else f"{label}: {title}"


def _agents_title(call: ToolCall, cwd: str) -> str:
    make_safe = escape_invisible_line if call.kind in _LITERAL_TITLES else escape_line
    title = make_safe(call.title).strip()
    if len(title) > 2 and title[0] == title[-1] == "`" and "`" not in title[1:-1]:
        title = title[1:-1]
    if not title:
        title = (
            escape_invisible_line(call.command or "")
            or escape_line(call.name or "")
            or call.kind.replace("_", " ")
        )
    if call.kind == "execute":
        return title  # a command is shown as it is
    if _is_file_name(title, call):
        title = f"{_verb(call)} {title}".strip()
    elif call.kind in _VERBS and _BARE_NAME.fullmatch(title):
        title = f"{title} {_single_file(call)}".strip()
    if not cwd.strip("/"):
        return title
    base = re.escape(f"{cwd.rstrip('/')}/")
    return re.sub(rf"(?<![\w/.~-]){base}(?=\S)", "", title)


def _single_file(call: ToolCall) -> str:
    paths = {*(item.path for item in call.content if isinstance(item, Diff)), *call.paths}
    return escape_line(paths.pop()) if len(paths) == 1 else ""


def _verb(call: ToolCall) -> str:
    diffs = [item for item in call.content if isinstance(item, Diff)]
    new = diffs and all(diff.old is None and diff.patch is None for diff in diffs)
    return "Write" if new and call.kind == "edit" else _VERBS.get(call.kind, "")


def _is_file_name(title: str, call: ToolCall) -> bool:
    paths = [item.path for item in (*call.locations, *call.content) if isinstance(item, (Location, Diff))]
    return any(path == title or path.endswith(f"/{title}") for path in map(escape_invisible_line, paths))


def shows_terminal(call: ToolCall) -> bool:
    """Return True if the call's content has a terminal. The terminal then shows the exit code."""
    return any(isinstance(item, TerminalRef) for item in call.content)


def file_change(diff: Diff, kind: str = "") -> str:
    """Return what a diff does to its file: `new`, `deleted`, `now empty`; "" for an edit or a patch.

    `kind` is the kind of the tool call.
    """
    if diff.patch is not None:
        return ""
    if diff.old is None:
        return "new"
    if diff.new is None or (not diff.new and kind == "delete"):
        return "deleted"
    return "" if diff.new else "now empty"


def call_command(call: ToolCall) -> str:
    """Return a call's command, which can have several lines; an empty string if the command is unknown."""
    texts = (
        _as_json(item) for item in call.content if isinstance(item, Content) and repeats_raw_input(item, call)
    )
    return call.command or next(filter(None, map(read_command, texts)), "")


def repeats_raw_input(content: Content, call: ToolCall) -> bool:
    """Return True if the content repeats the call's raw input.

    Some agents send the input as content while the model is still writing the input. Without raw input, the
    result is True if the call has not completed and the content is the input of a command.
    """
    # Without raw input, the content may be the input. Once the call has completed, the content is the output.
    if call.raw_input is None:
        command = read_command(_as_json(content)) if call.kind == "execute" else None
        return command is not None and call.status != "completed"
    return isinstance(call.raw_input, dict) and _as_json(content) == call.raw_input


def _as_json(content: Content) -> Any:
    text = content.text.strip()
    if content.kind != "text" or not text.startswith("{") or len(text) > _MAX_JSON_CHARACTERS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# --------------------------------------------------------------------------- terminals


def terminal_command(terminal: Terminal, cwd: str) -> str:
    """Return the command of a terminal, without a wrapper such as `bash -c "cd DIRECTORY && …"`."""
    command = escape_invisible(terminal.command or "")
    if not _SHELL.match(command):
        return command
    try:
        inner = shlex.split(command)[2:]
    except ValueError:
        return command
    if len(inner) != 1:
        return command
    quoted = f"(?:{'|'.join(re.escape(form) for form in (cwd, shlex.quote(cwd), repr(cwd)))})"
    return re.sub(rf"^cd {quoted} && (?=\S)", "", inner[0]) if cwd else inner[0]


# --------------------------------------------------------------------------- permissions and questions


def permission_verdict(entry: Permission) -> tuple[str, str, str]:
    """Return the outcome of a permission request: an icon, words, and the name of a style for both."""
    if entry.outcome is None and not entry.answerable:
        return "?", "cannot be answered: the request has no id", "warning"
    if entry.outcome is None:
        return "?", "waiting for your answer", "warning"
    if entry.outcome == "cancelled":
        return "⊘", "not answered", "warning"
    if entry.outcome == "error" or entry.option is None:
        return "✘", "answered with an error", "error"
    if entry.option.kind.startswith("allow"):
        return "✔", "allowed", "success"
    if entry.option.kind.startswith("reject"):
        return "✘", "rejected", "warning"
    return "·", "answered", "text"


def permission_title(entry: Permission, session: Session, cwd: str) -> str:
    """Return what was decided on or, before the decision, the title of the call."""
    if entry.subject:
        return escape_invisible_line(entry.subject)
    call = session.tool_calls.get(entry.call_id)
    return call_title(call, cwd) if call is not None else escape_line(entry.call_id)


def answered_by(entry: Permission, max_characters: int | None = None) -> str:
    """Return the name of the chosen option, followed by who or what answered.

    The name is left out if a rule or a policy has chosen an option that applies only once. `max_characters`
    limits the name, which comes from the agent. The result is empty if the user stopped the turn.
    """
    if entry.outcome == "cancelled" and entry.by == "you":
        return ""  # the user stopped the turn, and the end of the turn says so
    parts: list[str] = []
    if entry.option is not None and (entry.by == "you" or not entry.option.kind.endswith("_once")):
        name = entry.option.name
        if max_characters is not None and len(name) > max_characters:
            name = f"{name[: max_characters - 1]}…"
        parts.append(f'"{name}"')
    if entry.by == "you":
        parts.append(f'you: "{entry.reason}"' if entry.reason else "you")
    elif entry.why:
        parts.append(entry.why)
    elif entry.by:
        parts.append(entry.by)
    return ", ".join(parts)


def asking_subagent(request: Permission | Elicitation, session: Session) -> Subagent | None:
    """Return the subagent that sent a request; None if the agent itself or an unknown session did."""
    return session.subagents.get(request.subagent or request.session_id)


def elicitation_asker(question: Elicitation, session: Session) -> str:
    """Return who asks a question: `the agent`, `the subagent NAME` or, if unknown, `the session ID`."""
    if (subagent := asking_subagent(question, session)) is not None:
        return f"the subagent {escape_line(subagent.name)}"
    return f"the session {escape_line(question.session_id)}" if question.session_id else "the agent"


# --------------------------------------------------------------------------- compactions


def compaction_words(compaction: Compaction) -> str:
    """Return how far a compaction is, in words such as "compacted the context from 900 to 100 tokens"."""
    words = _COMPACTION_WORDS.get(compaction.status, f"compacting the context: {compaction.status}")
    before, after = compaction.tokens_before, compaction.tokens_after
    if before is None:
        return words if after is None else f"{words} to {after:,} tokens"
    return (
        f"{words} of {before:,} tokens" if after is None else f"{words} from {before:,} to {after:,} tokens"
    )
