"""A session as JSON: its state, entry by entry.

    {"format": 1, "about": {…}, "session": {…}, "entries": [{"type": "ToolCall", "at": …, …}, …]}

The fields are those of `acp_tui.session.state`. Times are seconds since the epoch. Streamed text is joined
into one string; terminal output is plain text as it was displayed. Values that are nested very deeply are
cut.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from acp_tui.export.document import SessionMetadata, output_text
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import limit_depth
from acp_tui.session.state import Entry, Session
from acp_tui.session.terminal_text import TerminalText

FORMAT = 1
_INTERNAL_FIELDS = frozenset({"version"})
_INTERNAL_SESSION_FIELDS = frozenset(
    {
        "entries",
        "reducer_state",
        "tool_calls",
        "terminals",
        "terminal_calls",
        "permissions",
        "elicitations",
        "subagents",
        "queue",
    }
)
"""The fields of the session that are left out of the document.

They repeat the entries, are only used internally, or contain the queue of prompts not yet sent.
"""


def as_json(session: Session, metadata: SessionMetadata) -> str:
    """Return the JSON document in ASCII. Control characters are escaped, so the document is safe to print."""
    document = {
        "format": FORMAT,
        "about": _plain(metadata),
        **_session(session),
    }
    return json.dumps(document, indent=1) + "\n"


def _session(session: Session) -> dict[str, Any]:
    return {
        "session": _fields(session, _INTERNAL_SESSION_FIELDS),
        "entries": [_entry(entry) for entry in session.entries],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {"type": type(entry).__name__, **_fields(entry, _INTERNAL_FIELDS)}


def _fields(value: Any, without: frozenset[str]) -> dict[str, Any]:
    names = (field.name for field in dataclasses.fields(value))
    return {name: _plain(limit_depth(getattr(value, name))) for name in names if name not in without}


def _plain(value: Any) -> Any:
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, TerminalText):
        return output_text(value)
    if isinstance(value, Session):  # of a subagent
        return _session(value)
    if dataclasses.is_dataclass(value):
        return _fields(value, _INTERNAL_FIELDS)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
