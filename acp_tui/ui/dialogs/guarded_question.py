"""The dialog for questions that must not be answered by accident, such as whether a folder is trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment

from acp_tui import web_browser
from acp_tui.guarded_question import GuardedAnswer, GuardedQuestion
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import GuardedDialog, scroll_page
from acp_tui.ui.drawing.body import Body, LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten, wrap
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList, SelectRow
from acp_tui.web_browser import check_web_address

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.strip import Strip

    from acp_tui.ui.widgets.bar import Hint


LABEL_WIDTH = 13
"""The width, in cells, of the column with the labels of the question's details."""
MAX_ASKER_WIDTH = 80
MAX_MESSAGE = 600
"""The maximum number of characters of the asker's message. A longer one could hide the host below it."""
DECLINE = GuardedAnswer("Decline")
OPEN = GuardedAnswer("Open the page in the browser", grants=True)
COPY = GuardedAnswer("Copy the address, to open it elsewhere", grants=True)


class GuardedQuestionScreen(GuardedDialog[int | None]):
    """Returns the index of the chosen answer, or None if the dialog is closed without an answer.

    The first answer, which allows nothing, is preselected. An answer that allows something is accepted
    only after the whole text has been on the screen.
    """

    CSS = """
    GuardedQuestionScreen #what { margin: 1 0; }
    """
    DEFAULT_CLASSES = "warning"
    BINDINGS: ClassVar = keys.bindings("choose")

    def __init__(
        self,
        question: GuardedQuestion[Any],
        *,
        replaces_another: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`replaces_another` means that the user was about to answer a question that has been withdrawn."""
        super().__init__(question.title, replaces_another=replaces_another, clock=clock)
        self._question = question
        self._number_and_count = question.position
        self._page = BodyScroller(self._bodies, id="what")
        self._unread_notice = False  # an answer was refused because there is more to read
        self._lowest_row = 0  # the last row of the text that has been on the screen

    def content(self) -> ComposeResult:
        yield self._page
        yield SelectList(self._rows(), id="choices")

    def on_mount(self) -> None:
        """Track which rows have been shown."""
        self.show_head()  # the position can change while the widgets are mounted
        self.watch(self._page, "scroll_y", self._on_scroll)
        self.call_after_refresh(self._on_scroll)

    def on_resize(self) -> None:
        """Let the user read the text again, because it wraps differently now."""
        self._lowest_row = 0
        self._page.scroll_home(animate=False)
        self.call_after_refresh(self._on_scroll)

    def fit(self) -> None:
        answers = self.query_one(SelectList).height_at(self.inner_width)
        text = self._page.height_at(self.inner_width - 1)
        self._page.styles.height = max(2, min(text, self.room - answers))

    def apply_theme(self) -> None:
        super().apply_theme()
        rows = self.query_one(SelectList)
        rows.show(self._rows(), rows.selected)

    # ------------------------------------------------------------------------- what is shown

    def head(self) -> tuple[Spans, Spans]:
        number, count = self._number_and_count
        position = [Segment(f" {number} of {count}", current_palette().dim)] if count > 1 else []
        return super().head()[0], position

    def show_position(self, position: tuple[int, int]) -> None:
        """Show the number of this question and the count of the waiting questions."""
        self._number_and_count = position
        self.show_head()

    def _rows(self) -> list[SelectRow]:
        return [
            SelectRow([], [Segment(escape_invisible_line(answer.label), current_palette().text)])
            for answer in self._question.answers
        ]

    def _bodies(self, width: int) -> Sequence[Body]:
        return [LinesBody([*self._lines(width)], "")]

    def _lines(self, width: int) -> Iterator[Strip]:
        palette, question = current_palette(), self._question
        for line in wrap([Segment(escape_invisible_line(question.text), palette.text)], width):
            yield make_strip(line)
        for warning in question.warnings:
            words = [Segment(escape_invisible_line(warning), palette.warning)]
            yield from hanging_lines([Segment("! ", palette.warning)], words, width)
        if question.facts:
            yield make_strip([])
        for label, value in question.facts:
            lead = Segment(label.ljust(LABEL_WIDTH), palette.dim)
            style = palette.strong if label and label == question.main_fact else palette.text
            pieces = hard_wrap([Segment(escape_invisible_line(value), style)], width - LABEL_WIDTH)
            for number, piece in enumerate(pieces):
                yield make_strip([lead if number == 0 else Segment(" " * LABEL_WIDTH), *piece])

    def hints(self) -> list[Hint]:
        take, close, page = (
            keys.bound_keys(self, name) for name in ("choose.take", "choose.close", "choose.page_down")
        )
        if self._unread_notice and self._is_unread:
            return [(page, "read to the end first")]
        hints = [(f"↑↓ {take}", "choose"), (close, self._question.close_label)]
        return [(page, "more of the text"), *hints] if self._is_unread else hints

    # ------------------------------------------------------------------------- reading

    @property
    def _is_unread(self) -> bool:
        return self._lowest_row < self._page.virtual_size.height

    def _on_scroll(self) -> None:
        top = self._page.scroll_offset.y
        if top <= self._lowest_row:  # nothing was skipped
            self._lowest_row = max(self._lowest_row, top + self._page.size.height)
        self.update_hints()

    # ------------------------------------------------------------------------- answering

    def action_move(self, step: int) -> None:
        """Move by one answer if `step` is 1 or -1; otherwise scroll by a page, up if `step` is negative."""
        if abs(step) == 1:
            super().action_move(step)
        else:
            scroll_page(self._page, step)

    def action_choose(self) -> None:
        """Close the dialog with the selected answer, unless the text must be read first."""
        index = self.query_one(SelectList).selected
        if self._question.answers[index].grants and self._is_unread:
            self._unread_notice = True
            self.update_hints()
        else:
            self.dismiss(index)


@dataclass(frozen=True, slots=True)
class PageQuestion(GuardedQuestion[GuardedAnswer]):
    """The question whether to open a page."""

    url: str = ""
    """What is opened or copied."""


def page_question(
    asked_by: str, message: str, url: str, *, purpose: str = "", position: tuple[int, int] = (1, 1)
) -> PageQuestion:
    """Return the question whether to open a page. The arguments need not be safe to display.

    `purpose` is what the question belongs to, such as a tool call.
    """
    text = shorten(" ".join(message[: 2 * MAX_MESSAGE].split()), MAX_MESSAGE)
    facts = [("for", purpose)] if purpose else []
    warnings: tuple[str, ...]
    try:
        address = check_web_address(url)
    except ValueError as reason:
        url = escape_invisible_line(url)
        warnings = (f"acp-tui does not open this address, because {reason}.",)
        can_open = False
    else:
        facts.append(("host", address.host))
        warnings = address.warnings
        can_open = web_browser.has_browser()
    return PageQuestion(
        f"{shorten(escape_invisible_line(asked_by), MAX_ASKER_WIDTH)} asks you to open a page",
        text,
        (DECLINE, OPEN, COPY) if can_open else (DECLINE, COPY),
        facts=(*facts, ("address", url)),
        warnings=warnings,
        position=position,
        main_fact="host",
        close_label="close",  # unlike declining
        url=url,
    )


def answer_page_question(screen: Screen[Any], question: PageQuestion, index: int | None) -> FormAnswer:
    """Open the page, copy its address, or do neither, as the user chose. Return the answer for the asker.

    `index` is the position of the choice in `question.answers`; None if the dialog was closed.
    """
    if index is None:
        return FormAnswer("cancel")
    chosen = question.answers[index]
    if chosen is COPY:
        screen.app.copy_to_clipboard(question.url)
    elif chosen is OPEN and not web_browser.open_page(question.url):
        sentence = f"The browser could not be started. Open this address: {question.url}"
        screen.notify(sentence, severity="error", timeout=30, markup=False)
    return FormAnswer("accept" if chosen.grants else "decline")
