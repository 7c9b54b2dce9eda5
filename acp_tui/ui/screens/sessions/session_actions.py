"""What the user can do with the selected session: open, rename, delete and export it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.config.paths import paths
from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.store.stored_sessions import StoredSession, list_sessions
from acp_tui.ui.dialogs.base_screen import BaseScreen, TextPlace, app_of
from acp_tui.ui.screens.worktree import FinishDialogs
from acp_tui.ui.theme.themes import PREFIX
from acp_tui.workspace.git.worktree import Worktree, WorktreeLock, save_missing_record
from acp_tui.workspace.git.worktree_finishing import WorktreeStatus, remove_worktree, worktree_status

if TYPE_CHECKING:
    from acp_tui.controller.agent_sessions import AgentSessions
    from acp_tui.session_list.saved_sessions import SavedSession
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
        from acp_tui.session_list.saved_sessions import rename_session
        from acp_tui.ui.dialogs.rename_dialog import RenameDialog

        if session.only_at_agent:
            self._screen.notify(NOT_RECORDED)
            return
        title = "leave empty for the original title or first prompt" if session.name else session.title
        dialog = RenameDialog(session.name, title, heading="Name of the session")
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
        from acp_tui.ui.dialogs.confirm import ConfirmScreen

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
        dialog = ConfirmScreen(question, yes="Delete the session", no="Keep it")
        if await self._screen.ask(dialog):
            await self._delete(session, agent)

    async def _delete(self, session: SavedSession, agent: AgentSessions | None) -> None:
        from acp_tui.config.paths import paths
        from acp_tui.session_list.saved_sessions import delete_session
        from acp_tui.store.stored_sessions import find_session

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
        from acp_tui.ui.dialogs.choose import EXPORT_FORMATS, ChooseScreen

        if session.only_at_agent:
            self._screen.notify(NOT_RECORDED)
            return
        dialog = ChooseScreen("Export the session", EXPORT_FORMATS)
        form = await self._screen.ask(dialog)
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


async def offer_to_remove_worktree(screen: BaseScreen, deleted: StoredSession) -> None:
    """Ask whether to delete the worktree of a deleted session, and do what was chosen. Raises `UserError`.

    A worktree that another recorded session uses is kept without a question.
    """
    worktree = Worktree.from_meta(deleted.meta, paths().data)
    if worktree is None or await asyncio.to_thread(_is_used, worktree):
        return
    await asyncio.to_thread(save_missing_record, worktree)
    status = await asyncio.to_thread(worktree_status, worktree)
    question = "Also delete the session's git worktree and its branch?"
    if await _confirm(screen, question, worktree, _losses(status)):
        await _remove(worktree, status)


async def finish_worktree(screen: BaseScreen, worktree: Worktree) -> str:
    """Ask whether to keep, merge or discard a worktree, and do so. Raises `UserError`.

    Return a sentence that says what was done; an empty string if nothing was.
    """
    _require_unused(worktree)
    status = await asyncio.to_thread(worktree_status, worktree)
    if status.is_unchanged:
        return await discard_worktree(screen, worktree)
    decision = await FinishDialogs(screen, worktree, is_open=False).ask(status)
    if decision is None or decision.to_remove is None:
        return ""
    try:
        await _remove(worktree, decision.to_remove)
    except UserError as error:
        raise UserError(f"{decision.merged} {error}".strip()) from error
    return f"{decision.merged} {_removed(worktree)}".strip()


async def discard_worktree(screen: BaseScreen, worktree: Worktree) -> str:
    """Delete a worktree and its branch after a question that names what is lost. Raises `UserError`.

    Return a sentence that says what was done; an empty string if nothing was.
    """
    _require_unused(worktree)
    question = "Delete this git worktree and its branch?"
    if not worktree.repository.is_dir():
        losses = "Its repository is gone. Everything in the folder would be lost."
        if not await _confirm(screen, question, worktree, losses):
            return ""
        await asyncio.to_thread(remove_worktree, worktree)
        return _removed(worktree)
    status = await asyncio.to_thread(worktree_status, worktree)
    if status.is_unchanged:
        confirmed = await _confirm(screen, question, worktree, _losses(status))
    else:
        confirmed = await FinishDialogs(screen, worktree, is_open=False).confirm_discard(status)
    if not confirmed:
        return ""
    await _remove(worktree, status)
    return _removed(worktree)


async def _confirm(screen: BaseScreen, question: str, worktree: Worktree, losses: str) -> bool:
    from acp_tui.ui.dialogs.confirm import ConfirmScreen

    where = f"{escape_line(str(worktree.path))} · {escape_line(worktree.branch)}"
    text = f"{question}\n\n{where}\n\n{losses}"
    dialog = ConfirmScreen(text, yes="Delete the worktree", no="Keep it")
    return await screen.ask(dialog) is True


async def _remove(worktree: Worktree, shown: WorktreeStatus) -> None:
    """Remove a worktree unless it has changed since its status was shown. Raises `UserError`."""
    if await asyncio.to_thread(worktree_status, worktree) != shown:
        raise UserError("The worktree was kept: it has changed since you were asked.")
    await asyncio.to_thread(remove_worktree, worktree)


def _removed(worktree: Worktree) -> str:
    return f"The worktree on the branch {escape_line(worktree.branch)} was removed."


def _require_unused(worktree: Worktree) -> None:
    """Raise `UserError` if a conversation works in the worktree."""
    lock = WorktreeLock(worktree.path)
    try:
        if lock.is_shared():
            raise UserError("A conversation works in this worktree. Close that one first.")
    finally:
        lock.release()


def _is_used(worktree: Worktree) -> bool:
    return any(
        Worktree.from_meta(session.meta, paths().data) == worktree for session in list_sessions(paths().data)
    )


def _losses(status: WorktreeStatus) -> str:
    counts = [
        (len(status.commits), "commit"),
        (len(status.changed), "changed file"),
        (len(status.untracked), "untracked file"),
        (len(status.ignored), "ignored file"),
    ]
    losses = [pluralize(count, name) for count, name in counts if count]
    return f"This would be lost: {', '.join(losses)}." if losses else "Nothing would be lost."


class SessionToOpen(NamedTuple):
    """A session to open, and the place in it to scroll to."""

    session: str  # the id of the recording, or the agent's id of the session; empty: a new session
    agent: str | None = None  # its agent; None if the recording names it
    program: str | None = None  # the command line of an agent that has no name
    title: str = ""  # in the agent's list; safe to display
    folder: str | None = None  # where the agent starts; None for the folder of the recording
    place: TextPlace | None = None
    fork: bool = False  # open a copy of the recorded session; the agent makes the copy
    worktree: Worktree | None = None  # in which to open a new session


if TYPE_CHECKING:
    MakeSessionScreen = Callable[[SessionToOpen], BaseScreen]
    """Makes the conversation screen for the session to open."""


def open_conversation(
    chooser: BaseScreen,
    over: BaseScreen | None,
    make: Callable[[], BaseScreen],
    *,
    session: str | None = None,
    place: TextPlace | None = None,
) -> None:
    """Show the chosen conversation, in a tab of its own or in place of the chooser.

    Args:
        chooser: The screen on which the user chose the conversation.
        over: The screen that the chooser covers; None if the chooser covers no screen. A chooser that covers
            a screen is closed.
        make: Makes the screen of the conversation. The screen opens in a new tab if `over` is given;
            otherwise the screen replaces the chooser.
        session: The id of a recorded session. If a tab already has this session open, show that tab instead.
        place: Text in that session to scroll to.
    """
    if over is not None:
        chooser.app.pop_screen()
    if session is not None and app_of(chooser).show_session(session, place):
        return
    screen = make()
    if over is not None:
        over.post_message(over.TabRequested(screen))
    else:
        chooser.post_message(chooser.SwitchRequested(chooser, screen))
