"""The dialog shown while an agent signs in, with the agent's output and the web addresses in the output."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical

from acp_tui.session.state import AgentMessage, Notice
from acp_tui.session.text.invisible import reveal, reveal_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.wrap import make_strip, shorten, wrap
from acp_tui.ui.screens.dialogs.dialog import Dialog
from acp_tui.ui.screens.mcp.elicitation_dialogs import close_if_open
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import Row, SelectList

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from textual.app import ComposeResult
    from textual.strip import Strip

    from acp_tui.processes.line_ring import LineRing
    from acp_tui.session.change import Change
    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint

POLL_SECONDS = 0.25
"""Seconds between two reads of the agent's stderr."""
MAX_OUTPUT_LINES = 200
MAX_TEXT = 4000
"""The maximum number of characters shown of one message of the agent."""
MAX_ADDRESSES = 5
MAX_TITLE_WIDTH = 40
CHROME_ROWS = 6
"""The number of rows that show neither output nor addresses: borders, head, two blank rows, keys."""
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|]+")


class SignInProgress(Dialog[None]):
    """Shows the agent's output during a sign-in. Esc closes the dialog and cancels the sign-in."""

    CSS = """
    SignInProgress { align: center middle; background: transparent; }
    SignInProgress #dialog {
        width: 92; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $primary;
    }
    SignInProgress #output { margin: 1 0; }
    SignInProgress #addresses { margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("choose")
    AUTO_FOCUS = ""

    clock = staticmethod(time.monotonic)
    """Returns the time in seconds."""

    def __init__(self, agent: str, method: str, palette: Palette, stderr: LineRing | None) -> None:
        super().__init__()
        self._agent = agent
        self._method = method
        self._palette = palette
        self._stderr = stderr
        self._first_line = stderr.count if stderr is not None else 0
        self._began = self.clock()
        self._shown_count = 0  # the number of complete lines of stderr at the last update
        self._messages: dict[int, str] = {}  # by entry
        self._lines: list[str] = []  # the output that is shown
        self._finished = False
        self._addresses: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar(self._head(), self._elapsed(), id="head")
            yield BodyScroller(self._bodies, id="output")
            yield SelectList([], self._palette, id="addresses")
            yield KeyHints(self._hints(), self._palette, id="keys")

    def on_mount(self) -> None:
        """Follow the agent's stderr."""
        self.query_one("#addresses").display = False
        self._update()
        self.set_interval(POLL_SECONDS, self._tick)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one("#head", Bar).show(self._head(), self._elapsed())
        rows = self.query_one("#addresses", SelectList)
        rows.use_palette(palette)
        rows.show(self._address_rows(), rows.selected)
        self.query_one(KeyHints).use_palette(palette)
        self._update()

    def on_resize(self) -> None:
        """Set the height of the output."""
        self._update()

    def finish(self) -> None:
        """Close the dialog as soon as its conversation is in front: Textual cannot close a dialog earlier."""
        self._finished = True
        close_if_open(self)

    def _tick(self) -> None:
        if self._finished:
            close_if_open(self)
            return
        self.query_one("#head", Bar).show(right=self._elapsed())
        if self._stderr is not None and self._stderr.count != self._first_line + self._shown_count:
            self._update()

    # ------------------------------------------------------------------------- what is shown

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Show the agent's messages and the notices that `changes` contain."""
        texts = {change.entry.id: _text_of(change.entry) for change in changes if change.entry is not None}
        said = {number: text for number, text in texts.items() if text}
        if said:
            self._messages |= said
            if self.is_mounted:
                self._update()

    def _head(self) -> list[Segment]:
        agent, method = (shorten(reveal_line(text), MAX_TITLE_WIDTH) for text in (self._agent, self._method))
        return [Segment(f"Signing in to {agent}: {method}", self._palette.strong)]

    def _elapsed(self) -> list[Segment]:
        return [Segment(f" {int(self.clock() - self._began)} s", self._palette.dim)]

    def _hints(self) -> list[Hint]:
        take, close = (keys.bound_keys(self, name) for name in ("choose.take", "choose.close"))
        open_address = [(f"↑↓ {take}", "open or copy the address")] if self._addresses else []
        return [*open_address, (close, "cancel the sign-in")]

    def _output(self) -> Iterator[str]:
        lines = self._stderr.since(self._first_line) if self._stderr is not None else []
        self._shown_count = self._stderr.count - self._first_line if self._stderr is not None else 0
        yield from lines[-MAX_OUTPUT_LINES:]
        for text in self._messages.values():
            yield from text[-MAX_TEXT:].splitlines()

    def _update(self) -> None:
        """Show the output and the addresses in it."""
        self._lines = [reveal(line) for line in self._output()]
        found = list(dict.fromkeys(_addresses_in("\n".join(self._lines))))[-MAX_ADDRESSES:]
        rows = self.query_one("#addresses", SelectList)
        if found != self._addresses:
            self._addresses = found
            rows.display = bool(found)
            rows.show(self._address_rows(), 0)
            self.query_one(KeyHints).set_hints(self._hints())
        page, width = self.query_one(BodyScroller), min(92, self.app.size.width) - 4
        page.show(self._bodies)
        addresses = rows.height_at(width) + 1 if self._addresses else 0  # with the blank row below them
        room = max(2, self.app.size.height - CHROME_ROWS - addresses)
        page.styles.height = max(1, min(page.height_at(width - 1), room))
        page.scroll_end(animate=False)

    def _address_rows(self) -> list[Row]:
        return [Row([], [Segment(url, self._palette.text)]) for url in self._addresses]

    def _bodies(self, width: int) -> Sequence[Body]:
        palette = self._palette
        waiting = f"Waiting for {shorten(reveal_line(self._agent), MAX_TITLE_WIDTH)}. No output yet."
        lines: list[Strip] = []
        for line in self._lines or [waiting]:
            style = palette.text if self._lines else palette.dim
            lines += [make_strip(piece) for piece in wrap([Segment(line, style)], width)]
        return [LinesBody(lines, "\n".join(self._lines))]

    # ------------------------------------------------------------------------- keys

    def action_move(self, step: int) -> None:
        """Move to another address, or scroll the output by a page."""
        if abs(step) == 1:
            self.query_one("#addresses", SelectList).move(step)
        else:
            page = self.query_one(BodyScroller)
            page.scroll_relative(y=(1 if step > 0 else -1) * max(1, page.size.height - 1), animate=False)

    def action_choose(self) -> None:
        """Ask whether to open the selected address."""
        if self._addresses:
            self._ask_about(self._addresses[self.query_one("#addresses", SelectList).selected])

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Ask whether to open the clicked address."""
        self._ask_about(self._addresses[event.index])

    def _ask_about(self, url: str) -> None:
        from acp_tui.ui.screens.dialogs.guarded_question import GuardedQuestionScreen
        from acp_tui.ui.screens.dialogs.page_question import answer_page_question, page_question

        question = page_question(self._agent, "This address appeared in the agent's output.", url)
        dialog = GuardedQuestionScreen(question, self._palette)

        def answered(index: int | None) -> None:
            answer_page_question(self, question, index)

        self.app.push_screen(dialog, answered)


def _text_of(entry: object) -> str:
    if isinstance(entry, AgentMessage | Notice):
        return entry.text
    return ""


def _addresses_in(text: str) -> Iterable[str]:
    for match in _ADDRESS.finditer(text):
        url = match.group().rstrip(".,;:!?")
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1]
        yield url
