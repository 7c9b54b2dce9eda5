"""Actions on a transcript entry: copy it, show all of it, open its file, image or link."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from textual.app import SuspendNotSupported

from acp_tui.console import browser
from acp_tui.entry_kinds.registry import kind_of
from acp_tui.errors import UserError
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from acp_tui.session.state import Entry
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.transcript.transcript import Transcript

BROWSER_SCHEMES = ("http://", "https://", "mailto:")
"""The beginnings of the links that are opened in the browser. All other links are paths."""


class EntryActions:
    """Runs actions on transcript entries: copying, showing a dialog, opening a file, image or link."""

    def __init__(self, screen: BaseScreen, transcript: Transcript, context: SessionContext) -> None:
        self._screen = screen
        self._transcript = transcript
        self._context = context

    def run(self, action: str, entry: Entry) -> None:
        """Run an action, such as "copy", on an entry of the transcript. Unknown actions do nothing."""
        from acp_tui.ui.entries.raw_json import raw_json

        kind = kind_of(entry)
        match action:
            case "copy":
                self.copy(self._transcript.copy_text(entry.id))
            case "copy code":
                self.copy("\n".join(kind.code(entry) or []))
            case "raw":
                self.show_text(kind.title, raw_json(entry))
            case "full_entry":
                self._show_full(entry)
            case "edit":
                self._edit_file_of(entry)
            case "open":
                self._open(entry)

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard."""
        if text.strip():
            self._screen.app.copy_to_clipboard(text)
        else:
            self._screen.notify("There is nothing to copy here.", timeout=3)

    def show_text(self, title: str, text: str) -> None:
        """Show a text in full screen."""
        from acp_tui.ui.screens.dialogs.detail import DetailScreen

        self._screen.open_dialog(DetailScreen(title, text, self._context.palette))

    def _show_full(self, entry: Entry) -> None:
        from acp_tui.ui.screens.dialogs.full_entry import FullEntryScreen

        context = self._context
        self._screen.open_dialog(
            FullEntryScreen(entry, context.palette, session=context.session, cwd=context.cwd)
        )

    # ------------------------------------------------------------------------- links and images

    def _open(self, entry: Entry) -> None:
        from acp_tui.ui.terminal.open_externally import open_externally

        content = kind_of(entry).media(entry)
        if content is not None and content.data is not None:
            self._screen.notify(open_externally(content), markup=False)
        elif links := self._transcript.links(entry.id):
            self._screen.run_worker(self._open_one_of(links), group="link", exclusive=True)
        else:
            self._screen.notify("There is nothing to open here.", timeout=3)

    async def _open_one_of(self, links: list[str]) -> None:
        from acp_tui.session.state import Choice
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        link: str | None = links[0]
        if len(links) > 1:
            choices = [Choice(link, visible_line(link)) for link in links]
            link = await self._screen.ask(ChooseScreen("Open which link?", choices, self._context.palette))
        self.open_link(link or "")

    def open_link(self, link: str) -> None:
        """Open a link in the browser, or a path in the editor."""
        if link.lower().startswith(BROWSER_SCHEMES):
            if not browser.open_page(link):
                self._screen.notify(f"No browser could be started. Open this link: {link}", markup=False)
        elif link.lower().startswith("file://"):
            self.edit_file(unquote(link[len("file://") :].partition("#")[0]))
        elif link:
            self.edit_file(link.partition("#")[0])

    # ------------------------------------------------------------------------- files

    def _edit_file_of(self, entry: Entry) -> None:
        location = kind_of(entry).location(entry)
        if location is None:
            self._screen.notify("There is no file in this entry.", timeout=3)
        else:
            self.edit_file(*location)

    def edit_file(self, path: str, line: int | None = None) -> None:
        """Open a file in the user's editor. A relative path is resolved against the session's folder."""
        self._screen.run_worker(self._edit_file(path, line), group="editor", exclusive=True)

    async def _edit_file(self, path: str, line: int | None) -> None:
        from acp_tui.ui.terminal.external_editor import editor_command, open_file
        from acp_tui.ui.terminal.suspend import release_terminal

        base = Path(self._context.cwd or ".")
        try:
            command = editor_command(os.environ)
            with release_terminal(self._screen.app):
                await open_file(base / path, line, command)
        except UserError as error:
            self._screen.notify(str(error), severity="error", markup=False)
        except SuspendNotSupported:
            self._screen.notify(
                "Cannot open an editor: this terminal does not support it.", severity="error", markup=False
            )
