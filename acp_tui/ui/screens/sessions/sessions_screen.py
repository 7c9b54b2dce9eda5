"""The screen that lists recorded sessions and searches in them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import on, work
from textual.events import Unmount
from textual.widgets import Input, Static

from acp_tui.config.paths import paths
from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.session_list.index_updater import IndexProgress, IndexUpdater
from acp_tui.session_list.saved_sessions import SavedSession, load_saved_sessions, merge
from acp_tui.session_list.search import SessionHit, SessionSearch
from acp_tui.store.stored_sessions import WIRE, sessions_directory
from acp_tui.text_format import display_path
from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import BaseScreen, TextPlace
from acp_tui.ui.screens.sessions.agent_lists import AgentLists
from acp_tui.ui.screens.sessions.session_actions import SessionActions, SessionToOpen, open_conversation
from acp_tui.ui.screens.sessions.session_list_state import (
    FoundLine,
    LiveSearch,
    SessionListState,
    SessionRows,
)
from acp_tui.ui.terminal import gc_control
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.input_line import InputLine
from acp_tui.ui.widgets.select_list import SelectList
from acp_tui.workspace.git.worktree import record_worktrees
from acp_tui.workspace.git.worktree_finishing import count_changed_files

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.ui.screens.sessions.session_actions import MakeSessionScreen
    from acp_tui.ui.screens.sessions.session_list_state import Item


log = logging.getLogger(__name__)


class SessionsScreen(BaseScreen):
    """Lists sessions. Typing filters the sessions, and finds matching lines in their conversations."""

    BINDINGS: ClassVar = keys.bindings("sessions")
    DEFAULT_CSS = """
    SessionsScreen { layout: vertical; background: $background; }
    SessionsScreen Bar { padding: 0 1; }
    SessionsScreen #head { background: $surface; }
    SessionsScreen InputLine { padding: 0 1; margin: 1 1 0 1; }
    SessionsScreen #columns { margin-top: 1; }
    SessionsScreen SelectList { height: 1fr; margin: 0 1; }
    SessionsScreen #about {
        height: 2; padding: 0 1; margin-top: 1; color: $text-muted;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    AUTO_FOCUS = "InputLine"
    lists_sessions = True

    def __init__(
        self,
        folder: Path,
        make_screen: MakeSessionScreen,
        *,
        over: BaseScreen | None = None,
    ) -> None:
        """Create the screen.

        Args:
            folder: The current folder. At first, only its sessions are listed.
            make_screen: Makes the screen of the session that the user opens.
            over: The screen below this one; None if this one is the base screen.
        """
        super().__init__()
        self._folder = folder
        self._make_screen = make_screen
        self._over = over
        self._state = SessionListState(os.path.realpath(folder))
        self._loaded = False
        self._has_left = False
        self._indexing = ""  # what is being indexed
        self._search = LiveSearch(
            SessionSearch(paths().cache), self._show_hits, self._show_problem, self._rebuild_index
        )
        self._index = IndexUpdater(self._show_progress, self._show_problem)
        self._recorded: list[SavedSession] = []
        self._worktree_files: dict[Path, int] = {}  # the numbers of changed files, by the worktrees' paths
        self._agents = AgentLists(self, folder, self._merge)
        self._changes = SessionActions(self, self._agents, self.action_reload)

    def compose(self) -> ComposeResult:
        """Create the widgets from top to bottom."""
        yield Bar(self._title(), id="head")
        yield InputLine(placeholder="type to filter the sessions and to search in them", id="filter")
        yield Bar([], id="columns")
        yield SelectList([])
        yield Static(markup=False, id="about")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the sessions once the first frame is complete."""
        self.watch(self.query_one(SelectList), "selected", lambda _: self._show_about(), init=False)
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        gc_control.resume()
        self.run_worker(self._agents.ask_connected(), group="agents", exclusive=True)
        self.action_reload()

    @on(Unmount)
    async def _end_all(self) -> None:
        """Stop the search, the update of the index, and an agent that was started to list its sessions."""
        self._has_left = True
        await self._search.close()
        await self._index.close()
        await self._agents.close()

    # ------------------------------------------------------------------------- reading

    def action_reload(self) -> None:
        """Read the sessions again, and update the index."""
        self._load()
        self._index.start()

    @work(exclusive=True, group="load")
    async def _load(self) -> None:
        def load() -> list[SavedSession]:
            search = SessionSearch(paths().cache)
            try:
                return load_saved_sessions(paths().data, paths().state, search.facts())
            finally:
                search.close()

        try:
            sessions = await asyncio.to_thread(load)
        except OSError as error:
            self._show_problem(f"The sessions cannot be read: {error.strerror or error}.")
            return
        self._loaded = True
        self._recorded = sessions
        self._merge()
        self._examine_worktrees(sessions)

    @work(exclusive=True, group="worktrees")
    async def _examine_worktrees(self, sessions: list[SavedSession]) -> None:
        """Count the changed files of the worktrees, and find worktrees that are not recorded."""
        if self._has_left:
            return
        known = [session.worktree for session in sessions if session.worktree is not None]
        if await asyncio.to_thread(record_worktrees, self._folder, paths().data, known):
            self._load()
            return
        for worktree in dict.fromkeys(known):
            try:
                count = await asyncio.to_thread(count_changed_files, worktree)
            except UserError as error:
                log.info("The changed files of %s could not be counted: %s", worktree.path, error)
                count = None
            if self._worktree_files.get(worktree.path) == count:
                continue
            if count is None:
                del self._worktree_files[worktree.path]
            else:
                self._worktree_files[worktree.path] = count
            self._merge()

    def _merge(self) -> None:
        """Show the recorded sessions, and those that only an agent has."""
        if self._loaded and not self._has_left:
            recorded = [self._with_worktree_files(session) for session in self._recorded]
            listed = merge(recorded, self._agents.lists)
            self._state.load(listed, complete=self._agents.connected_have_answered)
            self._show(keep_selection=True)

    def _with_worktree_files(self, session: SavedSession) -> SavedSession:
        """Return the session with the number of changed files in its worktree, once that is known."""
        files = self._worktree_files.get(session.worktree.path) if session.worktree is not None else None
        return session if files is None else replace(session, changed_files=files)

    def _rebuild_index(self) -> None:
        self._index.start(rebuild=True)

    def _show_progress(self, progress: IndexProgress) -> None:
        changed = progress.done > 0 or bool(self._indexing)
        self._indexing = _indexing_sentence(progress)
        if changed and not self._indexing:
            self._load()
        if changed:
            self._find()
        self._show_head()

    def _show_problem(self, sentence: str) -> None:
        self._indexing = ""
        self.notify(sentence, severity="warning")

    # ------------------------------------------------------------------------- what is shown

    def _title(self) -> Spans:
        palette = current_palette()
        state = self._state
        where = display_path(str(self._folder)) if state.this_folder else "all folders"
        return [Segment("Sessions ", palette.strong), Segment(f" {where}", palette.dim)]

    def _show_head(self) -> None:
        state = self._state
        shown = len(state.sessions)
        count = f"{shown:,} of {state.count:,}" if shown < state.count else f"{state.count:,}"
        lines = f" · {pluralize(len(state.lines), 'matching line')}" if state.lines else ""
        asking = f"Asking {self._agents.asking} … (Esc stops)" if self._agents.asking else ""
        text = f" {asking or self._indexing or f'{count}{lines}'}"
        self.query_one("#head", Bar).show(self._title(), [Segment(text, current_palette().dim)])

    def _show(self, *, keep_selection: bool = False) -> None:
        """Show the list. With `keep_selection` the selected item stays selected if it is still listed."""
        rows, state = self.query_one(SelectList), self._state
        selected = self._selected if keep_selection else None
        draw = SessionRows(self.size.width, with_folder=not state.this_folder)
        drawn = [draw.session(session, ()) for session in state.sessions]
        heading: list[Spans] = [[Segment("In the conversations", current_palette().heading2)]]
        above: list[Spans] = [[], *heading] if drawn else heading
        for line in state.lines:
            drawn.append(draw.found_line(line, above))
            above = []
        rows.empty_text = self._empty_text()
        rows.show(drawn, _index_of(selected, state.items))
        self.query_one("#columns", Bar).show(*(draw.heading() if state.sessions else ([], [])))
        self._show_head()
        self._show_about()

    def _empty_text(self) -> str:
        if not self._loaded or not self._state.folder_chosen:
            return ""
        key = keys.bound_keys(self, "sessions.folder")
        hint = f" {key} lists the sessions of all folders." if self._state.this_folder else ""
        if self._state.query:
            return f'No matches for "{escape_line(self._state.query)}".{hint}'
        return f"No recorded sessions.{hint}"

    def _show_about(self) -> None:
        item = self._selected
        lines = []
        if item is not None:
            session = item.session if isinstance(item, FoundLine) else item
            lines.append(item.found.hit.line if isinstance(item, FoundLine) else session.title)
            lines.append(" · ".join(part for part in self._about(session) if part))
        self.query_one("#about", Static).update("\n".join(lines), layout=False)  # its height is fixed
        self.refresh_bindings()

    def _about(self, session: SavedSession) -> Iterator[str]:
        """Yield the parts of the line about the selected session."""
        if session.in_use:
            yield "open"
        elif session.only_at_agent:
            yield "stored by the agent only"
        worktree = session.worktree
        if session.only_worktree:
            yield "worktree without a session"
        else:
            yield session.agent_title
            yield f"worktree {escape_line(worktree.branch)}" if worktree is not None else ""
        if worktree is not None and worktree.path in self._worktree_files:
            yield pluralize(self._worktree_files[worktree.path], "changed file")
        yield display_path(session.folder)

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
        self._show(keep_selection=True)

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self._show(keep_selection=True)

    # ------------------------------------------------------------------------- filter and search

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list, and search in the conversations."""
        self._state.filter(event.value.strip())
        self._show()
        self._find()

    def _find(self) -> None:
        self._search.search(self._state.query, self._state.searched)

    def _show_hits(self, hits: list[SessionHit]) -> None:
        self._state.show_hits(hits)
        self._show(keep_selection=True)

    def action_toggle_folder(self) -> None:
        """List the sessions of all folders, or only those of the current one."""
        self._state.toggle_folder()
        self._show()
        self._find()

    # ------------------------------------------------------------------------- keys

    @property
    def _selected(self) -> Item | None:
        items = self._state.items
        for rows in self.query(SelectList):  # none while the screen closes
            if 0 <= rows.selected < len(items):
                return items[rows.selected]
        return None

    @property
    def _session(self) -> SavedSession | None:
        item = self._selected
        return item.session if isinstance(item, FoundLine) else item

    def action_move(self, step: int) -> None:
        """Move the selection. At the ends, a single step wraps around and a longer one stops."""
        self.query_one(SelectList).move(step)

    def action_next_section(self) -> None:
        """Move the selection from the sessions to the matching lines, or back."""
        rows, first_line = self.query_one(SelectList), len(self._state.sessions)
        rows.selected = first_line if rows.selected < first_line and self._state.lines else 0

    def on_select_list_chosen(self) -> None:
        """Open the clicked session."""
        self.action_choose()

    def action_choose(self) -> None:
        """Open the selected session, at the matching line if one is selected."""
        item = self._selected
        if item is None:
            self.app.bell()
            return
        place = None
        if isinstance(item, FoundLine):
            place = TextPlace(item.found.position, item.found.hit.needle)
            item = item.session
        if item.only_worktree:
            self.run_worker(self._open_worktree(item), group="open", exclusive=True)
        elif item.only_at_agent:
            agent = None if item.program else item.agent
            program, session = item.program or None, item.agent_session_id or ""
            self._open(SessionToOpen(session, agent, program, item.title, item.agent_folder or None))
        else:
            self._open(SessionToOpen(item.id, place=place))

    async def _open_worktree(self, item: SavedSession) -> None:
        """Open a new session in a worktree, with an agent that the user chooses."""
        agent = await self._agents.choose(f"Start an agent in the worktree {item.title}")
        if agent is not None:
            self._open(SessionToOpen("", agent, folder=item.agent_folder, worktree=item.worktree))

    def _open(self, wanted: SessionToOpen) -> None:
        session = None if wanted.fork else wanted.session or None
        make = partial(self._make_screen, wanted)
        open_conversation(self, self._over, make, session=session, place=wanted.place)

    def action_ask_agent(self) -> None:
        """Start an agent that the user chooses, and list the agent's sessions. Esc ends the agent."""
        self.run_worker(self._agents.choose_and_ask(), group="agents", exclusive=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now. The footer omits the keys of other actions."""
        if action == "fork":
            return self._session is not None and self._session.can_fork
        if action == "finish_worktree":
            worktree = self._session.worktree if self._session is not None else None
            return worktree is not None and worktree.path in self._worktree_files
        if action in ("rename", "export"):
            return self._session is None or not self._session.only_worktree
        return super().check_action(action, parameters)

    def action_fork(self) -> None:
        """Let the agent copy the selected session, and open the copy."""
        if (session := self._session) is not None:
            self._open(SessionToOpen(session.id, fork=True))

    def action_wire(self) -> None:
        """Show the messages of the selected session."""
        from acp_tui.ui.screens.wire.wire_screen import open_log

        if (session := self._session) is not None:
            path = sessions_directory(paths().data) / session.id / WIRE if session.id else None
            open_log(self.app, path, session.title)

    def action_rename(self) -> None:
        """Give the selected session a name."""
        if (session := self._session) is not None:
            self.run_worker(self._changes.rename(session), group="change", exclusive=True)

    def action_delete(self) -> None:
        """Delete the selected session or worktree after a confirmation."""
        if (session := self._session) is not None:
            self.run_worker(self._changes.delete(session), group="change", exclusive=True)

    def action_finish_worktree(self) -> None:
        """Merge or discard the worktree of the selected session, or the selected worktree."""
        if (session := self._session) is not None:
            self.run_worker(self._changes.finish_worktree(session), group="change", exclusive=True)

    def action_export(self) -> None:
        """Export the selected session to a file."""
        if (session := self._session) is not None:
            self.run_worker(self._changes.export(session), group="change", exclusive=True)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of a key if the label depends on the state; None for the usual label."""
        if key_id == "sessions.folder":
            return "all folders" if self._state.this_folder else "this folder"
        if self._session is not None and self._session.only_worktree:
            if key_id == "sessions.open":
                return "new session"
            if key_id == "sessions.delete":
                return "discard"
        return "back" if key_id == "sessions.close" and self._over else None

    def action_close(self) -> None:
        """Stop asking an agent, clear the filter, go back to the screen below this one, or close the tab.

        Does only the first action that applies.
        """
        filtering = self.query_one(InputLine)
        if self._agents.asking:
            self.workers.cancel_group(self, "agents")
        elif filtering.value:
            filtering.value = ""
        elif self._over is not None:
            self.app.pop_screen()
        else:
            self.post_message(self.CloseRequested(self))


def _indexing_sentence(progress: IndexProgress) -> str:
    if progress.waiting:
        return "Indexing sessions …"
    left = progress.done < progress.total
    return f"Indexing {progress.done:,} of {progress.total:,} sessions …" if left else ""


def _index_of(item: Item | None, items: list[Item]) -> int:
    """Return the index of an item, or of the item that has replaced it; 0 if neither is listed."""
    if item is None:
        return 0
    return next((index for index, other in enumerate(items) if _same(item, other)), 0)


def _same(one: Item, other: Item) -> bool:
    if isinstance(one, FoundLine) or isinstance(other, FoundLine):
        return one == other
    if one.only_worktree or other.only_worktree:
        return one.worktree == other.worktree and one.id == other.id
    return one.id == other.id and one.agent_session_id == other.agent_session_id
