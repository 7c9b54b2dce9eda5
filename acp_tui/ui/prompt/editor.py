"""The text area of the prompt, with folded pastes, attachment tokens and completion menus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.actions import SkipAction
from textual.containers import Vertical
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from acp_tui.session.safe_text import escape_line, strip_controls
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings
from acp_tui.ui.keys.key_sequencer import forward_typeahead
from acp_tui.ui.prompt.attachments import Attachments, Pastes
from acp_tui.ui.prompt.menus import CommandMenu, FileMenu
from acp_tui.ui.terminal.textual_keys import run_binding
from acp_tui.ui.theme.palette import foreground_style

if TYPE_CHECKING:
    from rich.text import Text
    from textual.binding import BindingType

    from acp_tui.session.attachment import Attachment
    from acp_tui.session.state import SlashCommand
    from acp_tui.ui.prompt.completion_list import Menu
    from acp_tui.workspace.files.file_listing import ListedFiles


class PromptEditor(TextArea, inherit_bindings=False):
    """A text area in which tokens of pastes and attachments act as one character.

    The menu keys are bound here, so that they precede the keys of the prompt around the editor.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("menu", "edit")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--token"}

    class PasteRequested(Message):
        """The user asked to paste from the clipboard."""

    def __init__(self, menu: CommandMenu, files: FileMenu, attachments: Attachments) -> None:
        self.pastes = Pastes()
        self._attachments = attachments
        self._menu = menu
        self._files = files
        self._inserted_text: str | None = None  # set by `replace_text`; no menu opens for it
        self._menus_outdated = False  # the text changed since the last `update_menus`
        self._removed = ""  # by the last edit
        self._killed = ""  # what the last keys that delete words or lines have deleted
        self._kill_end: tuple[str, Location] | None = None  # text and cursor after the last of these keys
        super().__init__(soft_wrap=True, highlight_cursor_line=False, compact=True)
        self.cursor_blink = False
        self.match_cursor_bracket = False

    # ------------------------------------------------------------------------- content

    @property
    def expanded(self) -> str:
        """The text with all pastes unfolded."""
        return self.pastes.expand(self.text)

    @property
    def is_empty(self) -> bool:
        """True if there is no text. Must be fast: called at every key press."""
        return self.document.line_count == 1 and not self.document[0]

    @property
    def is_command(self) -> bool:
        """True if the text is a shell command, which starts with `!`."""
        return self.document[0][:1] == "!"

    @property
    def before_cursor(self) -> str:
        """The text up to the cursor."""
        return self.get_text_range((0, 0), self.cursor_location)

    def replace_text(self, text: str, cursor: Location | None = None) -> None:
        """Replace the text. The user can undo the replacement, and no menu opens.

        By default the cursor goes to the end.
        """
        self.replace(strip_controls(text), (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(cursor if cursor is not None else self.document.end)
        self._inserted_text = self.text
        self.close_menus()

    def clear_all(self) -> None:
        """Clear the text, the pastes and the undo history."""
        self.load_text("")
        self.pastes = Pastes()
        self.close_menus()

    @property
    def on_first_row(self) -> bool:
        """True if the cursor is in the first row of the wrapped text."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def on_last_row(self) -> bool:
        """True if the cursor is in the last row of the wrapped text."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    # ------------------------------------------------------------------------- typing

    async def on_key(self, event: events.Key) -> None:
        """Run the binding of Enter or a non-printable key immediately, so that keys act in typing order.

        Textual runs bindings after the key has passed the message queues of all parents, and characters
        typed meanwhile would overtake the key: typing "teh", two backspaces and "he" quickly would go wrong.
        """
        if forward_typeahead(self, event):
            return
        if (event.key == "enter" or not event.is_printable) and self.has_focus:
            if self._menus_outdated:  # the key is meant for the menu of the current text
                self.update_menus(typed=True)
            event.prevent_default()
            event.stop()
            await run_binding(self.app, event.key)

    def action_undo(self) -> None:
        """Undo the last edit; without one, leave the key to the conversation."""
        if not self.history.undo_stack:
            raise SkipAction
        super().action_undo()

    def newline(self) -> None:
        """Insert a line break."""
        self._insert("\n")

    def _insert(self, text: str) -> None:
        """Replace the selection by `text`, and put the cursor after the new text."""
        self.replace(text, *self.selection, maintain_selection_offset=False)

    def find_matching_bracket(self, *_: object) -> None:
        """Do nothing: prose needs no bracket matching, and the search would slow down cursor movements."""

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor if it is inside the document.

        Undo and redo of Textual 8.2.8 resize the text before they restore the selection. If the
        resizing shows or hides the scrollbar, Textual calls this method with a cursor that can be beyond the
        end of the new text. Restoring the selection scrolls again.
        """
        if self.cursor_location > self.document.end:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    # ------------------------------------------------------------------------- pastes

    async def on_paste(self, event: events.Paste) -> None:
        """Paste text that the terminal sent."""
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def action_paste(self) -> None:
        """Ask the parent to paste from the clipboard, which can contain an image."""
        self.post_message(self.PasteRequested())

    def paste(self, text: str) -> None:
        """Insert text. Large text is folded; the path of an image becomes a mention."""
        if not self._files.images_refused and (token := self._attachments.pasted_image(text)):
            self.insert_token(token)
            return
        folded = self.pastes.fold(strip_controls(text))
        self._insert(folded)

    def insert_token(self, token: str) -> None:
        """Insert a token at the cursor, separated by spaces from the text around it."""
        row, column = self.selection.start
        before = self.document[row][:column]
        gap = " " if before and not before[-1].isspace() else ""
        self._insert(f"{gap}{token} ")

    def action_copy(self) -> None:
        """Copy the selection with its pastes unfolded."""
        if not self.selected_text:
            raise SkipAction
        self.app.copy_to_clipboard(self.pastes.expand(self.selected_text))

    def action_cut(self) -> None:
        """Cut the selection with its pastes unfolded; without a selection, cut the line."""
        if self.selection.is_empty:
            super().action_cut()
        else:
            self.action_copy()
            self.action_delete_left()

    # ------------------------------------------------------------------------- deleting and inserting again

    def action_delete_word_left(self) -> None:
        """Delete the previous word. `action_yank` inserts it again."""
        self._kill(super().action_delete_word_left, before=True)

    def action_delete_word_right(self) -> None:
        """Delete the next word. `action_yank` inserts it again."""
        self._kill(super().action_delete_word_right, before=False)

    def action_delete_to_start_of_line(self) -> None:
        """Delete to the start of the line. `action_yank` inserts the text again."""
        self._kill(super().action_delete_to_start_of_line, before=True)

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        """Delete to the end of the line, or the line. `action_yank` inserts the text again."""
        again = self._begin_kill()
        await super().action_delete_to_end_of_line_or_delete_line()
        self._end_kill(again=again, before=False)

    def _kill(self, delete: Callable[[], None], *, before: bool) -> None:
        again = self._begin_kill()
        delete()
        self._end_kill(again=again, before=before)

    def _begin_kill(self) -> bool:
        """Return True if nothing has happened since the last deletion, so that the next one extends it."""
        self._removed = ""
        return self._kill_end == (self.text, self.cursor_location)

    def _end_kill(self, *, again: bool, before: bool) -> None:
        """Remember the deleted text; `before` if it stood before the cursor."""
        if self._removed:
            earlier = self._killed if again else ""
            self._killed = self._removed + earlier if before else earlier + self._removed
        self._kill_end = self.text, self.cursor_location

    def action_yank(self) -> None:
        """Insert what was last deleted by words or lines."""
        if self._killed:
            self._insert(self._killed)

    @property
    def has_paste(self) -> bool:
        """True if the text contains a paste that can be unfolded."""
        return bool(self.pastes) and any(map(self.pastes.tokens, self.document.lines))

    def unfold(self) -> bool:
        """Unfold the paste at the cursor, else the last paste in the text. Return False if there is none."""
        row, column = self.cursor_location
        here = [
            (row, token)
            for token in self.pastes.tokens(self.document[row])
            if token.start <= column <= token.end
        ]
        tokens = here or [
            (row, token)
            for row in range(self.document.line_count)
            for token in self.pastes.tokens(self.document[row])
        ]
        if not tokens:
            return False
        row, token = tokens[-1]
        self.replace(self.pastes.expand(token.text), (row, token.start), (row, token.end))
        return True

    def edit(self, edit: Edit) -> EditResult:
        """Apply an edit. If it starts or ends inside a token, it is extended to the whole token."""
        if (self.pastes or self._attachments) and edit.from_location != edit.to_location:
            top, bottom = edit.top, edit.bottom
            edit.from_location = self._outside_token(top, after=False)
            edit.to_location = self._outside_token(bottom, after=True)
        self._menus_outdated = True
        result = super().edit(edit)
        self._removed = result.replaced_text
        return result

    def validate_selection(self, selection: Selection) -> Selection:
        """If an end of a selection is inside a token, move the end out, in the cursor's direction."""
        if not self.pastes and not self._attachments:
            return selection
        before = self.selection.end
        return Selection(*(self._outside_token(location, after=location > before) for location in selection))

    def _outside_token(self, location: Location, *, after: bool) -> Location:
        """Return the location or, if it is inside a token, the token's start (its end if `after` is true).

        The row can be one past the last row: Textual deletes the last line up to the start of that row.
        """
        row, column = location
        if row >= self.document.line_count:
            return location
        line = self.document[row]
        tokens = [*self.pastes.tokens(line), *self._attachments.tokens(line)]
        token = next((token for token in tokens if token.start < column < token.end), None)
        return location if token is None else (row, token.end if after else token.start)

    def get_line(self, line_index: int) -> Text:
        """Return a line with its tokens highlighted."""
        line = super().get_line(line_index)
        if not self.is_command:
            style = foreground_style(self, "prompt--token")
            for token in (*self.pastes.tokens(line.plain), *self._attachments.spans(line.plain)):
                line.stylize(style, token.start, token.end)
        return line

    # ------------------------------------------------------------------------- menus

    def update_menus(self, *, typed: bool = False) -> None:
        """Open, narrow or close the menus for the text before the cursor.

        `typed` is false if only the cursor moved.
        """
        self._menus_outdated = False
        if self._inserted_text is not None:
            if self.text == self._inserted_text:
                return
            self._inserted_text = None
        self._menu.update(self.before_cursor if self.document[0][:1] == "/" else "")
        if not self._menu.is_open:
            row, column = self.cursor_location
            self._files.update(row, "" if self.is_command else self.document[row][:column], typed=typed)

    def close_menus(self) -> None:
        self._menus_outdated = False
        self._menu.close()
        self._files.cancel()

    # ------------------------------------------------------------------------- commands

    def update_suggestion(self) -> None:
        """Show the hint for the argument if the text is only a command and the cursor is at the end."""
        hint = ""
        command = self._command_at_end()
        if command is not None and command.hint:
            gap = "" if self.text.endswith(" ") else " "
            room = self.wrap_width - cell_len(self.text)
            hint = shorten(gap + escape_line(command.hint), room)
        self.suggestion = hint

    def watch_selection(self) -> None:
        """Update the hint for a command's argument. The hint is shown only while the cursor is at the end."""
        self.update_suggestion()

    def action_cursor_right(self, select: bool = False) -> None:
        """Move right, but do nothing while a hint is shown: Textual would insert the hint as text."""
        if not self.suggestion:
            super().action_cursor_right(select)

    def _command_at_end(self) -> SlashCommand | None:
        if self.cursor_location != self.document.end or self.document.line_count > 1:
            return None
        return self._menu.find_command(self.document[0])

    def check_action(self, action: str, _: tuple[object, ...]) -> bool | None:
        """Enable the keys of an open menu, and in an empty prompt the key that opens the menu of commands."""
        if action == "menu_open":
            return self.is_empty and bool(self._menu.commands)
        return self._open_menu is not None if action.startswith("menu_") else True

    @property
    def _open_menu(self) -> Menu | None:
        return next((menu for menu in (self._menu, self._files) if menu.is_open), None)

    def action_menu_open(self) -> None:
        """Insert the slash that opens the menu of commands."""
        self.insert("/")

    def action_menu_move(self, step: int) -> None:
        """Move the selection of the open menu."""
        if self._open_menu is not None:
            self._open_menu.move(step)

    def action_menu_complete(self, *, final: bool = False) -> None:
        """Complete the text with the selected item. `Menu.completion` explains `final`."""
        completion = self._open_menu.completion(final=final) if self._open_menu is not None else None
        if completion is not None:
            start, text = completion
            self.replace(text, start, self.cursor_location, maintain_selection_offset=False)

    def action_menu_take(self) -> None:
        """Accept the selected item. If it is typed in full already, run the key's normal action."""
        menu = self._open_menu
        if menu is None or menu.is_complete:
            raise SkipAction
        self.action_menu_complete(final=True)
        if menu is self._menu and menu.server_prompt(self.text) is not None:
            raise SkipAction  # the key's normal action requests the server's prompt

    def action_menu_close(self) -> None:
        """Close the open menu."""
        if self._open_menu is not None:
            self._open_menu.dismiss()


if TYPE_CHECKING:
    OfferedOutput = tuple[str, Callable[[], str]]
    """A command, and a function that returns its output."""


CLIPBOARD_WORKERS = "clipboard"
"""Name of the worker group for writing to the clipboard."""
NOTHING_TO_PASTE = "Nothing to paste. Your terminal's own paste key may work."


class AttachingPrompt(Vertical):
    """A text editor with attachments, each a token in the text. Deleting the token removes the attachment."""

    def __init__(self, menu: CommandMenu, *, id: str | None = None) -> None:  # noqa: A002  as in Textual
        super().__init__(id=id)
        self._attachments = Attachments()
        self._files = FileMenu(self._attachments)
        self._editor = PromptEditor(menu, self._files, self._attachments)
        self._offered: OfferedOutput | None = None

    def set_files(self, folder: str, get_index: Callable[[], ListedFiles]) -> None:
        """Let the user mention files of a folder. `get_index` returns the files found so far."""
        self._attachments.folder = folder
        self._files.get_index = get_index
        if not self._files.is_attached:  # mounting it earlier would slow down the start
            self.mount(self._files, before=0)
        self._editor.refresh()

    @property
    def takes_images(self) -> bool:
        """Whether images can be attached."""
        return not self._files.images_refused

    def set_resources(self, resources: Mapping[str, tuple[str, str]]) -> None:
        """Set the MCP resources that can be mentioned: `SERVER:URI` mapped to the server and the URI."""
        self._attachments.resources = resources
        self._editor.refresh()

    def add_image(self, data: bytes, mime: str) -> str:
        """Store an image and return its token. A prompt that contains the token has the image attached."""
        return self._attachments.add_image(data, mime)

    def add_text(self, uri: str, text: str, mime: str) -> str:
        """Store text with its URI and return a token. A prompt with the token has the text attached."""
        return self._attachments.add_text(uri, text, mime)

    def refuse_images(self, reason: str) -> None:
        """Refuse to attach images, and give this reason. An empty reason allows them."""
        self._files.images_refused = reason

    def attachments_in(self, text: str) -> Sequence[Attachment]:
        """Return the attachments whose tokens occur in the text."""
        self._attachments.forget_existing_paths()
        return self._attachments.in_text(text)

    def restore_attachments(self, text: str, blocks: Iterable[Mapping[str, Any]]) -> str:
        """Restore the attachments of an earlier prompt from its blocks; return the text with valid tokens."""
        return self._attachments.restore(text, blocks)

    # ------------------------------------------------------------------------- command output

    def offer_output(self, command: str, output: Callable[[], str]) -> None:
        """Offer a finished command's output; a key attaches the output."""
        self._offered = (command, output)
        self.screen.refresh_bindings()

    def attach_output(self, command: str, text: str) -> None:
        """Insert a token for the output of a command."""
        self._editor.insert_token(self._attachments.add_output(command, text))

    def action_attach_output(self) -> None:
        """Attach the offered output, and withdraw the offer."""
        if self._offered is not None:
            command, output = self._offered
            self._withdraw_offer()
            self.attach_output(command, output())

    def _withdraw_offer(self) -> None:
        if self._offered is not None:
            self._offered = None
            self.screen.refresh_bindings()

    # ------------------------------------------------------------------------- clipboard

    @on(PromptEditor.PasteRequested)
    def _paste_requested(self, event: PromptEditor.PasteRequested) -> None:
        from acp_tui.ui.terminal.clipboard import can_read_clipboard

        event.stop()
        if can_read_clipboard(os.environ):
            self.run_worker(self._paste(), exclusive=True, group="paste")
        else:
            self._paste_text(self.app.clipboard)

    async def _paste(self) -> None:
        """Paste an image or text from the system clipboard, or text that was copied in the app."""
        from acp_tui.ui.terminal.clipboard import clipboard_picture, clipboard_text

        for worker in [worker for worker in self.app.workers if worker.group == CLIPBOARD_WORKERS]:
            await worker.wait()
        picture = await clipboard_picture()
        if picture is None:
            self._paste_text(await clipboard_text() or self.app.clipboard)
        elif self._files.images_refused:
            self.notify(escape_line(self._files.images_refused), severity="warning", markup=False)
        else:
            self._editor.insert_token(self._attachments.add_image(*picture))

    def _paste_text(self, text: str) -> None:
        if text:
            self._editor.paste(text)
        else:
            self.notify(NOTHING_TO_PASTE, markup=False)
