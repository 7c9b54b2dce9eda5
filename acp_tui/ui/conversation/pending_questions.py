"""Questions that wait for the user, shown one at a time in order of arrival."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_tui.schema_form.values import FormAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.controller import Answer, FormRequest, Question
    from acp_tui.session.state import Elicitation


@dataclass(eq=False, slots=True)
class PendingQuestion:
    """A permission question, and the future for its answer."""

    question: Question
    answer: asyncio.Future[Answer]

    @property
    def title(self) -> str:
        """The title of the tool call that the question is about; empty if there is no such call."""
        return self.question.call.title if self.question.call is not None else ""


@dataclass(eq=False, slots=True)
class PendingForm:
    """A form for the user to fill in, and the future for the answer."""

    form: FormRequest
    answer: asyncio.Future[FormAnswer]
    elicitation: Elicitation | None = None  # the agent's request; None if an MCP server asks

    @property
    def title(self) -> str:
        """The question above the form."""
        return self.form.message


@dataclass(eq=False, slots=True)
class PendingPage:
    """A page that the agent asks the user to open, and the future for the answer."""

    page: Elicitation
    answer: asyncio.Future[FormAnswer]

    @property
    def title(self) -> str:
        """The agent's message about the web page that the user is asked to open."""
        return self.page.message


Pending = PendingQuestion | PendingForm | PendingPage


class PendingQuestions:
    """The queue of questions. Implements `QuestionHandler` of the controller."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """`on_change` is called whenever a question is added or removed."""
        self._on_change = on_change
        self._waiting: list[Pending] = []
        self._answered_count = 0  # since the queue was last empty

    @property
    def shown(self) -> Pending | None:
        """The first question, which the user sees; None if no question waits."""
        return self._waiting[0] if self._waiting else None

    @property
    def title(self) -> str:
        """What the first question is about; empty if no question waits, or if the first one has no title."""
        return self.shown.title if self.shown is not None else ""

    @property
    def position(self) -> tuple[int, int]:
        """The position of the shown question, and the number of questions, as in "2 of 3".

        Questions answered or withdrawn since the queue was last empty are included in both numbers.
        """
        return self._answered_count + 1, self._answered_count + len(self._waiting)

    async def ask(self, question: Question) -> Answer:
        """Queue a question and wait for the answer. If the wait is cancelled, the question is removed."""
        pending = PendingQuestion(question, asyncio.get_running_loop().create_future())
        with self._queued(pending):
            return await pending.answer

    async def fill_form(self, form: FormRequest, elicitation: Elicitation | None = None) -> FormAnswer:
        """Queue a form and wait for the answer. If the wait is cancelled, the form is removed."""
        pending = PendingForm(form, asyncio.get_running_loop().create_future(), elicitation)
        with self._queued(pending):
            return await pending.answer

    @contextmanager
    def _queued(self, pending: Pending) -> Iterator[None]:
        self._waiting.append(pending)
        self._on_change()
        try:
            yield
        finally:
            self._waiting.remove(pending)
            self._answered_count = self._answered_count + 1 if self._waiting else 0
            self._on_change()

    async def elicit(self, elicitation: Elicitation) -> FormAnswer:
        """Queue a form or a page of the agent and wait for the answer.

        If the wait is cancelled, the form or page is removed.
        """
        if elicitation.mode == "form":
            from acp_tui.controller import FormRequest

            form = FormRequest(elicitation.message, elicitation.schema)
            return await self.fill_form(form, elicitation)
        pending = PendingPage(elicitation, asyncio.get_running_loop().create_future())
        with self._queued(pending):
            return await pending.answer

    def accept_completed(self, elicitation: Elicitation) -> None:
        """Accept the pending question about a page if the agent has reported the page as completed."""
        for pending in self._waiting:
            if isinstance(pending, PendingPage) and pending.page is elicitation and elicitation.completed:
                self.answer_form(pending, FormAnswer("accept"))

    def answer(self, pending: PendingQuestion, answer: Answer) -> None:
        """Answer a question. Does nothing if it was withdrawn."""
        if not pending.answer.done():
            pending.answer.set_result(answer)

    def answer_form(self, pending: PendingForm | PendingPage, answer: FormAnswer) -> None:
        """Answer a form, or the question whether to open a page. Does nothing if `pending` was withdrawn."""
        if not pending.answer.done():
            pending.answer.set_result(answer)
