"""Titles, icons and labels of entries, for the screen and for exports."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import PurePath
from typing import Any

from acp_tui.protocol.raw_values import read_command
from acp_tui.session.invisible import reveal, reveal_line
from acp_tui.session.state import (
    Content,
    Diff,
    Location,
    Permission,
    Terminal,
    TerminalRef,
    ToolCall,
)
from acp_tui.session.text import visible_line

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
"""By the kind of a tool call."""
OTHER_ICON = "·"
STATUS_ICONS = {
    "pending": "○",
    "in_progress": "●",
    "completed": "✔",
    "failed": "✘",
    "cancelled": "⊘",
    "unfinished": "–",
}
"""Signs for the status of a tool call, or of a step of a plan."""
_VERBS = {"read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move", "search": "Search"}
"""Verbs for titles that are only a file name."""


MIN_SECONDS = 0.1
"""Shorter durations are not shown."""


def format_duration(seconds: float) -> str:
    """`0.8 s`, `42 s`, `3:07`, `1:02:03`."""
    if seconds < 9.95 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def folder_label(path: str) -> str:
    """The name of a folder in a header: its last part, `/` for the root, `~` for the home directory."""
    if path == os.path.expanduser("~"):  # noqa: PTH111  # Path.home() raises where there is none
        return "~"
    return reveal_line(PurePath(path).name or path)


def relative_path(path: str | None, cwd: str) -> str:
    """Return a path relative to the session's directory if it is below it."""
    path = path or ""
    base = f"{cwd.rstrip('/')}/"
    return path[len(base) :] if cwd and path.startswith(base) and len(path) > len(base) else path


_PRECISE = frozenset({"read", "edit", "delete", "move", "execute"})
"""Kinds of calls whose title is a command or a path rather than prose."""


def call_title(call: ToolCall, cwd: str) -> str:
    """Return the title of a call; paths below the session's directory are relative to that."""
    shown = reveal_line if call.kind in _PRECISE else visible_line
    title = shown(call.title).strip()
    if len(title) > 2 and title[0] == title[-1] == "`" and "`" not in title[1:-1]:
        title = title[1:-1]
    if not title:
        title = (
            reveal_line(call.command or "") or visible_line(call.name or "") or call.kind.replace("_", " ")
        )
    if call.kind == "execute":
        return title  # a command is shown as it is
    if _only_names_a_file(title, call):
        title = f"{_verb(call)} {title}".strip()
    elif call.kind in _VERBS and _BARE_NAME.fullmatch(title):
        title = f"{title} {_only_file(call)}".strip()
    if not cwd.strip("/"):
        return title
    base = re.escape(f"{cwd.rstrip('/')}/")
    return re.sub(rf"(?<![\w/.~-]){base}(?=\S)", "", title)


_BARE_NAME = re.compile("[A-Za-z_]+")
"""The name of a tool and nothing else: `read`, `read_text_file`."""


def _only_file(call: ToolCall) -> str:
    paths = {*(item.path for item in call.content if isinstance(item, Diff)), *call.paths}
    return visible_line(paths.pop()) if len(paths) == 1 else ""


def _verb(call: ToolCall) -> str:
    diffs = [item for item in call.content if isinstance(item, Diff)]
    new = diffs and all(diff.old is None and diff.patch is None for diff in diffs)
    return "Write" if new and call.kind == "edit" else _VERBS.get(call.kind, "")


def _only_names_a_file(title: str, call: ToolCall) -> bool:
    paths = [item.path for item in (*call.locations, *call.content) if isinstance(item, (Location, Diff))]
    return any(path == title or path.endswith(f"/{title}") for path in map(reveal_line, paths))


def shows_terminal(call: ToolCall) -> bool:
    """Return True if a terminal shows how the call went."""
    return any(isinstance(item, TerminalRef) for item in call.content)


def file_change(diff: Diff, kind: str = "") -> str:
    """Return `new`, `deleted`, `now empty`, or an empty string for a file that was only edited."""
    if diff.patch is not None:
        return ""
    if diff.old is None:
        return "new"
    if diff.new is None or (not diff.new and kind == "delete"):
        return "deleted"
    return "" if diff.new else "now empty"


def terminal_command(terminal: Terminal, cwd: str) -> str:
    """The command of a terminal, without the shell that agents often put around it to say where it runs."""
    command = reveal(terminal.command or "")
    if not _SHELL.match(command):
        return command
    try:
        inner = shlex.split(command)[2:]
    except ValueError:
        return command
    if len(inner) != 1:
        return command
    there = f"(?:{'|'.join(re.escape(form) for form in (cwd, shlex.quote(cwd), repr(cwd)))})"
    return re.sub(rf"^cd {there} && (?=\S)", "", inner[0]) if cwd else inner[0]


_SHELL = re.compile(r"(?:/\S*/)?(?:ba|da|z)?sh -l?c (?=\S)")


_LONGEST_INPUT = 20_000
"""Characters; longer texts are not looked into."""


def repeats_raw_input(content: Content, call: ToolCall) -> bool:
    """Is it just the raw input once more? Some agents send that as text, too, to show it while it grows."""
    if call.raw_input is None:  # … or before that; of one that has completed it would be the output
        given = read_command(_as_json(content)) if call.kind == "execute" else None
        return given is not None and call.status != "completed"
    return isinstance(call.raw_input, dict) and _as_json(content) == call.raw_input


def call_command(call: ToolCall) -> str:
    """The command that a call is about, as far as it can be told; it may have several lines."""
    texts = (
        _as_json(item) for item in call.content if isinstance(item, Content) and repeats_raw_input(item, call)
    )
    return call.command or next(filter(None, map(read_command, texts)), "")


def _as_json(content: Content) -> Any:
    text = content.text.strip()
    if content.kind != "text" or not text.startswith("{") or len(text) > _LONGEST_INPUT:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def permission_verdict(entry: Permission) -> tuple[str, str, str]:
    """Return sign, words and style name for the outcome of a permission request."""
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


def answered_by(entry: Permission, most: int | None = None) -> str:
    """Who, with the words of the option (so many characters of them) where they say more than yes or no."""
    if entry.outcome == "cancelled" and entry.by == "you":
        return ""  # then the end of the turn says it
    parts: list[str] = []
    if entry.option is not None and (entry.by == "you" or not entry.option.kind.endswith("_once")):
        name = entry.option.name
        if most is not None and len(name) > most:
            name = f"{name[: most - 1]}…"
        parts.append(f'"{name}"')
    if entry.by == "you":
        parts.append("you")
    elif entry.why:
        parts.append(entry.why)
    elif entry.by:
        parts.append(entry.by)
    return ", ".join(parts)
