"""The user's own name for a session, in the field `name` of its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.stored_sessions import save_meta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_tui.store.session_folder import NullFolder, SessionFolder
    from acp_tui.store.stored_sessions import StoredSession

MAX_NAME_CHARACTERS = 100


def set_session_name(folder: SessionFolder | NullFolder, name: str) -> None:
    """Save the name of a session that is being recorded. An empty string removes the name."""
    folder.update_meta(name=_clean(name) or None)


def rename_stored_session(session: StoredSession, name: str) -> None:
    """Save the name of a session that is not open. An empty string removes the name. Raises `OSError`."""
    save_meta(session, name=_clean(name) or None)


def session_name(meta: Mapping[str, Any]) -> str:
    """Return the name in a session's metadata, safe to display; empty if the user gave none."""
    name = meta.get("name")
    return _clean(name) if isinstance(name, str) else ""


def _clean(name: str) -> str:
    return " ".join(visible_line(name).split())[:MAX_NAME_CHARACTERS]
