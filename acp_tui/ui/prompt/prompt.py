"""The prompt: what the user writes to the agent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Self

from textual import on
from textual.app import SuspendNotSupported
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from acp_tui.errors import UserError
from acp_tui.session.text import visible_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings
from acp_tui.ui.prompt.attaching_prompt import AttachingPrompt
from acp_tui.ui.prompt.command_menu import CommandMenu
from acp_tui.ui.prompt.completion_list import CompletionList
from acp_tui.ui.prompt.recall import Recall
from acp_tui.ui.terminal import extra_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from acp_tui.session.attachment import Attachment
    from acp_tui.session.state import SlashCommand
    from acp_tui.ui.prompt.history_search import HistorySearch
    from acp_tui.ui.prompt.recall import History

DRAFT_PAUSE = 0.5
"""Seconds between two drafts that are told."""

MAX_TITLE_CELLS = 60
"""Cells of an agent's title, some of which are essays."""

MARKERS = {False: "❯", True: "$"}
"""Before the text: for the agent, for the shell."""


class Prompt(AttachingPrompt):
    """A text of several lines with a history, the agent's commands, attachments, and large pastes folded."""

    DEFAULT_CSS = """
    Prompt {
        height: auto;
        border-top: solid $foreground 20%;
        & > .prompt--line { height: auto; }
        & .prompt--marker { width: 3; padding: 0 0 0 1; color: $text-accent; }
        & PromptEditor {
            & > .prompt--token { color: $text-accent; }
            & > .text-area--placeholder { color: $text-disabled; }
            height: auto;
            max-height: 33vh;
            width: 1fr;
            padding: 0;
            background: transparent;
            scrollbar-size-vertical: 1;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings("prompt")

    agent_title: reactive[str] = reactive("the agent")
    """Whom the placeholder names."""

    class Submitted(Message):
        """To be sent, or queued while the agent works."""

        def __init__(self, text: str, attachments: Sequence[Attachment]) -> None:
            super().__init__()
            self.text = text
            self.attachments = attachments

    class SendNow(Message):
        """To be sent at once, whatever the agent does. An empty text: the first one queued."""

        def __init__(self, text: str, attachments: Sequence[Attachment]) -> None:
            super().__init__()
            self.text = text
            self.attachments = attachments

    class CommandLine(Message):
        """For the user's own shell."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class Resume(Message):
        """Enter in an empty prompt: what is paused in the queue may go."""

    class TakeBack(Message):
        """The last queued prompt is wanted back; `load` it."""

    class Changed(Message):
        """The draft, told from time to time while it is written, and at once when it was sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        *,
        agent_title: str = "the agent",
        history: History | None = None,
        id: str | None = None,  # noqa: A002  as in Textual
    ) -> None:
        self._menu = CommandMenu()
        super().__init__(self._menu, id=id)
        self.set_reactive(Prompt.agent_title, agent_title)
        self._editor.placeholder = _placeholder(agent_title)  # here, so that the first frame has it
        self.history = history
        self.queued = 0
        """How many prompts wait in the queue."""
        self.agent_busy = False
        """Does what is sent now go into the queue?"""
        self._recall = Recall(lambda: self.history.entries() if self.history is not None else ())
        self._search: HistorySearch | None = None
        self._was_empty = True
        self._was_command = False
        self._draft_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The menu, and the line with its marker."""
        yield self._menu
        with Horizontal(classes="prompt--line"):
            yield Static(MARKERS[False], classes="prompt--marker", markup=False)
            yield self._editor

    def on_mount(self) -> None:
        """Alt+Enter must never send."""
        extra_keys.register_extra_keys()

    # ------------------------------------------------------------------------- attributes

    @property
    def text(self) -> str:
        """What is written, with everything that was pasted."""
        return self._editor.expanded

    @property
    def is_open(self) -> bool:
        """Is a menu or a search open, which Escape would close?"""
        return self._menu.is_open or self._files.is_open or self._search is not None

    def close_open(self) -> bool:
        """Close that; False: there is nothing."""
        if self._search is not None:
            self.call_later(self._close_search)
        elif self.is_open:
            self._editor.action_menu_close()
        else:
            return False
        return True

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The agent's commands."""
        return self._menu.commands

    @commands.setter
    def commands(self, commands: Sequence[SlashCommand]) -> None:
        self._menu.commands = commands
        if self.is_mounted:
            self._editor.follow()
            self.screen.refresh_bindings()

    def watch_agent_title(self, title: str) -> None:
        """Name the agent."""
        self._editor.placeholder = _placeholder(title)

    def load(self, text: str) -> None:
        """Put a text into the prompt: one that was taken back, or that could not be sent."""
        self._recall.end()
        self._put(text)

    def load_selected(self, text: str) -> None:
        """Put a text there that was sent already: Enter sends it again, typing replaces it."""
        self.load(text)
        self._editor.select_all()

    def load_draft(self, text: str) -> None:
        """Put a draft of another time there, unless something is written already."""
        if text and self._editor.is_empty:
            self.load(text)
            if lost := self._attachments.lost(text):
                said = f"Drafts do not keep attachments: attach {' and '.join(lost)} again."
                self.notify(said, severity="warning", timeout=10, markup=False)

    def insert(self, text: str) -> None:
        """Write at the cursor what was typed or pasted elsewhere."""
        self._editor.paste(text)

    def focus(self, scroll_visible: bool = True, **_: Any) -> Self:
        """The cursor goes to the text."""
        self._editor.focus(scroll_visible)
        return self

    # ------------------------------------------------------------------------- following

    @on(TextArea.Changed)
    def _edited(self, event: TextArea.Changed) -> None:
        event.stop()
        empty = self._editor.is_empty
        if empty != self._was_empty:
            self._was_empty = empty
            self.screen.refresh_bindings()
        if self._editor.is_command != self._was_command:
            self._was_command = self._editor.is_command
            self.query_one(".prompt--marker", Static).update(MARKERS[self._was_command])
            self.screen.refresh_bindings()  # the footer says what Enter does
        self._editor.follow(typed=True)
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_PAUSE, self._tell_draft)

    @on(TextArea.SelectionChanged)
    def _moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._editor.follow()

    def _tell_draft(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None
        self.post_message(self.Changed(self.text))

    def _put(self, text: str, *, at_first_row: bool = False) -> None:
        first = text.split("\n", 1)[0]
        self._editor.put(text, (0, len(first)) if at_first_row else None)

    # ------------------------------------------------------------------------- sending

    def action_send(self) -> None:
        """Send it."""
        if not self.text.strip():
            self.post_message(self.Resume())
        elif not self._run_command():
            self.post_message(self.Submitted(*self._take()))

    def action_send_now(self) -> None:
        """Send it at once."""
        if not self._run_command():
            self.post_message(self.SendNow(*self._take()))

    def _run_command(self) -> bool:
        """Let the shell have it; False: it is for the agent."""
        if not self._editor.is_command:
            return False
        if self.text[1:].strip():
            line, _ = self._take()
            self.post_message(self.CommandLine(line[1:].strip()))
        else:
            self.notify("Type a command after the !, such as !git status.", markup=False)
        return True

    def _take(self) -> tuple[str, Sequence[Attachment]]:
        text = self.text
        if not text.strip():
            return "", []
        # Only what can be seen goes along: not what a folded paste happens to mention.
        attachments = self.attachments_in(self._editor.text)
        self._end_offer()
        self.remember(text)
        self._recall.end()
        self._editor.clear_all()
        self._tell_draft()
        return text, attachments

    def action_newline(self) -> None:
        """Begin a line."""
        self._editor.newline()

    # ------------------------------------------------------------------------- history

    def remember(self, text: str) -> None:
        """It is sent: from now on it is in the history."""
        if self.history is not None:
            self.history.add(text)

    def action_up(self) -> None:
        """A row up, or back in time."""
        editor = self._editor
        if editor.is_empty and self.queued:
            self.post_message(self.TakeBack())
        elif editor.on_first_row and (editor.is_empty or self._recall.walking):
            self._walk(-1)
        else:
            editor.action_cursor_up()

    def action_down(self) -> None:
        """A row down, or forth in time."""
        if self._editor.on_last_row and self._recall.walking:
            self._walk(1)
        else:
            self._editor.action_cursor_down()

    def _walk(self, step: int) -> None:
        text = self._recall.move(step, self._editor.text)
        if text is not None:
            self._put(text, at_first_row=step < 0)

    async def action_search_history(self) -> None:
        """Open the search."""
        from acp_tui.ui.prompt.history_search import HistorySearch

        entries = self.history.entries() if self.history is not None else ()
        if not entries:
            self.notify("No prompts in this project yet.", markup=False)
            return
        self._editor.close_menus()
        self._search = HistorySearch(entries)
        await self.mount(self._search, before=0)

    async def on_history_search_taken(self, event: HistorySearch.Taken) -> None:
        """What was found replaces what was written; undo brings that back."""
        event.stop()
        self.load(event.text)
        await self._close_search()

    async def on_history_search_closed(self, event: HistorySearch.Closed) -> None:
        """Back to what was written."""
        event.stop()
        await self._close_search()

    async def _close_search(self) -> None:
        search, self._search = self._search, None
        self.focus()
        if search is not None:
            await search.remove()

    # ------------------------------------------------------------------------- other keys

    def check_action(self, action: str, _: tuple[object, ...]) -> bool | None:
        """Keys of the prompt do not work in the search above it."""
        if self._search is not None:
            return False
        if action == "unfold":
            return bool(self._editor.pastes) and any(
                self._editor.pastes.tokens(line) for line in self._editor.document.lines
            )
        if action == "attach_output":
            return self._offered is not None
        if action == "send_now":
            return bool(self.queued) or not self._editor.is_empty
        return True

    def label_of(self, key_id: str) -> str | None:
        """For the footer: what Enter does now."""
        if key_id != "prompt.send":
            return None
        return "run" if self._was_command else "queue" if self.agent_busy else None

    def action_unfold(self) -> None:
        """Show what was pasted."""
        self._editor.unfold()
        self.screen.refresh_bindings()

    def action_external_editor(self) -> None:
        """Edit the prompt in $EDITOR."""
        self.run_worker(self._edit_outside(), exclusive=True, group="external editor")

    async def _edit_outside(self) -> None:
        from acp_tui.ui.terminal.external_editor import edit, editor_command
        from acp_tui.ui.terminal.suspend import release_terminal

        text = self.text
        try:
            command = editor_command(os.environ)
            with release_terminal(self.app):
                edited = await edit(text, command)
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
        except SuspendNotSupported:
            self.notify("An editor cannot run in this terminal.", severity="error", markup=False)
        else:
            if edited != text:
                self.load(edited)

    @on(CompletionList.Clicked)
    def _clicked(self, event: CompletionList.Clicked) -> None:
        event.stop()
        menu = self._menu if self._menu.is_open else self._files
        menu.move(event.index - menu.choices.current)
        self._editor.action_menu_complete(taking=True)


def _placeholder(title: str) -> Content:
    return Content(f"Message {shorten(visible_line(title), MAX_TITLE_CELLS)}")
