"""The list of sessions: recorded ones and those that only an agent has; renaming and deleting."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.config.paths import paths
from acp_tui.errors import UserError, os_errors_reported
from acp_tui.session.safe_text import escape_line
from acp_tui.store.drafts_and_history import Drafts, SavedComments
from acp_tui.store.prune import PruneCandidate, remove_sessions, sessions_in_use
from acp_tui.store.session_title import UnsentWork, rename_stored_session, session_name, session_title
from acp_tui.store.stored_sessions import StoredSession, find_session, list_sessions
from acp_tui.workspace.git.worktree import Worktree, recorded_worktrees

if TYPE_CHECKING:
    from acp_tui.controller.agent_sessions import ListedSession
    from acp_tui.session_list.search import SessionFacts


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
        title=escape_line(worktree.branch),
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
        title=escape_line(" ".join(title[:MAX_TITLE_CHARACTERS].split())),
        name=session_name(stored.meta),
        agent=stored.text("agent") or "",
        agent_title=escape_line(stored.text("agent_title") or stored.text("agent") or "?"),
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


@dataclass(frozen=True, slots=True)
class AgentList:
    """The sessions that an agent lists."""

    agent: str  # its name in the list of known agents
    agent_title: str
    program: str  # its command line if it is not a known agent, else empty
    sessions: Sequence[ListedSession]


def merge(recorded: Sequence[SavedSession], lists: Iterable[AgentList]) -> list[SavedSession]:
    """Return all recorded sessions, and the listed sessions that are not recorded; most recently used first.

    A listed session counts as recorded if a recorded session has the same agent and agent session id.
    """
    merged: dict[tuple[str, str | None], SavedSession] = {}
    others: list[SavedSession] = []
    for one in recorded:
        own_key = one.agent, one.agent_session_id
        if one.agent_session_id and own_key not in merged:
            merged[own_key] = one
        else:
            others.append(one)
    for agent_list in lists:
        for listed in agent_list.sessions:
            key = agent_list.agent, listed.session_id
            if key not in merged:
                merged[key] = _only_listed(agent_list, listed)
            elif not merged[key].title and listed.title:
                merged[key] = replace(merged[key], title=listed.title)
    return sorted([*merged.values(), *others], key=lambda one: one.updated, reverse=True)


def _only_listed(agent_list: AgentList, listed: ListedSession) -> SavedSession:
    return SavedSession(
        id="",
        title=listed.title,
        name="",
        agent=agent_list.agent,
        agent_title=agent_list.agent_title,
        folder=listed.folder,
        agent_folder=listed.folder,
        updated=listed.updated,
        agent_session_id=listed.session_id,
        program=agent_list.program,
    )


def rename_session(session: SavedSession, name: str) -> None:
    """Name a recorded session. An empty name removes the name, so that the session's own title is shown.

    Raises `UserError` if the session is open or cannot be renamed.
    """
    stored = find_session(paths().data, session.id)
    with os_errors_reported("The session could not be renamed"):
        if stored.in_use():
            raise UserError("The session is open in another acp-tui; rename the session there.")
        rename_stored_session(stored, name)


def delete_session(session: SavedSession) -> None:
    """Delete a recorded session with its checkpoints, draft and comments.

    The search index contains the session until the index is updated: the caller must start the update.
    Raises `UserError` if the session is open or cannot be deleted.
    """
    stored = find_session(paths().data, session.id)
    if not remove_sessions(paths().data, [PruneCandidate(stored, 0)]):
        raise UserError("The session was not deleted: it is open, or its folder cannot be removed.")
    with os_errors_reported("The session was deleted, but its draft or comments could not be deleted"):
        Drafts(paths().state).save(session.id, "")
        SavedComments(paths().state).save(session.id, [])
