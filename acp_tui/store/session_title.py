"""The title under which a recorded session is listed."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.session_name import session_name

if TYPE_CHECKING:
    from acp_tui.store.stored_sessions import StoredSession

MAX_RECORDS_SEARCHED = 200
"""The number of records to search for the first prompt if a session has no title."""


def session_title(session: StoredSession, first_prompt: str | None = None) -> str:
    """Return, on one line, the user's name for the session, else the session's title, else its first prompt.

    `first_prompt` is the first prompt, if the caller knows it; otherwise it is read from the log. For a
    session that cannot be read, return the reason in brackets.
    """
    if session.fault:
        return visible_line(f"({session.fault})")
    title = session_name(session.meta) or session.text("title")
    if not title:
        title = _read_first_prompt(session) if first_prompt is None else first_prompt
    return visible_line(title)


def _read_first_prompt(session: StoredSession) -> str:
    with suppress(OSError):
        for record in islice(session.records(), MAX_RECORDS_SEARCHED):
            match record.frame:
                case {"method": "session/prompt", "params": {"prompt": str() as prompt}}:
                    return prompt
                case {"method": "session/prompt", "params": {"prompt": [*blocks]}}:
                    return " ".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
    return ""
