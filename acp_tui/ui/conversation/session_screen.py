"""Base class of the screens that show a session: a conversation, a replay or a subagent's transcript."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.ui import keys
from acp_tui.ui.conversation.entry_actions import EntryActions
from acp_tui.ui.conversation.side_panes import PaneActions, SidePanes
from acp_tui.ui.conversation.status_tracker import BACKGROUND_SECONDS, StatusTracker
from acp_tui.ui.dialogs.base_screen import BaseScreen, ConversationFacts, SessionContext, TextPlace
from acp_tui.ui.panes.pane import PaneItemAction, PanesAction
from acp_tui.ui.terminal.error_containment import contain_errors
from acp_tui.ui.transcript.search import TranscriptSearch
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.bar import KeyBar
from acp_tui.ui.widgets.input_line import FindLine
from acp_tui.ui.widgets.status_line import StatusLine
from acp_tui.ui.widgets.strips import NewBelow

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.layout import Layout
    from textual.widget import Widget

    from acp_tui.controller import Conversation
    from acp_tui.session.record import Change
    from acp_tui.session.state import Entry, Session, Subagent
    from acp_tui.ui.screens.wire.entry_finder import EntryFinder
    from acp_tui.ui.screens.wire.wire_screen import FrameSelection
    from acp_tui.wire.entry_frames import EntryPlace


FRAME_SECONDS = 1 / 30
"""The minimum number of seconds between two frames."""
HIDDEN_SECONDS = 0.25
"""The minimum number of seconds between two frames while another tab is in front.

