"""The part of the prompt that attaches: pictures from the clipboard, and what commands wrote."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Vertical

from acp_tui.session.text import visible_line
from acp_tui.ui.prompt.attachments import Attachments
from acp_tui.ui.prompt.editor import PromptEditor
from acp_tui.ui.prompt.file_menu import FileMenu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from acp_tui.session.attachment import Attachment
    from acp_tui.ui.prompt.command_menu import CommandMenu
    from acp_tui.ui.prompt.file_search import FileIndex

    Output = tuple[str, Callable[[], str]]
    """The command, and what gives its output."""


CLIPBOARD_WORKERS = "clipboard"
"""The app's workers that copy."""
NOTHING_TO_PASTE = "Nothing to paste. Your terminal's own paste key may work."


class AttachingPrompt(Vertical):
    """A text with its attachments. They stand in it as tokens, and are removed with these."""

    def __init__(self, menu: CommandMenu, *, id: str | None = None) -> None:  # noqa: A002  as in Textual
        super().__init__(id=id)
        self._attachments = Attachments()
        self._files = FileMenu(self._attachments)
        self._editor = PromptEditor(menu, self._files, self._attachments)
        self._offered: Output | None = None

    def use_files(self, folder: str, look: Callable[[], FileIndex]) -> None:
        """Mentions are of files in this folder; `look` gives what is known of them."""
        self._attachments.folder = folder
        self._files.look = look
        if not self._files.is_attached:  # before that the menu would only cost time at the start
            self.mount(self._files, before=0)
        self._editor.refresh()

    def refuse_images(self, why: str) -> None:
        """Images cannot be attached, and why; "": they can."""
        self._files.images_refused = why

    def attachments_in(self, text: str) -> Sequence[Attachment]:
        """What goes along with a text."""
        self._attachments.look_again()
        return self._attachments.of(text)

    def with_attached(self, text: str, blocks: Iterable[Mapping[str, Any]]) -> str:
        """The text of a prompt that comes back, perhaps from another time, and of what came along with it."""
        return self._attachments.again(text, blocks)

    # ------------------------------------------------------------------------- outputs of commands

    def offer_output(self, command: str, output: Callable[[], str]) -> None:
        """Offer the output of a command that has ended; a key attaches it."""
        self._offered = (command, output)
        self.screen.refresh_bindings()

    def attach_output(self, command: str, text: str) -> None:
        """Insert a reference to the output of a command."""
        self._editor.insert_token(self._attachments.output(command, text))

    def action_attach_output(self) -> None:
        """Attach the output that is on offer; once."""
        if self._offered is not None:
            command, output = self._offered
            self._end_offer()
            self.attach_output(command, output())

    def _end_offer(self) -> None:
        if self._offered is not None:
            self._offered = None
            self.screen.refresh_bindings()

    # ------------------------------------------------------------------------- the clipboard

    @on(PromptEditor.PasteWanted)
    def _paste_wanted(self, event: PromptEditor.PasteWanted) -> None:
        from acp_tui.ui.terminal.clipboard_read import can_read_clipboard

        event.stop()
        if can_read_clipboard(os.environ):
            self.run_worker(self._paste(), exclusive=True, group="paste")
        else:
            self._paste_text(self.app.clipboard)

    async def _paste(self) -> None:
        """What is in the clipboard, else what was copied in the program."""
        from acp_tui.ui.terminal.clipboard_read import clipboard_picture, clipboard_text

        for worker in [one for one in self.app.workers if one.group == CLIPBOARD_WORKERS]:
            await worker.wait()
        picture = await clipboard_picture()
        if picture is None:
            self._paste_text(await clipboard_text() or self.app.clipboard)
        elif self._files.images_refused:
            self.notify(visible_line(self._files.images_refused), severity="warning", markup=False)
        else:
            self._editor.insert_token(self._attachments.picture(*picture))

    def _paste_text(self, text: str) -> None:
        if text:
            self._editor.paste(text)
        else:
            self.notify(NOTHING_TO_PASTE, markup=False)
