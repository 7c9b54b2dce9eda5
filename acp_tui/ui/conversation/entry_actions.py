"""Actions on a transcript entry: copy it, show all of it, open its file, image or link."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from textual.app import SuspendNotSupported

from acp_tui import web_browser
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.errors import UserError
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.safe_text import escape_line, visible_json
from acp_tui.session.state import Entry, Session
from acp_tui.session.terminal_text import TerminalText

if TYPE_CHECKING:
    from acp_tui.ui.dialogs.base_screen import BaseScreen, SessionContext
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
        """Copy text to the clipboard."""
        if text.strip():
            self._screen.app.copy_to_clipboard(text)
        else:
            self._screen.notify("There is nothing to copy here.", timeout=3)

    def show_text(self, title: str, text: str) -> None:
        """Show text in full screen."""
        from acp_tui.ui.dialogs.detail import DetailScreen

        self._screen.open_dialog(DetailScreen(title, text))

    def _show_full(self, entry: Entry) -> None:
        from acp_tui.ui.dialogs.detail import FullEntryScreen

        context = self._context
        self._screen.open_dialog(FullEntryScreen(entry, session=context.session, cwd=context.cwd))

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
        from acp_tui.ui.dialogs.choose import ChooseScreen

        link: str | None = links[0]
        if len(links) > 1:
            choices = [Choice(link, escape_line(link)) for link in links]
            link = await self._screen.ask(ChooseScreen("Open which link?", choices))
        self.open_link(link or "")

    def open_link(self, link: str) -> None:
        """Open a link in the browser, or a path in the editor."""
        if link.lower().startswith(BROWSER_SCHEMES):
            if not web_browser.open_page(link):
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
        from acp_tui.ui.terminal.open_externally import editor_command, open_file
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


def raw_json(entry: Entry) -> str:
    """Return the fields of an entry as JSON that is safe to display.

    Annotations of texts are left out. Of a subagent's session, only the entries are included.
    """
    return visible_json({"entry": type(entry).__name__, **_plain(entry)})


def _plain(value: Any) -> Any:
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, TerminalText):
        return {"head": value.head, "skipped": value.skipped, "tail": value.tail}
    if isinstance(value, Session):  # of a subagent
        return {"entries": [{"entry": type(entry).__name__, **_plain(entry)} for entry in value.entries]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
