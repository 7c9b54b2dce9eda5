"""The screen's part of the transcript: movement, search and actions on an entry."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import SuspendNotSupported

from acp_tui.entry_kinds.registry import kind_of
from acp_tui.errors import UserError
from acp_tui.session.text import visible_line
from acp_tui.ui.screens.base import BaseScreen
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.find_line import FindLine

if TYPE_CHECKING:
    from acp_tui.session.state import Entry
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.transcript.search import TranscriptSearch

BROWSER_SCHEMES = ("http://", "https://", "mailto:")
"""Links that a click may hand to the browser."""


class TranscriptScreen(BaseScreen):
    """A part of every screen with a transcript. (No mixin: only widgets can handle messages.)"""

    finder: TranscriptSearch
    _palette: Palette

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.query_one(Transcript)

    def typed(self, text: str) -> None:
        """The user typed in the transcript, or wants to leave it: matters where there is a prompt."""

    # ------------------------------------------------------------------------- moving

    def action_entry(self, step: int) -> None:
        """The cursor goes to the next entry, or to the one before."""
        self.transcript.focus()
        self.transcript.move_cursor(step)

    def action_page(self, step: int) -> None:
        """A screen of the conversation up or down."""
        self.transcript.scroll_lines(step * max(1, self.transcript.size.height - 1))

    def action_home(self) -> None:
        """To its beginning."""
        self.transcript.action_scroll_home()

    def action_end(self) -> None:
        """To its end."""
        self.transcript.follow()

    @on(Transcript.Typed)
    def _typed(self, event: Transcript.Typed) -> None:
        self.typed(event.text)

    # ------------------------------------------------------------------------- the search

    def action_search(self) -> None:
        """Search in the conversation."""
        self.query_one(FindLine).open()

    def action_find_next(self, step: int) -> None:
        """The next hit, or the one before; of the last search when that is over."""
        line = self.query_one(FindLine)
        if not line.shown and line.needle:
            line.show()
            self.finder.search(line.needle)
        if not self.finder.move(step):
            self.app.bell()
        self._tell_hits()

    @on(FindLine.Changed)
    def _find(self, event: FindLine.Changed) -> None:
        self.finder.search(event.needle)
        self._tell_hits()

    @on(FindLine.Moved)
    def _find_moved(self, event: FindLine.Moved) -> None:
        self.action_find_next(event.step)

    @on(FindLine.Closed)
    def _find_closed(self) -> None:
        self.finder.clear()
        self.transcript.focus()

    def _tell_hits(self) -> None:
        self.query_one(FindLine).show_position(self.finder.number, self.finder.total)

    # ------------------------------------------------------------------------- one entry

    @on(Transcript.Wanted)
    def _wanted(self, event: Transcript.Wanted) -> None:
        event.stop()
        match event.what:
            case "find":
                self.action_find_next(event.step)
            case "leave":
                self.typed("")
            case _ if event.entry is not None:
                self._with_entry(event.what, event.entry)
            case "copy":
                self.notify("There is nothing to copy yet.", timeout=3)

    def _with_entry(self, what: str, entry: Entry) -> None:
        from acp_tui.ui.entries.raw_json import raw_json

        kind = kind_of(entry)
        match what:
            case "copy":
                self._copy(self.transcript.copy_text(entry.id))
            case "copy code":
                self._copy("\n".join(kind.code(entry) or []))
            case "raw":
                self._detail(kind.title, raw_json(entry))
            case "whole":
                self._show_whole(entry)
            case "edit":
                self._edit(kind.location(entry))
            case "open":
                self._open(entry)

    def _copy(self, text: str) -> None:
        if text.strip():
            self.app.copy_to_clipboard(text)
        else:
            self.notify("There is nothing to copy here.", timeout=3)

    def _detail(self, title: str, text: str) -> None:
        from acp_tui.ui.screens.detail import DetailScreen

        self.app.push_screen(DetailScreen(title, text, self._palette))

    def _show_whole(self, entry: Entry) -> None:
        from acp_tui.ui.screens.full_entry import FullEntryScreen

        layout = self.transcript.entry_layout
        self.app.push_screen(FullEntryScreen(entry, self._palette, session=layout.session, cwd=layout.cwd))

    def _open(self, entry: Entry) -> None:
        from acp_tui.ui.terminal import open_externally

        content = kind_of(entry).media(entry)
        if content is not None and content.data is not None:
            self.notify(open_externally.open_externally(content), markup=False)
        elif links := self.transcript.links(entry.id):
            self.run_worker(self._open_one_of(links), group="link", exclusive=True)
        else:
            self.notify("There is nothing to open here.", timeout=3)

    async def _open_one_of(self, links: list[str]) -> None:
        from acp_tui.session.state import Choice
        from acp_tui.ui.screens.choose import ChooseScreen

        link: str | None = links[0]
        if len(links) > 1:
            choices = [Choice(link, visible_line(link)) for link in links]
            link = await self.app.push_screen_wait(ChooseScreen("Open which link?", choices, self._palette))
        self._open_link(link or "")

    @on(Transcript.LinkClicked)
    def _link_clicked(self, event: Transcript.LinkClicked) -> None:
        self._open_link(event.link)

    def _open_link(self, link: str) -> None:
        if link.startswith(BROWSER_SCHEMES):
            webbrowser.open(link)
        elif link:
            path = link.removeprefix("file://").partition("#")[0]
            self._edit((path, None))

    def _edit(self, place: tuple[str, int | None] | None) -> None:
        if place is None:
            self.notify("This entry names no file.", timeout=3)
            return
        self.run_worker(self._edit_file(*place), group="editor", exclusive=True)

    async def _edit_file(self, path: str, line: int | None) -> None:
        from acp_tui.ui.terminal.external_editor import editor_command, open_file
        from acp_tui.ui.terminal.suspend import release_terminal

        base = Path(self.transcript.entry_layout.cwd or ".")
        try:
            command = editor_command(os.environ)
            with release_terminal(self.app):
                await open_file(base / path, line, command)
        except UserError as error:
            self.notify(str(error), severity="error", markup=False)
        except SuspendNotSupported:
            self.notify(
                "Cannot open an editor: this terminal does not support it.", severity="error", markup=False
            )
