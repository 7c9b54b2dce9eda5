"""Renames and deletes recorded sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.store.drafts import Drafts
from acp_tui.store.prune import PruneCandidate, remove_sessions
from acp_tui.store.saved_comments import SavedComments
from acp_tui.store.session_name import rename_stored_session
from acp_tui.store.stored_sessions import find_session

if TYPE_CHECKING:
    from acp_tui.session_list.saved_session import SavedSession


def rename_session(session: SavedSession, name: str) -> None:
    """Name a recorded session. An empty name removes the name, so that the session's own title is shown.

    Raises `UserError` if the session is open or cannot be renamed.
    """
    stored = find_session(paths().data, session.id)
    try:
        if stored.in_use():
            raise UserError("The session is open in another acp-tui; rename the session there.")
        rename_stored_session(stored, name)
    except OSError as error:
        raise UserError(f"The session could not be renamed: {error.strerror or error}.") from error


def delete_session(session: SavedSession) -> None:
    """Delete a recorded session with its checkpoints, draft and comments.

    The search index contains the session until the index is updated: the caller must start the update.
    Raises `UserError` if the session is open or cannot be deleted.
    """
    stored = find_session(paths().data, session.id)
    if not remove_sessions(paths().data, [PruneCandidate(stored, 0)]):
        raise UserError("The session was not deleted: it is open, or its folder cannot be removed.")
    try:
        Drafts(paths().state).save(session.id, "")
        SavedComments(paths().state).save(session.id, [])
    except OSError as error:
        sentence = "The session was deleted, but its draft or comments could not be deleted"
        raise UserError(f"{sentence}: {error.strerror or error}.") from error