Meanwhile, changes only update the mark of the conversation in the tab strip.
"""
TOAST_ROWS = 8
"""The minimum number of empty rows below the transcript for showing toasts there."""
QUIT_CONFIRM_SECONDS = 2.0
"""Seconds within which a second Ctrl+C quits."""


class SessionScreen(BaseScreen):
    """Shows a session: status, transcript, search, panes and footer.

    Changes of the session are passed to `frames`, which draws them.
    """

    BINDINGS: ClassVar = keys.bindings("anywhere")
    INTERRUPT: ClassVar[str] = "turn.interrupt"
    """The id of the binding of Ctrl+C on this screen."""
    DEFAULT_CSS = """
    SessionScreen { layers: page above; }
    """

    def __init__(self, session: Session, status: StatusTracker) -> None:
        super().__init__()
        self.context = SessionContext(session)
        self.status = status
        self.frames = FrameScheduler(self)
        self._undrawn = ChangeBatch()  # for the transcript and the panes, until this screen is visible
        self.transcript = Transcript(session)
        self.entry_actions = EntryActions(self, self.transcript, self.context)
        self._find_line = FindLine()
        self.find = Find(self._find_line, self.transcript)
        self.panes = SidePanes(self, self.transcript, self.context, lambda: self.type_text(""))
        self._pane_actions = PaneActions(self, self.panes, self.context)
        self.wire = WireOpener(self)
        self._interrupted_at = 0.0
        self._status_is_due = False

    def compose(self) -> ComposeResult:
        """Create the widgets from top to bottom."""
        facts = self.status.facts(self.session, self.now(), asking=False)
        yield StatusLine(facts, clock=self.now)
        yield self.transcript
        yield NewBelow(self.transcript, lambda: self.panes.is_overlay)
        yield self._find_line
        yield from self.compose_bottom()
        yield KeyBar()

    def compose_bottom(self) -> Iterable[Widget]:
        """Return the widgets between the transcript and the footer."""
        return ()

    def on_mount(self) -> None:
        self.transcript.use_clock(self.now)
        self.transcript.entry_layout.keymap = getattr(self.app, "keymap", {})
        self.watch(self.transcript, "unseen", self.query_one(NewBelow).show)
        self.app.mode_change_signal.subscribe(self, self._mode_changed, immediate=True)

    def _mode_changed(self, _: str) -> None:
        if self.is_in_front:
            self.came_to_front()

    @property
    def session(self) -> Session:
        """The session on the screen."""
        return self.context.session

    def show_session(self, session: Session, cwd: str) -> None:
        """Show another session from its beginning."""
        self.context.session, self.context.cwd = session, cwd
        self.transcript.use_session(session, cwd)

    @property
    def open_conversation(self) -> Conversation | None:
        """The conversation; None before it is created, and in a replay."""
        return self.context.conversation

    @property
    def folder(self) -> str:
        """The folder of the project, even if the agent works in a worktree; empty until known.

        In a replay, the working directory of the session.
        """
        conversation = self.context.conversation
        return str(conversation.project_folder) if conversation is not None else self.context.cwd

    def show_place(self, place: TextPlace) -> None:
        """Scroll to text in the conversation, and mark the text."""
        self.find.show_place(place)

    def now(self) -> float:
        """Return the current time, in seconds since the epoch.

        In a replay, return the time at which the current position was recorded.
        """
        return time.time()

    def type_text(self, text: str) -> None:  # noqa: ARG002  # screens with a prompt type it
        """Focus the prompt and type text into it. Without a prompt, the transcript handles the next keys."""
        self.transcript.end_typing()

    def choose_option(self, option: str) -> None:
        """Let the user choose a value for an agent option. Does nothing on a screen without an agent."""

    def show_server(self, name: str) -> None:
        """Show an MCP server of the conversation. Does nothing on a screen without an agent."""

    # ------------------------------------------------------------------------- drawing

    @property
    def layout(self) -> Layout:
        """The layout of the widgets: Textual's vertical one until panes are opened for the first time."""
        return self.panes.layout or super().layout

    def on_resize(self) -> None:
        """Hide or show the panes as the new width allows."""
        self.panes.resize()

    def show_changes(self, changes: list[Change]) -> None:
        """Draw the changes since the last frame, or keep them while another tab or page is in front."""
        self._undrawn.add(changes)
        if self.is_visible_page:
            self._draw_undrawn()
        self.update_status()

    def _draw_undrawn(self) -> None:
        changes = self._undrawn.take()
        if not changes:
            return
        with contain_errors(self.app):
            self.transcript.show_changes(changes)
        with contain_errors(self.app):
            self.panes.show_changes(changes)

    def on_screen_resume(self) -> None:
        """Draw what happened while a page covered this screen."""
        self._draw_undrawn()

    def came_to_front(self) -> None:
        """Draw what happened while another tab was in front."""
        self._draw_undrawn()
        self.update_status()

    def update_status(self) -> None:
        """Show the current state in the status line."""
        self.status.awaited = self.awaited()
        facts = self.status.facts(self.session, self.now(), asking=self.is_asking())
        for line in self.query(StatusLine):  # none while the screen closes
            line.facts = facts
        if facts.phase == "background" and not self._status_is_due:  # no event ends this phase
            self._status_is_due = True
            self.set_timer(BACKGROUND_SECONDS, self._update_status_later)

    def _update_status_later(self) -> None:
        self._status_is_due = False
        self.update_status()

    def show_others_asking(self, count: int) -> None:
        """Show in the status line the number of other tabs in which an agent waits for an answer."""
        if self.status.tabs_asking != count:
            self.status.tabs_asking = count
            self.update_status()

    def conversation_facts(self) -> ConversationFacts:
        """Return what the overview shows of this conversation."""
        from acp_tui.ui.dialogs import base_screen as overview

        session = self.session
        facts = self.status.facts(session, self.now(), asking=self.is_asking())
        return overview.ConversationFacts(
            facts, overview.running_call(session), overview.changed_files(session)
        )

    def is_asking(self) -> bool:
        """Return True while the agent waits for an answer from the user."""
        return False

    def awaited(self) -> str:
        """Return a status text: what the session waits for, or what the user can do; "" if there is none."""
        if self.session.phase == "connecting":
            return "starting" if self.session.agent is None else "opening a session"
        return "loading" if self.session.phase == "loading" else ""

    def place_toasts(self) -> None:
        """Put toasts into the empty space below a short conversation or, if that is too small, at the top."""
        rack = next(iter(self.query("ToastRack")), None)
        if rack is None:
            return  # not mounted yet, or already removed
        empty_rows = self.transcript.size.height - self.transcript.virtual_size.height
        if empty_rows >= TOAST_ROWS:
            rack.styles.dock, rack.styles.align_vertical = "bottom", "bottom"
            rack.styles.margin = (0, 0, self.size.height - self.transcript.region.bottom, 0)
        else:
            rack.styles.dock, rack.styles.align_vertical = "top", "top"
            rack.styles.margin = (max(1, self.transcript.region.y), 0, 0, 0)

    # ------------------------------------------------------------------------- messages of the widgets

    @on(NewBelow.Clicked)
    @on(StatusLine.PhaseClicked)
    def _scroll_to_end(self) -> None:
        self.transcript.follow()

    @on(Transcript.Typed)
    def _type_into_prompt(self, event: Transcript.Typed) -> None:
        self.type_text(event.text)

    @on(Transcript.LinkClicked)
    def _open_link(self, event: Transcript.LinkClicked) -> None:
        self.entry_actions.open_link(event.link)

    @on(Transcript.ActionRequested)
    def _run_transcript_action(self, event: Transcript.ActionRequested) -> None:
        event.stop()
        match event.action:
            case "find":
                self.find.move(event.step)
            case "leave":
                self.type_text("")
            case _ if event.entry is not None:
                self.run_entry_action(event.action, event.entry)
            case "copy":
                self.notify("There is nothing to copy yet.", timeout=3)

    def run_entry_action(self, action: str, entry: Entry) -> None:
        """Run an action, such as "copy", on an entry of the transcript."""
        if action == "wire":
            self.open_wire(entry)
        else:
            self.entry_actions.run(action, entry)

    @on(FindLine.Changed)
    def _find_text(self, event: FindLine.Changed) -> None:
        self.find.search(event.needle)

    @on(FindLine.Moved)
    def _find_next(self, event: FindLine.Moved) -> None:
        self.find.move(event.step)

    @on(FindLine.Closed)
    def _end_find(self) -> None:
        self.find.on_closed()

    @on(PanesAction)
    def _run_panes_action(self, event: PanesAction) -> None:
        event.stop()
        self.panes.run(event.action)

    @on(PaneItemAction)
    def _run_pane_item_action(self, event: PaneItemAction) -> None:
        event.stop()
        match event.action:
            case "edit":
                self.entry_actions.edit_file(event.key, event.line)
            case "set":
                self.choose_option(event.key)
            case "server":
                self.show_server(event.key)
            case _:
                self._pane_actions.run(event)

    # ------------------------------------------------------------------------- keys

    def action_entry(self, step: int) -> None:
        """Move the cursor to the next (1) or previous (-1) entry."""
        self.transcript.focus()
        self.transcript.move_cursor(step)

    def action_prompt(self, step: int) -> None:
        """Show the next (1) or previous (-1) prompt at the top; after the last, show the end."""
        self.transcript.focus()
        if not self.transcript.jump_to_prompt(step):
            self.type_text("")

    def action_page(self, step: int) -> None:
        """Scroll the transcript down (1) or up (-1) by a page."""
        self.transcript.scroll_lines(step * max(1, self.transcript.size.height - 1))

    def action_home(self) -> None:
        """Scroll to the beginning of the transcript."""
        self.transcript.action_scroll_home()

    def action_end(self) -> None:
        """Scroll to the end of the transcript."""
        self.transcript.follow()

    def action_focus_part(self) -> None:
        """Focus the next part of the screen."""
        self.app.action_focus_next()

    def action_search(self) -> None:
        self.find.open()

    def action_find_next(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match."""
        self.find.move(step)

    @on(StatusLine.UsageClicked)
    def action_usage(self) -> None:
        """Show the usage of the session: context window, tokens and cost."""
        from acp_tui.ui.conversation.usage_screen import UsageScreen

        warning = self.status.context_warning
        self.app.push_screen(UsageScreen(self.session, warning=warning, now=self.now))

    def action_wire(self) -> None:
        """Show the messages between acp-tui and the agent."""
        self.open_wire()

    def open_wire(self, entry: Entry | None = None) -> None:
        """Show all messages, or those that made an entry."""
        self.wire.open(entry)

    def show_entry_at(self, place: EntryPlace) -> None:
        """Show an entry of the transcript. Screens with subagents also show those of a subagent."""
        self.show_entry(place.entry)

    def show_entry(self, entry_id: int) -> None:
        """Move the cursor of the transcript to an entry."""
        self._draw_undrawn()
        if self.transcript.entry(entry_id) is None:
            self.notify("The transcript does not contain this entry yet.", timeout=4)
            return
        self.transcript.focus()
        self.transcript.cursor = entry_id
        self.transcript.scroll_to_entry(entry_id)

    @property
    def message_composer(self) -> Callable[[], None] | None:
        """Opens the dialog that sends a message to the agent by hand; None on a screen without an agent."""
        return None

    def action_toggle_panes(self) -> None:
        """Open or close the panes."""
        self.panes.toggle()

    def action_focus_panes(self) -> None:
        """Focus the panes, or go back from them to the prompt."""
        self.panes.toggle_focus()

    def close_find_or_overlay(self) -> bool:
        """Close the search, or panes that cover the transcript; return False if neither is open."""
        return self.find.close() or self.panes.close_overlay()

    def copy_selection(self) -> bool:
        """Copy the selected text; return False if nothing is selected."""
        if (selected := self.get_selected_text()) is None:
            return False
        self.app.copy_to_clipboard(selected)
        self.clear_selection()
        return True

    def quit_if_repeated(self) -> None:
        """Quit on the second call within `QUIT_CONFIRM_SECONDS`; on the first, ask for another Ctrl+C."""
        if self.is_second_interrupt("quit"):
            self.app.call_later(self.app.action_quit)  # asks first if agents in other tabs are working

    def is_second_interrupt(self, effect: str) -> bool:
        """Return True on the second call within `QUIT_CONFIRM_SECONDS`; on the first, ask for another Ctrl+C.

        `effect` says what the other Ctrl+C will do.
        """
        if time.monotonic() - self._interrupted_at < QUIT_CONFIRM_SECONDS:
            return True
        self._interrupted_at = time.monotonic()
        key = keys.bound_keys(self, self.INTERRUPT)
        self.notify(f"Press {key} again to {effect}.", timeout=QUIT_CONFIRM_SECONDS)
        return False


class WireOpener:
    """Opens the wire screen over the screen of a conversation or replay, or over one of its subagents."""

    def __init__(self, screen: SessionScreen) -> None:
        """`screen` is the screen of the conversation or replay."""
        self._screen = screen
        self._finders: dict[Path, EntryFinder] = {}

    def open(self, entry: Entry | None = None, subagent: Subagent | None = None) -> None:
        """Show all messages, those of a subagent, or those that made an entry of either."""
        from acp_tui.ui.screens.wire.wire_screen import FrameSelection
        from acp_tui.wire.entry_frames import EntryPlace

        only: FrameSelection | None = None
        if entry is not None:
            place = EntryPlace(subagent.key if subagent is not None else "", entry.id)
            label = kind_of(entry).title.lower()
            only = FrameSelection(label, lambda frames: frames.frames_of(place))
        elif subagent is not None:
            key = subagent.key
            label = escape_line(f"subagent {subagent.name}")
            only = FrameSelection(label, lambda frames: frames.frames_of_subagent(key))
        self._open(only)

    def _open(self, only: FrameSelection | None) -> None:
        from acp_tui.ui.screens.wire.entry_finder import EntryFinder
        from acp_tui.ui.screens.wire.wire_screen import NOT_RECORDED, WireContext, WireScreen

        screen = self._screen
        path = screen.wire_log
        if path is None:
            screen.app.notify(
                NOT_RECORDED if screen.session.entries else "Nothing is recorded yet.", timeout=6
            )
            return
        context = WireContext(
            path,
            screen.tab_state.label,
            screen.folder,
            self._finders.setdefault(path, EntryFinder()),
            screen.show_entry_at,
            lambda: screen.message_composer,
        )
        try:
            wire = WireScreen(context, only)
        except UserError as error:
            screen.notify_error(error)
            return
        wire.mode = screen.mode
        screen.open_dialog(wire)


class FrameScheduler:
    """Draws the first change after a pause immediately, and collects later ones for the next frame."""

    def __init__(self, screen: SessionScreen) -> None:
        self._screen = screen
        self._changes = ChangeBatch()
        self._is_scheduled = False
        self._drawn_at = 0.0

    def add(self, changes: Sequence[Change]) -> None:
        """Queue changes for the next frame."""
        self._changes.add(changes)
        if not self._is_scheduled and changes:
            self._is_scheduled = True
            pause = FRAME_SECONDS if self._screen.is_visible_page else HIDDEN_SECONDS
            wait = max(0.0, self._drawn_at + pause - time.monotonic())
            asyncio.get_running_loop().call_later(wait, self._screen.call_next, self.flush)

    def flush(self) -> None:
        """Draw the queued changes now."""
        self._is_scheduled = False
        changes = self._changes.take()
        if changes and self._screen.display:  # False while the screen is being removed and has no widgets
            self._screen.show_changes(changes)
        self._drawn_at = time.monotonic()


class ChangeBatch:
    """Collects changes, one of each kind for each entry, and one for each session attribute.

    Changes of a subagent are kept separately for each subagent. Without repeated changes, a long turn in
    the background needs less memory and drawing time.
    """

    def __init__(self) -> None:
        self._changes: dict[Hashable, Change] = {}

    def add(self, changes: Iterable[Change]) -> None:
        """Add changes that are not in the batch yet."""
        for change in changes:
            self._changes.setdefault(_key(change), change)

    def take(self) -> list[Change]:
        """Return the changes in their order, and forget them."""
        changes, self._changes = list(self._changes.values()), {}
        return changes


def _key(change: Change) -> Hashable:
    """Return what the change is about."""
    if change.inner is not None:
        return (id(change.session), _key(change.inner))
    return (change.kind, change.fact if change.entry is None else id(change.entry))


class Find:
    """Searches for what the user types into the search line."""

    def __init__(self, line: FindLine, transcript: Transcript) -> None:
        self._line = line
        self._transcript = transcript
        self._search = TranscriptSearch(transcript)

    @property
    def is_open(self) -> bool:
        """True while the search line is visible."""
        return self._line.shown

    def open(self) -> None:
        """Show and focus the search line."""
        self._line.open()

    def close(self) -> bool:
        """Hide the search line; return False if it is hidden already."""
        was_open = self.is_open
        if was_open:
            self._line.action_close()
        return was_open

    def search(self, text: str) -> None:
        self._search.search(text)
        self._show_count()

    def move(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match.

        If the search line is hidden but contains text, show it and repeat the search first.
        """
        if not self._line.shown and self._line.needle:
            self._line.show()
            self._search.search(self._line.needle)
        if not self._search.move(step):
            self._line.app.bell()
        self._show_count()

    def show_place(self, place: TextPlace) -> None:
        """Scroll to text in an entry and mark the text, as if the user had searched for it.

        Does nothing if there is no such entry.
        """
        if self._transcript.entry(place.entry) is None:
            return  # the log was changed or shortened after it was indexed
        if place.text:
            self._line.show_needle(place.text)
            self._search.search(place.text)
        self._search.move_to(place.entry)
        self._show_count()

    def clear(self) -> None:
        self._search.clear()

    def on_closed(self) -> None:
        """Forget the matches and focus the transcript. Called once the search line is hidden."""
        self.clear()
        self._transcript.focus()

    def _show_count(self) -> None:
        self._line.show_position(self._search.number, self._search.total)
