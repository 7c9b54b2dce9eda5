"""The search in the transcript: connects the search line with the matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.transcript.search import TranscriptSearch

if TYPE_CHECKING:
    from acp_tui.ui.screens.session.text_place import TextPlace
    from acp_tui.ui.transcript.transcript import Transcript
    from acp_tui.ui.widgets.find_line import FindLine


class Find:
    """Searches for what the user types into the search line."""

    def __init__(self, line: FindLine, transcript: Transcript) -> None:
        self._line = line
        self._transcript = transcript
        self._search = TranscriptSearch(transcript)

    @property
    def is_open(self) -> bool:
        """True while the search line is visible."""
        return self._line.shown

    def open(self) -> None:
        """Show and focus the search line."""
        self._line.open()

    def close(self) -> bool:
        """Hide the search line; return False if it is hidden already."""
        was_open = self.is_open
        if was_open:
            self._line.action_close()
        return was_open

    def search(self, text: str) -> None:
        self._search.search(text)
        self._show_count()

    def move(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match.

        If the search line is hidden but contains a text, show it and repeat the search first.
        """
        if not self._line.shown and self._line.needle:
            self._line.show()
            self._search.search(self._line.needle)
        if not self._search.move(step):
            self._line.app.bell()
        self._show_count()

    def show_place(self, place: TextPlace) -> None:
        """Scroll to a text in an entry and mark the text, as if the user had searched for it.

        Does nothing if there is no such entry.
        """
        if self._transcript.entry(place.entry) is None:
            return  # the log was changed or shortened after it was indexed
        if place.text:
            self._line.show_needle(place.text)
            self._search.search(place.text)
        self._search.move_to(place.entry)
        self._show_count()

    def clear(self) -> None:
        self._search.clear()

    def on_closed(self) -> None:
        """Forget the matches and focus the transcript. Called once the search line is hidden."""
        self.clear()
        self._transcript.focus()

    def _show_count(self) -> None:
        self._line.show_position(self._search.number, self._search.total)
