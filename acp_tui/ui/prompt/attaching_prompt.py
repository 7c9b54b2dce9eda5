"""The part of the prompt that handles attachments: files, images from the clipboard, command output."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from textual import on
from textual.containers import Vertical

from acp_tui.session.text.safe_text import visible_line
from acp_tui.ui.prompt.attachments import Attachments
from acp_tui.ui.prompt.editor import PromptEditor
from acp_tui.ui.prompt.file_menu import FileMenu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from acp_tui.session.attachment import Attachment
    from acp_tui.ui.prompt.command_menu import CommandMenu
    from acp_tui.ui.prompt.file_search import FileIndex

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

    def set_files(self, folder: str, get_index: Callable[[], FileIndex]) -> None:
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
        """Store a text with its URI and return a token. A prompt with the token has the text attached."""
        return self._attachments.add_text(uri, text, mime)

    def refuse_images(self, reason: str) -> None:
        """Refuse to attach images, and give this reason. An empty reason allows them."""
        self._files.images_refused = reason

    def attachments_in(self, text: str) -> Sequence[Attachment]:
        """Return the attachments whose tokens occur in a text."""
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
        from acp_tui.ui.terminal.clipboard_read import can_read_clipboard

        event.stop()
        if can_read_clipboard(os.environ):
            self.run_worker(self._paste(), exclusive=True, group="paste")
        else:
            self._paste_text(self.app.clipboard)

    async def _paste(self) -> None:
        """Paste an image or text from the system clipboard, or text that was copied in the app."""
        from acp_tui.ui.terminal.clipboard_read import clipboard_picture, clipboard_text

        for worker in [worker for worker in self.app.workers if worker.group == CLIPBOARD_WORKERS]:
            await worker.wait()
        picture = await clipboard_picture()
        if picture is None:
            self._paste_text(await clipboard_text() or self.app.clipboard)
        elif self._files.images_refused:
            self.notify(visible_line(self._files.images_refused), severity="warning", markup=False)
        else:
            self._editor.insert_token(self._attachments.add_image(*picture))

    def _paste_text(self, text: str) -> None:
        if text:
            self._editor.paste(text)
        else:
            self.notify(NOTHING_TO_PASTE, markup=False)
