"""What the user can do with the selected session besides opening it: rename, delete and export it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.ui.app_interface import app_of
from acp_tui.ui.theme.themes import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.controller.agent_sessions import AgentSessions
    from acp_tui.session_list.saved_session import SavedSession
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.sessions.agent_lists import AgentLists

NOT_RECORDED = "acp-tui has no recording of this session."
IN_USE = "This session is open. Close it first."


class SessionActions:
    """Renames, deletes and exports sessions, after asking for a name, a confirmation or a format."""

    def __init__(self, screen: BaseScreen, agents: AgentLists, reload: Callable[[], None]) -> None:
        """`reload` reads the list again after a change."""
        self._screen = screen
        self._agents = agents
        self._reload = reload

    async def rename(self, session: SavedSession) -> None:
        """Ask for a name and save it."""
        from acp_tui.session_list.rename_and_delete import rename_session
        from acp_tui.ui.tabs.rename_dialog import RenameDialog

        if session.only_at_agent:
            self._screen.notify(NOT_RECORDED)
            return
        title = "leave empty for the original title or first prompt" if session.name else session.title
        dialog = RenameDialog(session.name, title, self._screen.palette, heading="Name of the session")
        name = await self._screen.ask(dialog)
        if name is None:
            return
        try:
            if not app_of(self._screen).rename_session(session.id, name):
                await asyncio.to_thread(rename_session, session, name)
        except UserError as error:
            self._screen.notify_error(error)
        self._reload()

    async def delete(self, session: SavedSession) -> None:
        """Ask for a confirmation and delete the recording, if there is one, or a worktree without a session.

        The agent's copy is also deleted if the agent is connected and can delete sessions. A session that is
        open is not deleted.
        """
        from acp_tui.ui.screens.dialogs.confirm import ConfirmScreen

        if session.only_worktree:
            await self._change_worktree(session, discard=True)
            return
        if session.in_use:
            self._screen.notify(IN_USE)
            return
        agent = self._agents.connected(session.agent) if session.agent_session_id else None
        if agent is not None and not agent.can_delete:
            agent = None
        if agent is None and session.only_at_agent:
            self._screen.notify(f"{session.agent_title} is not connected, or cannot delete sessions.")
            return
        title = session.title or session.id or session.agent_session_id
        question = f"Delete this session?\n\n{title}\n\n{_what_is_deleted(session, agent)}"
        dialog = ConfirmScreen(question, self._screen.palette, yes="Delete the session", no="Keep it")
        if await self._screen.ask(dialog):
            await self._delete(session, agent)

    async def _delete(self, session: SavedSession, agent: AgentSessions | None) -> None:
        from acp_tui.config.paths import paths
        from acp_tui.session_list.rename_and_delete import delete_session
        from acp_tui.store.stored_sessions import find_session
        from acp_tui.ui.screens.sessions.worktree_question import offer_to_remove_worktree

        try:
            if not session.only_at_agent:
                stored = find_session(paths().data, session.id)
                await asyncio.to_thread(delete_session, session)
                self._reload()
                await offer_to_remove_worktree(self._screen, stored)
            if agent is not None and session.agent_session_id is not None:
                await agent.delete(session.agent_session_id)
                self._agents.forget(session.agent, session.agent_session_id)
        except UserError as error:
            self._screen.notify_error(error)
        self._reload()

    async def finish_worktree(self, session: SavedSession) -> None:
        """Ask whether to keep, merge or discard the session's worktree, and do so."""
        if session.in_use:
            self._screen.notify(IN_USE)
        else:
            await self._change_worktree(session, discard=False)

    async def _change_worktree(self, session: SavedSession, *, discard: bool) -> None:
        from acp_tui.ui.screens.sessions.worktree_question import discard_worktree, finish_worktree

        if session.worktree is None:
            return
        change = discard_worktree if discard else finish_worktree
        try:
            sentence = await change(self._screen, session.worktree)
        except UserError as error:
            self._screen.notify_error(error)
        else:
            if sentence:
                self._screen.notify(sentence, timeout=10, markup=False)
        self._reload()

    async def export(self, session: SavedSession) -> None:
        """Ask for a format and write the session to a file."""
        from acp_tui.app_context import AppContext
        from acp_tui.config.paths import paths
        from acp_tui.store.stored_sessions import find_session
        from acp_tui.ui.screens.conversation.export_dialog import FORMATS
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        if session.only_at_agent:
            self._screen.notify(NOT_RECORDED)
            return
        form = await self._screen.ask(ChooseScreen("Export the session", FORMATS, self._screen.palette))
        if form is None:
            return
        theme = self._screen.app.theme.removeprefix(PREFIX)

        def export() -> Path:
            stored = find_session(paths().data, session.id)
            cwd = Path(stored.text("cwd") or ".")
            return AppContext.open(cwd).export_stored(stored, cwd, form, theme)

        try:
            path = await asyncio.to_thread(export)
        except UserError as error:
            self._screen.notify_error(error)
        else:
            self._screen.notify(f"Exported to {path}", timeout=10)


def _what_is_deleted(session: SavedSession, agent: AgentSessions | None) -> str:
    recording = "" if session.only_at_agent else "Recording, checkpoints and draft are deleted permanently. "
    if agent is not None:
        return f"{recording}{session.agent_title} is asked to delete its own copy."
    return f"{recording}{session.agent_title} may still have a copy of its own."
