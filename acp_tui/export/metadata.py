"""Details that the log of a session might lack: the title, the agent and the folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.session_name import session_name

if TYPE_CHECKING:
    from acp_tui.store.stored_sessions import StoredSession


@dataclass(frozen=True, slots=True)
class SessionMetadata:
    """Details from the session's folder in the store.

    For a recording outside the store, `id` is the name of the file and the other details are empty.
    """

    id: str = ""
    agent: str = ""
    title: str = ""
    cwd: str = ""
    name: str = ""  # given by the user

    @classmethod
    def from_folder(cls, stored: StoredSession) -> SessionMetadata:
        """Read the details from the session's folder in the store."""
        return cls(
            stored.id,
            visible_line(stored.text("agent_title") or stored.text("agent") or ""),
            visible_line(stored.text("title") or ""),
            stored.text("cwd") or "",
            session_name(stored.meta),
        )
