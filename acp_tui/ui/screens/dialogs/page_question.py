"""The question whether to open a web page that an agent or an MCP server wants the user to visit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.console import browser
from acp_tui.console.web_address import check_web_address
from acp_tui.schema_form.answer import FormAnswer
from acp_tui.session.text.invisible import reveal_line
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from textual.screen import Screen

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
    title = f"{shorten(reveal_line(asked_by), MAX_ASKER_WIDTH)} asks you to open a page"
    try:
        address = check_web_address(url)
    except ValueError as reason:
        warning = f"acp-tui does not open this address, because {reason}."
        shown = reveal_line(url)
        facts = (*about, ("address", shown))
        return PageQuestion(title, text, facts, (warning,), (DECLINE, COPY), shown, position)
    facts = (*about, ("host", address.host), ("address", url))
    answers = (DECLINE, OPEN, COPY) if browser.has_browser() else (DECLINE, COPY)
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
    elif chosen is OPEN and not browser.open_page(question.url):
        sentence = f"The browser could not be started. Open this address: {question.url}"
        screen.notify(sentence, severity="error", timeout=30, markup=False)
    return FormAnswer("accept" if chosen.grants else "decline")
