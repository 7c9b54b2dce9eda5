"""The dialog for questions that must not be answered by accident, such as whether a folder is trusted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual.containers import Vertical

from acp_tui import web_browser
from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog, TypingGuard
from acp_tui.ui.drawing.body import LinesBody
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import hard_wrap, make_strip, shorten, wrap
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.body_scroller import BodyScroller
from acp_tui.ui.widgets.select_list import SelectList, SelectRow
from acp_tui.web_browser import check_web_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.strip import Strip

    from acp_tui.ui.dialogs.interfaces import GuardedQuestion
    from acp_tui.ui.drawing.body import Body
    from acp_tui.ui.theme.palette import Palette, Spans
    from acp_tui.ui.widgets.bar import Hint


LABEL_WIDTH = 13
"""The width, in cells, of the column with the labels of the question's details."""
CHROME_ROWS = 6
"""The number of rows that show neither text nor answers: borders, head, two blank rows, keys."""


class GuardedQuestionScreen(Dialog[int | None]):
    """Returns the index of the chosen answer, or None if the dialog is closed without an answer.

    The first answer, which allows nothing, is preselected. An answer that allows something is accepted
    only after the whole text has been on the screen.
    """

    CSS = """
    GuardedQuestionScreen { align: center middle; background: transparent; }
    GuardedQuestionScreen #dialog {
        width: 92; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $warning;
    }
    GuardedQuestionScreen #what { margin: 1 0; }
    """
    BINDINGS: ClassVar = keys.bindings("choose")
    AUTO_FOCUS = ""

    def __init__(
        self,
        question: GuardedQuestion,
        palette: Palette,
        *,
        replaces_another: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`replaces_another` means that the user was about to answer a question that has been withdrawn."""
        super().__init__()
        self._question = question
        self._palette = palette
        self._number_and_count = question.position
        self._page = BodyScroller(self._bodies, id="what")
        self._typing_guard = TypingGuard(self, self._hints, clock, replaces_another=replaces_another)
        self._unread_notice = False  # an answer was refused because there is more to read
        self._lowest_row = 0  # the last row of the text that has been on the screen

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Bar(self._head(), self._position(), id="head")
            yield self._page
            yield SelectList(self._rows(), self._palette, id="choices")
            yield KeyHints([], self._palette, id="keys")

    def on_mount(self) -> None:
        """Start to guard against type-ahead, and to track which rows have been shown."""
        self.show_position(self._number_and_count)  # it can change while the widgets are mounted
        self._fit()
        self.watch(self._page, "scroll_y", self._on_scroll)
        self.call_after_refresh(self._on_scroll)
        self._typing_guard.restart()

    def on_resize(self) -> None:
        """Set the height of the text. The text wraps differently now, so the user must read it again."""
        self._fit()
        self._lowest_row = 0
        self._page.scroll_home(animate=False)
        self.call_after_refresh(self._on_scroll)

    def _fit(self) -> None:
        if not self.is_mounted:
            return
        width, height = self.app.size
        inner = min(92, width) - 4
        choices = self.query_one(SelectList)
        rows = choices.height_at(inner)
        self._page.styles.height = max(2, min(self._page.height_at(inner - 1), height - CHROME_ROWS - rows))

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one("#head", Bar).show(self._head(), self._position())
        self._page.show(self._bodies)
        rows = self.query_one(SelectList)
        rows.use_palette(palette)
        rows.show(self._rows(), rows.selected)
        self.query_one("#keys", KeyHints).use_palette(palette)

    # ------------------------------------------------------------------------- what is shown

    def _head(self) -> Spans:
        return [Segment(escape_invisible_line(self._question.title), self._palette.strong)]

    def show_position(self, position: tuple[int, int]) -> None:
        """Show the number of this question and the count of the waiting questions."""
        self._number_and_count = position
        for head in self.query("#head").results(Bar):  # none before the dialog is composed
            head.show(right=self._position())

    def _position(self) -> Spans:
        number, count = self._number_and_count
        return [Segment(f" {number} of {count}", self._palette.dim)] if count > 1 else []

    def _rows(self) -> list[SelectRow]:
        return [
            SelectRow([], [Segment(escape_invisible_line(answer.label), self._palette.text)])
            for answer in self._question.answers
        ]

    def _bodies(self, width: int) -> Sequence[Body]:
        return [LinesBody([*self._lines(width)], "")]

    def _lines(self, width: int) -> Iterator[Strip]:
        palette, question = self._palette, self._question
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

    def _hints(self) -> list[Hint]:
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
        self._typing_guard.update_hints()

    # ------------------------------------------------------------------------- answering

    def on_key(self, event: events.Key) -> None:
        """Ignore type-ahead: keys pressed before the user has seen the question."""
        self._typing_guard.filter_key(event)

    def on_paste(self) -> None:
        """Ignore keys until the next pause: a paste shows that the user is still writing."""
        self._typing_guard.restart()

    def on_select_list_chosen(self, event: SelectList.Chosen) -> None:
        """Close the dialog with the clicked answer, unless the text must be read first."""
        self._answer(event.index)

    def action_move(self, step: int) -> None:
        """Move by one answer if `step` is 1 or -1; otherwise scroll by a page, up if `step` is negative."""
        if abs(step) == 1:
            self.query_one(SelectList).move(step)
            return
        rows = max(1, self._page.size.height - 1)
        self._page.scroll_relative(y=rows if step > 0 else -rows, animate=False)

    def action_choose(self) -> None:
        """Close the dialog with the selected answer, unless the text must be read first."""
        self._answer(self.query_one(SelectList).selected)

    def _answer(self, index: int) -> None:
        if self._question.answers[index].grants and self._is_unread:
            self._unread_notice = True
            self._typing_guard.update_hints()
        else:
            self.dismiss(index)


MAX_ASKER_WIDTH = 80
MAX_MESSAGE = 600
"""The maximum number of characters of the asker's message. A longer one could hide the host below it."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer to a `PageQuestion`. `grants` is True if the answer counts as the user's consent."""

    label: str
    grants: bool = True


DECLINE = PageAnswer("Decline", grants=False)
OPEN = PageAnswer("Open the page in the browser")
COPY = PageAnswer("Copy the address, to open it elsewhere")


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """What the dialog shows: the question whether to open a page. Implements `GuardedQuestion`."""

    title: str
    text: str
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    answers: tuple[PageAnswer, ...]
    url: str  # what is opened or copied
    position: tuple[int, int] = (1, 1)
    main_fact: str = "host"
    close_label: str = "close"  # unlike declining


def page_question(
    asked_by: str, message: str, url: str, *, purpose: str = "", position: tuple[int, int] = (1, 1)
) -> PageQuestion:
    """Return the question whether to open a page. The arguments need not be safe to display.

    `purpose` is what the question belongs to, such as a tool call.
    """
    about = (("for", purpose),) if purpose else ()
    text = shorten(" ".join(message[: 2 * MAX_MESSAGE].split()), MAX_MESSAGE)
    title = f"{shorten(escape_invisible_line(asked_by), MAX_ASKER_WIDTH)} asks you to open a page"
    try:
        address = check_web_address(url)
    except ValueError as reason:
        warning = f"acp-tui does not open this address, because {reason}."
        shown = escape_invisible_line(url)
        facts = (*about, ("address", shown))
        return PageQuestion(title, text, facts, (warning,), (DECLINE, COPY), shown, position)
    facts = (*about, ("host", address.host), ("address", url))
    answers = (DECLINE, OPEN, COPY) if web_browser.has_browser() else (DECLINE, COPY)
    return PageQuestion(title, text, facts, address.warnings, answers, url, position)


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
