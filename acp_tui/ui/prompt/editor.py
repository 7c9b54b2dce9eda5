"""The text area of the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.actions import SkipAction
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from acp_tui.session.text import strip_controls, visible_line
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.keys import bindings
from acp_tui.ui.keys.typeahead import forward_typeahead
from acp_tui.ui.prompt.pastes import Pastes
from acp_tui.ui.terminal.textual_keys import run_binding
from acp_tui.ui.theme.component_style import foreground_style

if TYPE_CHECKING:
    from rich.text import Text
    from textual import events
    from textual.binding import BindingType
    from textual.widgets.text_area import Edit, EditResult, Location

    from acp_tui.session.state import SlashCommand
    from acp_tui.ui.prompt.attachments import Attachments
    from acp_tui.ui.prompt.command_menu import CommandMenu
    from acp_tui.ui.prompt.file_menu import FileMenu
    from acp_tui.ui.prompt.menu import Menu


class PromptEditor(TextArea, inherit_bindings=False):
    """Several lines of plain text. Large pastes fold to a token, which moves and goes as one.

    The keys of the command menu are bound here, because they come before those of the prompt around it.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("menu", "edit")
    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--token"}

    class PasteWanted(Message):
        """The user wants something from the clipboard."""

    def __init__(self, menu: CommandMenu, files: FileMenu, attachments: Attachments) -> None:
        self.pastes = Pastes()
        self._attachments = attachments
        self._menu = menu
        self._files = files
        self._put_there: str | None = None  # a text that was not typed: no menu opens over it
        self._ahead = False  # has something been written that the menus do not know yet?
        super().__init__(soft_wrap=True, highlight_cursor_line=False, compact=True)
        self.cursor_blink = False
        self.match_cursor_bracket = False

    # ------------------------------------------------------------------------- what is in it

    @property
    def expanded(self) -> str:
        """The text with everything that was pasted."""
        return self.pastes.expand(self.text)

    @property
    def is_empty(self) -> bool:
        """Is nothing written? Asked at every keystroke."""
        return self.document.line_count == 1 and not self.document[0]

    @property
    def is_command(self) -> bool:
        """Is it for the shell?"""
        return self.document[0][:1] == "!"

    @property
    def before_cursor(self) -> str:
        """The text up to the cursor."""
        return self.get_text_range((0, 0), self.cursor_location)

    def put(self, text: str, cursor: Location | None = None) -> None:
        """Another text instead, which can be undone and opens no menu; the cursor goes to its end."""
        self.replace(strip_controls(text), (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(cursor if cursor is not None else self.document.end)
        self._put_there = self.text
        self.close_menus()

    def clear_all(self) -> None:
        """Empty it; there is no way back."""
        self.load_text("")
        self.pastes = Pastes()
        self.close_menus()

    @property
    def on_first_row(self) -> bool:
        """Is the cursor in the first row that is shown of the text?"""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def on_last_row(self) -> bool:
        """Is the cursor in the last row?"""
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    # ------------------------------------------------------------------------- typing

    async def on_key(self, event: events.Key) -> None:
        """Keys do what they do at once, in the order they came; what Enter does is up to the bindings, too.

        Textual would ask the bindings only when the key has passed through the queues of all that is around
        us, and what was typed after it would come before it: “teh”, twice backspace and “he” typed ahead.
        """
        if forward_typeahead(self, event):
            return
        if (event.key == "enter" or not event.is_printable) and self.has_focus:
            if self._ahead:  # a key that acts on a menu means the one that belongs to what was just typed
                self.follow(typed=True)
            event.prevent_default()
            event.stop()
            await run_binding(self.app, event.key)

    def newline(self) -> None:
        """Begin a line."""
        self._insert("\n")

    def _insert(self, text: str) -> None:
        """Replace the selection; the cursor goes behind the text."""
        self.replace(text, *self.selection, maintain_selection_offset=False)

    def find_matching_bracket(self, *_: object) -> None:
        """Not in prose: it would look through the whole text at every step of the cursor."""

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, where it is inside the document.

        Undo and redo of Textual 8.2.8 resize the text before they restore the selection. When that shows or
        hides the scrollbar, its watcher comes here with a cursor that may be beyond the end of the new text.
        Restoring the selection scrolls again.
        """
        if self.cursor_location > self.document.end:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    # ------------------------------------------------------------------------- pastes

    async def on_paste(self, event: events.Paste) -> None:
        """Paste from the terminal."""
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def action_paste(self) -> None:
        """Paste a picture from the clipboard, else what was copied in the program."""
        self.post_message(self.PasteWanted())

    def paste(self, text: str) -> None:
        """Insert a text, folded if it is large; the path of an image becomes a mention."""
        if not self._files.images_refused and (token := self._attachments.pasted_image(text)):
            self.insert_token(token)
            return
        folded = self.pastes.fold(strip_controls(text))
        self._insert(folded)

    def insert_token(self, token: str) -> None:
        """Insert what stands for an attachment, with space around it."""
        row, column = self.selection.start
        before = self.document[row][:column]
        gap = " " if before and not before[-1].isspace() else ""
        self._insert(f"{gap}{token} ")

    def action_copy(self) -> None:
        """Copy the selection, with what the tokens in it stand for."""
        if not self.selected_text:
            raise SkipAction
        self.app.copy_to_clipboard(self.pastes.expand(self.selected_text))

    def action_cut(self) -> None:
        """Cut the selection, or the line."""
        if self.selection.is_empty:
            super().action_cut()
        else:
            self.action_copy()
            self.action_delete_left()

    def unfold(self) -> bool:
        """Replace the token at the cursor, else the last one, by what was pasted."""
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
        """What touches a token takes all of it."""
        if (self.pastes or self._attachments) and edit.from_location != edit.to_location:
            top, bottom = edit.top, edit.bottom
            edit.from_location = self._edge(top, after=False)
            edit.to_location = self._edge(bottom, after=True)
        self._ahead = True
        return super().edit(edit)

    def validate_selection(self, selection: Selection) -> Selection:
        """The cursor jumps over tokens."""
        if not self.pastes and not self._attachments:
            return selection
        before = self.selection.end
        return Selection(*(self._edge(place, after=place > before) for place in selection))

    def _edge(self, place: Location, *, after: bool) -> Location:
        """The place itself, or the edge of the token that it is inside of.

        Textual deletes the last line up to the start of a line that does not exist.
        """
        row, column = place
        if row >= self.document.line_count:
            return place
        line = self.document[row]
        tokens = [*self.pastes.tokens(line), *self._attachments.tokens(line)]
        token = next((token for token in tokens if token.start < column < token.end), None)
        return place if token is None else (row, token.end if after else token.start)

    def get_line(self, line_index: int) -> Text:
        """A line as it is shown: what stands for more than itself can be seen to."""
        line = super().get_line(line_index)
        if not self.is_command:
            style = foreground_style(self, "prompt--token")
            for token in (*self.pastes.tokens(line.plain), *self._attachments.spans(line.plain)):
                line.stylize(style, token.start, token.end)
        return line

    # ------------------------------------------------------------------------- menus

    def follow(self, *, typed: bool = False) -> None:
        """Open the menu that belongs to what is written, or narrow it, or close it.

        `typed`: the text has changed, and not only the place of the cursor.
        """
        self._ahead = False
        if self._put_there is not None:
            if self.text == self._put_there:
                return
            self._put_there = None
        self._menu.follow(self.before_cursor if self.document[0][:1] == "/" else "")
        if not self._menu.is_open:
            row, column = self.cursor_location
            self._files.follow(row, "" if self.is_command else self.document[row][:column], typed=typed)

    def close_menus(self) -> None:
        """Nothing is being written that they could be for."""
        self._ahead = False
        self._menu.close()
        self._files.leave()

    # ------------------------------------------------------------------------- commands

    def update_suggestion(self) -> None:
        """Behind a command stands what it wants to be told."""
        hint = ""
        command = self._command_at_end()
        if command is not None and command.hint:
            gap = "" if self.text.endswith(" ") else " "
            room = self.wrap_width - cell_len(self.text)
            hint = shorten(gap + visible_line(command.hint), room)
        self.suggestion = hint

    def watch_selection(self) -> None:
        """… but only while the cursor is there."""
        self.update_suggestion()

    def action_cursor_right(self, select: bool = False) -> None:
        """The hint is no text that could be taken."""
        if not self.suggestion:
            super().action_cursor_right(select)

    def _command_at_end(self) -> SlashCommand | None:
        if self.cursor_location != self.document.end or self.document.line_count > 1:
            return None
        return self._menu.command(self.document[0])

    def check_action(self, action: str, _: tuple[object, ...]) -> bool | None:
        """The keys of the menu work while it is open."""
        if action == "menu_open":
            return self.is_empty and bool(self._menu.commands)
        return self._open_menu is not None if action.startswith("menu_") else True

    @property
    def _open_menu(self) -> Menu | None:
        return next((menu for menu in (self._menu, self._files) if menu.is_open), None)

    def action_menu_open(self) -> None:
        """As if it had been typed."""
        self.insert("/")

    def action_menu_move(self, step: int) -> None:
        """Move the mark."""
        if self._open_menu is not None:
            self._open_menu.move(step)

    def action_menu_complete(self, *, taking: bool = False) -> None:
        """Write what is at the mark out."""
        completion = self._open_menu.completion(taking=taking) if self._open_menu is not None else None
        if completion is not None:
            start, text = completion
            self.replace(text, start, self.cursor_location, maintain_selection_offset=False)

    def action_menu_take(self) -> None:
        """The same, unless it is written out already: then the key means what it means without a menu."""
        if self._open_menu is None or self._open_menu.is_complete:
            raise SkipAction
        self.action_menu_complete(taking=True)

    def action_menu_close(self) -> None:
        """Close it."""
        if self._open_menu is not None:
            self._open_menu.dismiss()
