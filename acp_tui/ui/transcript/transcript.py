"""The transcript widget with its keys: a cursor over entries, and actions on the current one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.message import Message

from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.session.state import AgentMessage, Entry
from acp_tui.ui import keys
from acp_tui.ui.keys.key_sequencer import forward_typeahead
from acp_tui.ui.terminal.textual_keys import run_binding
from acp_tui.ui.transcript.view import MAX_ENTRY_LINES, TranscriptView

if TYPE_CHECKING:
    from textual import events

    from acp_tui.session.record import Change


class Transcript(TranscriptView):
    """The focusable transcript. Bound letters run actions; other typed text goes to the prompt."""

    BINDINGS: ClassVar = keys.bindings("transcript")
    FOCUS_ON_CLICK = False  # text typed after selecting with the mouse is meant for the prompt

    forwards_typing = True
    """Whether typed text that is no key of the transcript goes to the prompt."""
    _offered_fold: bool | None = None  # whether the fold key was offered last
    _typing = False  # a printable key was passed on, and the focus is moving to the prompt

    class ActionRequested(Message):
        """The user requested an action that the screen carries out, such as copying an entry."""

        def __init__(self, action: str, entry: Entry | None = None, step: int = 0) -> None:
            super().__init__()
            self.action = action
            self.entry = entry
            self.step = step

    class Typed(Message):
        """The user typed or pasted text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    @property
    def current_entry(self) -> Entry | None:
        """The entry at the cursor; without a cursor, the last one in the viewport."""
        return self.entry(self.current_id)

    async def on_key(self, event: events.Key) -> None:
        """Run a key's binding, or forward typed text to the prompt.

        After a forwarded character, the next ones are forwarded even if they are bound here: the rest of a
        word may arrive before the prompt has the focus.
        """
        text = (event.is_printable and event.character) or ""
        if not (text and self._typing) and forward_typeahead(self, event):
            return
        event.stop()
        event.prevent_default()
        if text and (self._typing or not self._is_bound(event.key)):
            if self.forwards_typing:
                self._typing = True
                self.post_message(self.Typed(text))
        else:
            await run_binding(self.app, event.key)

    def on_focus(self) -> None:
        self.end_typing()

    def end_typing(self) -> None:
        """Let bound letters run their actions again, instead of forwarding them to the prompt."""
        self._typing = False

    def on_click(self, event: events.Click) -> None:
        """Show the full entry if a marker for omitted lines was clicked."""
        if "full_entry" in event.style.meta:
            index, _ = self.entry_layout.heights.at(self.scroll_offset.y + event.y)
            self.post_message(self.ActionRequested("full_entry", self.entry_layout.blocks[index].entry))

    def on_paste(self, event: events.Paste) -> None:
        """Pass pasted text to the prompt."""
        event.stop()
        self.post_message(self.Typed(event.text))

    def _is_bound(self, key: str) -> bool:
        return keys.is_bound(self, "transcript", key)

    # ------------------------------------------------------------------------- the cursor

    def move_cursor(self, step: int, landmark: str | None = None) -> bool:
        """Move to the next (1) or previous (-1) entry. Return False if there is none.

        `landmark` limits the move to entries of one kind: "prompt", "tool" or "error".
        """
        indexes = range(len(self.entry_layout))
        start = self._start_index(step)
        for index in indexes[start + 1 :] if step > 0 else reversed(indexes[: max(0, start)]):
            entry = self.entry_layout.blocks[index].entry
            if (landmark is None or _is_landmark(entry, landmark)) and self.entry_layout.settle(index).height:
                self.cursor = entry.id
                self.scroll_to_entry(entry.id)
                return True
        return False

    def _start_index(self, step: int) -> int:
        """Return the index from which to move: that of the entry at the cursor, if this entry is visible.

        Otherwise, return the index just before the visible entries (step 1) or just after them (-1).
        """
        top = self.scroll_offset.y
        first, last = (self.entry_layout.heights.at(row)[0] for row in (top, top + self.size.height - 1))
        index = self.entry_layout.index_of(self.cursor)
        if index is not None and first <= index <= last:
            return index
        return last + 1 if step < 0 else first - 1

    def action_move(self, step: int) -> None:
        """Move to the previous (-1) or next (1) entry."""
        self.move_cursor(step)

    def action_jump(self, landmark: str, step: int) -> None:
        """Move to the next (1) or previous (-1) prompt, tool call or error.

        `jump_to_prompt` moves to prompts. Ring the bell if there is no such tool call or error.
        """
        if landmark == "prompt":
            self.jump_to_prompt(step)
        elif not self.move_cursor(step, landmark):
            self.app.bell()

    def jump_to_prompt(self, step: int) -> bool:
        """Move the cursor to the next (1) or previous (-1) prompt, and show the prompt at the top.

        After the last prompt, step 1 leads to the end of the transcript. Ring the bell if there is nowhere to
        go. Return False if the view follows the end without a cursor afterwards, else True.
        """
        is_at_end = self.following and self.cursor is None
        if not (step > 0 and is_at_end) and self.move_cursor(step, "prompt"):
            self.scroll_to_top(self.cursor)
            return True
        if step < 0 or is_at_end:
            self.app.bell()
            return not is_at_end
        self.cursor = None
        self.follow()
        return False

    def links(self, entry_id: int) -> list[str]:
        """Return the links in an entry, in order and without duplicates."""
        index = self.entry_layout.index_of(entry_id)
        if index is None:
            return []
        self.entry_layout.settle_lines(index, 0, MAX_ENTRY_LINES)
        body = self.entry_layout.settle(index)
        styles = (segment.style for number in range(body.height) for segment in body.line(number))
        return list(dict.fromkeys(style.meta["link"] for style in styles if style and "link" in style.meta))

    # ------------------------------------------------------------------------- scrolling

    # Without animation: gliding text cannot be read, and each step would cost a frame.

    def action_scroll_up(self) -> None:
        """Scroll up one line."""
        self.scroll_lines(-1)

    def action_scroll_down(self) -> None:
        """Scroll down one line."""
        self.scroll_lines(1)

    def action_page_up(self) -> None:
        """Scroll up one page."""
        self.scroll_lines(1 - self.size.height)

    def action_page_down(self) -> None:
        """Scroll down one page."""
        self.scroll_lines(self.size.height - 1)

    def action_scroll_home(self) -> None:
        """Scroll to the beginning."""
        self._jump(0)

    def action_scroll_end(self) -> None:
        """Scroll to the end and follow it."""
        self.follow()

    # ------------------------------------------------------------------------- folding

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Return False for "fold" on an entry that cannot be folded."""
        return action != "fold" or self._can_fold()

    def _can_fold(self) -> bool:
        index = self.entry_layout.index_of(self.current_id)
        return index is not None and bool(self.entry_layout.width) and self.entry_layout.can_fold(index)

    def watch_cursor(self, old: int | None, new: int | None) -> None:
        """Redraw the entries that the cursor left and entered, and offer the keys of the latter."""
        super().watch_cursor(old, new)
        self._offer_fold()

    def show_changes(self, changes: Iterable[Change]) -> None:
        """Update the view after these changes of the session. Called once per frame."""
        super().show_changes(changes)
        self._offer_fold()

    def _offer_fold(self) -> None:
        """Show the fold key only while it does something."""
        if self.has_focus and (can_fold := self._can_fold()) != self._offered_fold:
            self._offered_fold = can_fold
            self.refresh_bindings()

    def action_fold(self) -> None:
        """Fold or unfold the current entry; if it stands for a subagent, open the subagent's transcript."""
        entry = self.current_entry
        if entry is not None and kind_of(entry).opens_transcript:
            self.post_message(self.ActionRequested("transcript", entry))
        elif entry is not None:
            self.toggle_fold(entry.id)

    def action_fold_kind(self) -> None:
        """Fold or unfold all entries of the same kind as the current entry."""
        if (entry := self.current_entry) is not None:
            self.toggle_kind(type(entry))

    def action_fold_all(self) -> None:
        """Fold or unfold all foldable entries."""
        self.toggle_all()

    # ------------------------------------------------------------------------- actions of the screen

    def action_copy_entry(self) -> None:
        """Copy the source text of the current entry."""
        self.post_message(self.ActionRequested("copy", self.current_entry))

    def action_copy_answer(self) -> None:
        """Copy the last answer, wherever the cursor is."""
        self.post_message(self.ActionRequested("copy", self._last_answer()))

    def _last_answer(self) -> Entry | None:
        entries = (block.entry for block in reversed(self.entry_layout.blocks))
        return next((entry for entry in entries if isinstance(entry, AgentMessage)), None)

    def action_copy_code(self) -> None:
        """Copy the code of the current entry."""
        self.post_message(self.ActionRequested("copy code", self.current_entry))

    def action_raw(self) -> None:
        """Show the raw JSON of the current entry."""
        self.post_message(self.ActionRequested("raw", self.current_entry))

    def action_wire(self) -> None:
        """Show the messages that made the current entry."""
        self.post_message(self.ActionRequested("wire", self.current_entry))

    def action_open_in_editor(self) -> None:
        """Open the file of the current entry in the editor."""
        self.post_message(self.ActionRequested("edit", self.current_entry))

    def action_open(self) -> None:
        """Open the link or media of the current entry."""
        self.post_message(self.ActionRequested("open", self.current_entry))

    def action_full_entry(self) -> None:
        """Show the current entry with all its lines, on a screen of its own."""
        self.post_message(self.ActionRequested("full_entry", self.current_entry))

    def action_kill(self) -> None:
        """Stop the user's running command or the subagent that the current entry or this screen shows."""
        self.post_message(self.ActionRequested("kill", self.current_entry))

    def action_attach(self) -> None:
        """Attach the output of the current entry's command to the prompt."""
        self.post_message(self.ActionRequested("attach", self.current_entry))

    def action_find_next(self, step: int) -> None:
        """Move to the next (1) or previous (-1) match of the search."""
        self.post_message(self.ActionRequested("find", step=step))

    def action_leave(self) -> None:
        """Move the focus to the prompt."""
        self.post_message(self.ActionRequested("leave"))


def _is_landmark(entry: Entry, landmark: str) -> bool:
    kind = kind_of(entry)
    return kind.is_error(entry) if landmark == "error" else kind.landmark == landmark
