"""The user's own name for a session, in the field `name` of its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.stored_sessions import save_meta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.store.stored_sessions import StoredSession

MAX_NAME_CHARACTERS = 100


def rename_stored_session(session: StoredSession, name: str) -> None:
    """Save the name of a session that is not open. An empty string removes the name. Raises `OSError`."""
    save_meta(session, name=clean_session_name(name) or None)


def session_name(meta: Mapping[str, Any]) -> str:
    """Return the name in a session's metadata, safe to display; empty if the user gave none."""
    name = meta.get("name")
    return clean_session_name(name) if isinstance(name, str) else ""


def clean_session_name(name: str) -> str:
    """Return a name on one line, safe to display and of limited length."""
    return " ".join(visible_line(name).split())[:MAX_NAME_CHARACTERS]
