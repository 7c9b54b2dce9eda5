"""Labels of recorded sessions in lists: title and time."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.session.text import visible_line
from acp_tui.store.session_name import session_name

if TYPE_CHECKING:
    from acp_tui.store.stored_sessions import StoredSession

MAX_RECORDS_SEARCHED = 200
"""The number of records to search for the first prompt if a session has no title."""


def session_title(session: StoredSession) -> str:
    """Return the user's name for the session, else its title, else its first prompt, on one line."""
    return session_name(session.meta) or visible_line(_raw_title(session))


def _raw_title(session: StoredSession) -> str:
    if title := session.text("title"):
        return title
    for record in islice(session.records(), MAX_RECORDS_SEARCHED):
        match record.frame:
            case {"method": "session/prompt", "params": {"prompt": str() as prompt}}:
                return prompt
            case {"method": "session/prompt", "params": {"prompt": [*blocks]}}:
                return " ".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
    return ""


def format_moment(moment: float, now: datetime) -> str:
    """Format a time in the local zone: `14:05` today, `Nov 3` this year, otherwise `2025-11-03`."""
    try:
        then = datetime.fromtimestamp(moment, now.tzinfo).astimezone()
    except (OverflowError, ValueError, OSError):
        return "?"
    today = now.astimezone()
    if then.date() == today.date():
        return f"{then:%H:%M}"
    return f"{then:%b} {then.day}" if then.year == today.year else f"{then:%Y-%m-%d}"
