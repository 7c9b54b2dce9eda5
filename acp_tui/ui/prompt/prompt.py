"""The prompt, in which the user writes to the agent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings
from acp_tui.ui.prompt.completion_list import CompletionList
from acp_tui.ui.prompt.editor import AttachingPrompt
from acp_tui.ui.prompt.history import HistoryRecall, HistorySearch, Recall
from acp_tui.ui.prompt.menus import CommandMenu
from acp_tui.ui.terminal.open_externally import chosen_editor, edit, editor_command
from acp_tui.ui.terminal.suspend import release_terminal

if TYPE_CHECKING:
    from textual.binding import BindingType
    from textual.timer import Timer
    from textual.widget import Widget

    from acp_tui.session.attachment import Attachment
    from acp_tui.session.state import SlashCommand


DRAFT_PAUSE = 0.25
"""Seconds between two `DraftChanged` messages while typing. The first one is posted immediately."""

MAX_TITLE_CELLS = 60
"""The maximum width of an agent's title in the placeholder, in cells."""

MARKERS = {False: "❯", True: "$"}
"""The sign before the text, by whether the text is a shell command."""


class Prompt(AttachingPrompt):
    """A multi-line editor with history, completion of commands and files, attachments and folded pastes."""

    DEFAULT_CSS = """
    Prompt {
        height: auto;
        border-top: solid $foreground 20%;
        & > .prompt--line { height: auto; }
        & .prompt--marker { width: 3; padding: 0 0 0 1; color: $text-accent; }
        & .prompt--marker.-elsewhere { color: $text-disabled; }
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
    """The agent's title in the placeholder."""

    class Request(Message):
        """Base class of the messages about what the user does with the prompt."""

    class Submitted(Request):
        """The user submitted a prompt, to be sent or queued."""

        def __init__(self, text: str, attachments: Sequence[Attachment]) -> None:
            super().__init__()
            self.text = text
            self.attachments = attachments

    class SendNow(Request):
        """The user wants to send a prompt now: `text` or, if `text` is empty, the first queued prompt."""

        def __init__(self, text: str, attachments: Sequence[Attachment]) -> None:
            super().__init__()
            self.text = text
            self.attachments = attachments

    class CommandLine(Request):
        """The user submitted a shell command."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class ServerPrompt(Request):
        """The user chose a prompt of an MCP server; the receiver calls `load` with the prompt's text."""

        def __init__(self, name: str, argument: str) -> None:
            super().__init__()
            self.name = name  # `SERVER:PROMPT`
            self.argument = argument  # what was typed after the name

    class ResumeQueue(Request):
        """The user pressed Enter in an empty prompt: resume the queue if it is paused."""

    class EditLastQueued(Request):
        """The user wants to edit the last queued prompt; the receiver calls `load` with the prompt's text."""

    class DraftChanged(Request):
        """The draft changed. Posted at intervals while typing, and immediately when the prompt was sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        *,
        agent_title: str = "the agent",
        history: HistoryRecall | None = None,
        id: str | None = None,  # noqa: A002  as in Textual
    ) -> None:
        self._menu = CommandMenu()
        super().__init__(self._menu, id=id)
        self.set_reactive(Prompt.agent_title, agent_title)
        self._editor.placeholder = _placeholder(agent_title)  # here, so that the first frame shows it
        self.history = history
        self.queued_count = 0
        """Number of prompts in the queue."""
        self.agent_busy = False
        """True while a turn runs. Prompts are queued then."""
        self.send_now_stops = False
        """True if sending now would stop the turn."""
        self._recall = Recall(lambda: self.history.entries() if self.history is not None else ())
        self._search: HistorySearch | None = None
        self._footer_facts = (True, False, False)  # the properties of the text that the footer depends on
        self._was_command = False
        self._draft_timer: Timer | None = None
        self._posted_draft = ""

    def compose(self) -> ComposeResult:
        yield self._menu
        with Horizontal(classes="prompt--line"):
            yield Static(MARKERS[False], classes="prompt--marker", markup=False)
            yield self._editor

    # ------------------------------------------------------------------------- content

    @property
    def text(self) -> str:
        """The text with all pastes unfolded."""
        return self._editor.expanded

    @property
    def selected_text(self) -> str:
        """The selected text with its pastes unfolded."""
        return self._editor.pastes.expand(self._editor.selected_text)

    @property
    def has_open_menu(self) -> bool:
        """True while a menu or the history search is open."""
        return self._menu.is_open or self._files.is_open or self._search is not None

    def close_menu(self) -> bool:
        """Close the open menu or history search; return False if there is none."""
        if self._search is not None:
            self.call_later(self._close_search)
        elif self.has_open_menu:
            self._editor.action_menu_close()
        else:
            return False
        return True

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The commands in the menu, with MCP prompts. An assignment replaces only the agent's commands."""
        return self._menu.commands

    @commands.setter
    def commands(self, commands: Sequence[SlashCommand]) -> None:
        self._menu.commands = commands
        if self.is_mounted:
            self._editor.update_menus()
            self.screen.refresh_bindings()

    def set_server_prompts(self, prompts: Sequence[SlashCommand]) -> None:
        """Set the MCP prompts that the menu of commands offers. The prompts are named `SERVER:PROMPT`."""
        self._menu.set_server_prompts(prompts)
        if self.is_mounted:
            self._editor.update_menus()
            self.screen.refresh_bindings()

    def watch_agent_title(self, title: str) -> None:
        """Show the agent's title in the placeholder."""
        self._editor.placeholder = _placeholder(title)

    def load(self, text: str) -> None:
        """Replace the text, for example by a queued prompt or by a prompt that could not be sent."""
        self._recall.reset()
        self._replace_text(text)

    def load_selected(self, text: str) -> None:
        """Replace the text and select all of it: Enter sends it, typing replaces it."""
        self.load(text)
        self._editor.select_all()

    def load_draft(self, text: str) -> None:
        """Restore a saved draft, unless the prompt already contains text."""
        if text and self._editor.is_empty:
            self.load(text)
            if missing := self._attachments.missing_tokens(text):
                warning = f"Drafts do not keep attachments: attach {' and '.join(missing)} again."
                self.notify(warning, severity="warning", timeout=10, markup=False)

    def insert(self, text: str) -> None:
        """Insert text, which was typed or pasted elsewhere, at the cursor."""
        self._editor.paste(text)

    def focus(self, scroll_visible: bool = True, **_: Any) -> Self:
        self._editor.focus(scroll_visible)
        return self

    def on_descendant_focus(self) -> None:
        """Show by the sign before the text that the prompt has the focus."""
        self._show_focus()

    def on_descendant_blur(self) -> None:
        """Dim the sign before the text, unless the focus stays in the prompt."""
        self._show_focus()

    def _show_focus(self) -> None:
        focused = self.screen.focused
        elsewhere = focused is None or self not in focused.ancestors
        for sign in self.query(".prompt--marker"):
            sign.set_class(elsewhere, "-elsewhere")

    # ------------------------------------------------------------------------- edits

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        editor = self._editor
        if editor.is_command != self._was_command:
            self._was_command = editor.is_command
            self.query_one(".prompt--marker", Static).update(MARKERS[self._was_command])
        facts = (editor.is_empty, editor.is_command, editor.has_paste)
        if facts != self._footer_facts:
            self._footer_facts = facts
            self.screen.refresh_bindings()
        self._editor.update_menus(typed=True)
        if self._draft_timer is None:
            self._post_draft()
            self._draft_timer = self.set_timer(DRAFT_PAUSE, self._post_later_draft)

    @on(TextArea.SelectionChanged)
    def _selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._editor.update_menus()

    def _post_later_draft(self) -> None:
        self._draft_timer = None
        if self.text != self._posted_draft:
            self._post_draft()

    def _post_draft(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None
        self._posted_draft = self.text
        self.post_message(self.DraftChanged(self._posted_draft))

    def _replace_text(self, text: str, *, at_first_row: bool = False) -> None:
        first = text.split("\n", 1)[0]
        self._editor.replace_text(text, (0, len(first)) if at_first_row else None)

    # ------------------------------------------------------------------------- sending

    def action_send(self) -> None:
        """Submit the text, run it if it is a shell command, or resume the queue if there is no text."""
        if not self.text.strip():
            self.post_message(self.ResumeQueue())
        elif not self._use_server_prompt() and not self._run_command():
            self.post_message(self.Submitted(*self._take_text()))

    def action_send_now(self) -> None:
        """Send the text now, even during a turn. If the text is a shell command, run the command."""
        if not self._use_server_prompt() and not self._run_command():
            self.post_message(self.SendNow(*self._take_text()))

    def _use_server_prompt(self) -> bool:
        """If the text is the command for an MCP server's prompt, request the prompt; otherwise return False.

        The command stays in the editor until the prompt replaces it.
        """
        command = self._menu.server_prompt(self.text)
        if command is not None:
            self.post_message(self.ServerPrompt(command.name, self.text[len(command.name) + 1 :].strip()))
        return command is not None

    def _run_command(self) -> bool:
        """Run the text if it is a shell command; otherwise return False."""
        if not self._editor.is_command:
            return False
        if self.text[1:].strip():
            line, _ = self._take_text()
            self.post_message(self.CommandLine(line[1:].strip()))
        else:
            self.notify("Type a command after the !, such as !git status.", markup=False)
        return True

    def _take_text(self) -> tuple[str, Sequence[Attachment]]:
        text = self.text
        if not text.strip():
            return "", []
        # Mentions inside folded pastes are not visible and therefore not attached.
        attachments = self.attachments_in(self._editor.text)
        self._withdraw_offer()
        self.add_to_history(text)
        self._recall.reset()
        self._editor.clear_all()
        self._post_draft()
        return text, attachments

    def action_newline(self) -> None:
        self._editor.newline()

    # ------------------------------------------------------------------------- history

    def add_to_history(self, text: str) -> None:
        """Add a sent prompt to the history."""
        if self.history is not None:
            self.history.add(text)

    def action_up(self) -> None:
        """Move the cursor up. From the first row of a recalled prompt, recall the prompt before it.

        In an empty prompt, edit the last queued prompt; if none is queued, recall an earlier prompt.
        """
        editor = self._editor
        if editor.is_empty and self.queued_count:
            self.post_message(self.EditLastQueued())
        elif editor.on_first_row and (editor.is_empty or self._recall.active):
            self._recall_prompt(-1)
        else:
            editor.action_cursor_up()

    def action_down(self) -> None:
        """Move the cursor down. From the last row of a recalled prompt, recall the following prompt."""
        if self._editor.on_last_row and self._recall.active:
            self._recall_prompt(1)
        else:
            self._editor.action_cursor_down()

    def _recall_prompt(self, step: int) -> None:
        text = self._recall.move(step, self._editor.text)
        if text is not None:
            self._replace_text(text, at_first_row=step < 0)

    async def action_search_history(self) -> None:
        """Open the history search."""
        from acp_tui.ui.prompt.history import HistorySearch

        entries = self.history.entries() if self.history is not None else ()
        if not entries:
            self.notify("No prompts in this project yet.", markup=False)
            return
        self._editor.close_menus()
        self._search = HistorySearch(entries)
        await self.mount(self._search, before=0)

    async def on_history_search_chosen(self, event: HistorySearch.Chosen) -> None:
        """Replace the text by the chosen prompt; the user can undo the replacement."""
        event.stop()
        self.load(event.text)
        await self._close_search()

    async def on_history_search_closed(self, event: HistorySearch.Closed) -> None:
        """Close the history search and keep the text of the prompt."""
        event.stop()
        await self._close_search()

    async def _close_search(self) -> None:
        search, self._search = self._search, None
        self.focus()
        if search is not None:
            await search.remove()

    # ------------------------------------------------------------------------- other keys

    def check_action(self, action: str, _: tuple[object, ...]) -> bool | None:
        """Disable keys that have nothing to act on, and all keys while the history search is open."""
        if self._search is not None:
            return False
        if action == "unfold":
            return self._editor.has_paste
        if action == "attach_output":
            return self._offered is not None
        if action == "send_now":
            return bool(self.queued_count) or not self._editor.is_empty
        return True

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label for what a key does now; None if the key's usual label applies."""
        if key_id == "prompt.send_now" and self.send_now_stops:
            return "stop and send"
        if key_id != "prompt.send":
            return None
        return "run" if self._was_command else "queue" if self.agent_busy else None

    def action_unfold(self) -> None:
        """Unfold the paste at the cursor, or else the last paste in the text."""
        self._editor.unfold()
        self.screen.refresh_bindings()

    def action_external_editor(self) -> None:
        """Edit the prompt in $EDITOR."""
        self.run_worker(self._edit_externally(), exclusive=True, group="external editor")

    async def _edit_externally(self) -> None:

        text = self.text
        edited = await edit_externally(self, text)
        if edited != text:
            self.load(edited)

    @on(CompletionList.Clicked)
    def _clicked(self, event: CompletionList.Clicked) -> None:
        event.stop()
        menu = self._menu if self._menu.is_open else self._files
        menu.move(event.index - menu.choices.current)
        self._editor.action_menu_complete(final=True)


def _placeholder(title: str) -> Content:
    return Content(f"Message {shorten(escape_line(title), MAX_TITLE_CELLS)}")


async def edit_externally(widget: Widget, text: str) -> str:
    """Let the user edit `text` in $EDITOR and return the result. On failure, show why and return `text`."""
    try:
        command = editor_command(os.environ)
        with release_terminal(widget.app):
            edited = await edit(text, command)
        if chosen_editor(os.environ) is None:
            name = Path(shutil.which(command[0]) or command[0]).resolve().name
            words = f"Edited with {name}, because neither $VISUAL nor $EDITOR is set."
            widget.notify(words, markup=False)
    except UserError as error:
        widget.notify(str(error), severity="error", markup=False)
    except SuspendNotSupported:
        widget.notify("An editor cannot run in this terminal.", severity="error", markup=False)
    else:
        return edited
    return text
