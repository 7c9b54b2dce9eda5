"""The rows of the list of sessions, and a function that makes rows from the recorded sessions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line
from acp_tui.store.prune import sessions_in_use
from acp_tui.store.session_name import session_name
from acp_tui.store.session_title import UnsentWork, session_title
from acp_tui.store.stored_sessions import list_sessions
from acp_tui.workspace.git.worktrees.worktree import Worktree
from acp_tui.workspace.git.worktrees.worktree_record import recorded_worktrees

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from acp_tui.session_index.search import SessionFacts
    from acp_tui.store.stored_sessions import StoredSession

MAX_TITLE_CHARACTERS = 200
"""Longer titles are truncated: a title may be a whole prompt."""


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session that was recorded by acp-tui, stored by its agent, or both; or a worktree without a session.

    The title, the name and the agent's title are safe to display.
    """

    id: str  # of the recording; empty if there is none
    title: str
    name: str  # given by the user, and then also the title; empty if the user gave none
    agent: str  # its name in the list of known agents
    agent_title: str
    folder: str  # of the project, as recorded; not safe to display
    agent_folder: str  # where its agent worked: the same, or a git worktree
    updated: float  # seconds since the epoch
    agent_session_id: str | None = None  # None if the session never started
    turns: int | None = None  # None if unknown
    changed_files: int | None = None
    program: str = ""  # the command line of an agent that is not known by name; empty if `id` is set
    can_fork: bool = False  # when it was recorded, its agent offered to fork sessions
    in_use: bool = False  # open in this or another acp-tui
    worktree: Worktree | None = None  # in which the session's agent worked; it may have been removed

    @property
    def only_at_agent(self) -> bool:
        """True if acp-tui has no recording of the session."""
        return not self.id and not self.only_worktree

    @property
    def only_worktree(self) -> bool:
        """True if this is a worktree without a session. The title is the branch then."""
        return not self.id and self.worktree is not None

    def is_in(self, folder: str) -> bool:
        """Return True if the session belongs to `folder`, a path without symbolic links."""
        return any(path and os.path.realpath(path) == folder for path in {self.folder, self.agent_folder})


def load_saved_sessions(
    data_dir: Path, state_dir: Path, facts: Mapping[str, SessionFacts]
) -> list[SavedSession]:
    """Return the recorded sessions, the most recently used first, then the worktrees without a session.

    Sessions in which nothing was done are left out.

    Args:
        data_dir: The data directory.
        state_dir: The state directory, with the drafts.
        facts: What the index knows about each session, by session id.
    """
    in_use, unsent = sessions_in_use(data_dir), UnsentWork(state_dir)
    stored = list_sessions(data_dir)
    worktrees = {one.id: Worktree.from_meta(one.meta, data_dir) for one in stored}
    found = (
        _saved_session(one, unsent, facts.get(one.id), one.id in in_use, worktrees[one.id]) for one in stored
    )
    used = {worktree.path for worktree in worktrees.values() if worktree is not None}
    lost = [_lost_worktree(one) for one in recorded_worktrees(data_dir) if one.path not in used]
    return [*(session for session in found if session.title or session.turns), *lost]


def _lost_worktree(worktree: Worktree) -> SavedSession:
    try:
        updated = worktree.path.stat().st_mtime
    except OSError:
        updated = 0.0
    return SavedSession(
        id="",
        title=visible_line(worktree.branch),
        name="",
        agent="",
        agent_title="worktree",
        folder=str(worktree.project_folder),
        agent_folder=str(worktree.folder),
        updated=updated,
        worktree=worktree,
    )


def _saved_session(
    stored: StoredSession,
    unsent: UnsentWork,
    facts: SessionFacts | None,
    in_use: bool,
    worktree: Worktree | None,
) -> SavedSession:
    title = session_title(stored, unsent, "" if facts is None else facts.first_prompt)
    return SavedSession(
        id=stored.id,
        title=visible_line(" ".join(title[:MAX_TITLE_CHARACTERS].split())),
        name=session_name(stored.meta),
        agent=stored.text("agent") or "",
        agent_title=visible_line(stored.text("agent_title") or stored.text("agent") or "?"),
        folder=stored.project_folder,
        agent_folder=stored.text("cwd") or "",
        updated=stored.updated,
        agent_session_id=stored.text("session_id"),
        turns=None if facts is None else facts.turns,
        changed_files=None if facts is None else facts.changed_files,
        can_fork=facts is not None and facts.can_fork,
        in_use=in_use,
        worktree=worktree,
    )
