"""Chooses the session that `--continue` reopens: the folder's latest one that is not open elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.agent_catalogue import launch_from_command
from acp_tui.config.paths import paths
from acp_tui.errors import UserError
from acp_tui.store.redaction import redact_value
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import list_sessions

if TYPE_CHECKING:
    from acp_tui.store.stored_sessions import StoredSession

DEMO_AGENT = "demo"


def latest_session(folder: Path | None, agent: str | None, program: str | None) -> str:
    """Return the id of the latest session that can be reopened. Raises `UserError` if there is none.

    Sessions in use, sessions in which nothing was done, and sessions whose worktree was merged or discarded
    are skipped.

    Args:
        folder: The folder of the session. None: the current directory or, for the demo agent, any folder.
        agent: The name of the session's agent; None for any agent. Ignored if `program` is given.
        program: The command line with which the session's agent was started; None for any command line.
    """
    # Without --cwd, each session of the demo has a sample project of its own.
    home = None if agent == DEMO_AGENT and folder is None else os.path.realpath(folder or Path.cwd())
    unsent = UnsentWork(paths().state)
    in_use: str | None = None
    finished: str | None = None
    for session in list_sessions(paths().data):
        if session.fault:
            continue
        if _matches(session, home, agent, program) and session_title(session, unsent).strip():
            if session.is_worktree_finished:
                finished = finished or session.id
            elif not session.in_use() or session.is_closing():
                return session.id
            else:
                in_use = in_use or session.id
    if in_use is not None:
        raise UserError(f"The session {in_use} is open in another acp-tui.")
    if finished is not None:
        raise UserError(
            f"The worktree of the session {finished} was merged or discarded."
            f" `acp-tui --resume {finished}` opens the session in a new worktree."
        )
    of_whom = f" of {agent or program}" if agent or program else ""
    where = f" in {home}" if home is not None else ""
    raise UserError(
        f"No session{of_whom} with a prompt has been recorded{where}. `acp-tui sessions` lists all sessions."
    )


def _matches(session: StoredSession, home: str | None, agent: str | None, program: str | None) -> bool:
    folders = session.folders
    if not folders or (home is not None and home not in folders):
        return False
    if program is not None:
        return bool(session.meta.get("command") == redact_value(launch_from_command(program).command))
    return agent is None or session.text("agent") == agent
