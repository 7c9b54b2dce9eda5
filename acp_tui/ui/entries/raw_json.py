"""Shows the fields of an entry as JSON."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from acp_tui.session.state import Session
from acp_tui.session.text.growing_text import GrowingText
from acp_tui.session.text.safe_text import visible_json
from acp_tui.session.text.terminal_text import TerminalText

if TYPE_CHECKING:
    from acp_tui.session.state import Entry


def raw_json(entry: Entry) -> str:
    """Return the fields of an entry as JSON that is safe to display.

    Annotations of texts are left out. Of a subagent's session, only the entries are included.
    """
    return visible_json({"entry": type(entry).__name__, **_plain(entry)})


def _plain(value: Any) -> Any:
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, TerminalText):
        return {"head": value.head, "skipped": value.skipped, "tail": value.tail}
    if isinstance(value, Session):  # of a subagent
        return {"entries": [{"entry": type(entry).__name__, **_plain(entry)} for entry in value.entries]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
