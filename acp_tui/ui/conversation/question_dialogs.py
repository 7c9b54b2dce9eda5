"""The questions that wait for the user, in order of arrival, and the dialogs that show them one at a time."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from acp_tui.entry_labels import asking_subagent
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.session.state import Elicitation, Session
from acp_tui.ui import keys
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.widgets.strips import QuestionStrip

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.controller import Answer, FormRequest, Question
    from acp_tui.guarded_question import GuardedQuestion, StartAnswer
    from acp_tui.schema_form.values import FormAnswer
    from acp_tui.session.record import Change
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen, PageQuestion
    from acp_tui.ui.permission.dialog import Later, PermissionAnswer, PermissionScreen
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.schema_form.dialog import SchemaFormDialog


Answered = TypeVar("Answered")

MAX_AGENT_WIDTH = 40
"""The maximum width of the agent's title. The agent chooses its title; a long one could hide the question."""
MAX_SESSION_WIDTH = 24
MAX_CALL_WIDTH = 200
MAX_SUBJECT_WIDTH = 200
"""The maximum length of a request's description in the reminder or in a prompt that reports a rejection."""
REPLACEMENT_SECONDS = 1.0
"""A question that opens this soon after one was withdrawn takes its place."""


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
                from acp_tui.schema_form.values import FormAnswer

                self.answer_form(pending, FormAnswer("accept"))

    def answer(self, pending: PendingQuestion, answer: Answer) -> None:
        """Answer a question. Does nothing if it was withdrawn."""
        if not pending.answer.done():
            pending.answer.set_result(answer)

    def answer_form(self, pending: PendingForm | PendingPage, answer: FormAnswer) -> None:
        """Answer a form, or the question whether to open a page. Does nothing if `pending` was withdrawn."""
        if not pending.answer.done():
            pending.answer.set_result(answer)


class QuestionDialogs:
    """Shows the pending permission requests, forms, and requests to open a web page, one at a time."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        runner: ConversationRunner,
        questions: PendingQuestions,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._questions = questions
        self._context = screen.context
        self.strip = QuestionStrip()
        """The line that reminds the user of the first pending question while they write a prompt."""
        self._writing = False  # the user left the dialog to write a prompt
        self._dialog: PermissionScreen | SchemaFormDialog | GuardedQuestionScreen | None = None
        self._permission: PermissionScreen | None = None  # the dialog, if it asks for a permission
        self._asked: Pending | None = None  # what the dialog shows
        self._withdrawn_at = -math.inf  # when a question disappeared that the user had not answered

    def update(self) -> None:
        """Show the first pending question, or close a dialog whose question is no longer pending.

        While the user writes a prompt, a permission question is shown in `strip`. Does nothing while another
        tab is in front: Textual closes only screens of the current mode.
        """
        if not self._screen.is_in_front:
            return
        first = self._questions.shown
        self._writing = self._writing and isinstance(first, PendingQuestion)
        if self._writing:
            self._show_strip()
        else:
            self.strip.hide()
        if self._dialog is None:
            if first is not None and not self._writing:
                self._open(first)
        elif first is self._asked:
            self._dialog.show_position(self._questions.position)
        elif self._dialog in self._screen.app.screen_stack:
            while self._screen.app.screen is not self._dialog:
                self._screen.app.pop_screen()
            self._dialog.dismiss(None)

    def _open(self, pending: Pending) -> None:
        self._asked = pending
        if isinstance(pending, PendingForm):
            self._open_form(pending)
        elif isinstance(pending, PendingPage):
            self._ask_about_page(pending)
        else:
            self._open_permission(pending)

    @property
    def _replaces_another(self) -> bool:
        """Whether a question has just been withdrawn that the user may have been about to answer."""
        return time.monotonic() - self._withdrawn_at < REPLACEMENT_SECONDS

    def _question_withdrawn(self) -> None:
        self._withdrawn_at = time.monotonic()
        self.update()

    def _open_permission(self, pending: PendingQuestion) -> None:
        from acp_tui.ui.permission.dialog import PermissionScreen

        self._dialog = self._permission = PermissionScreen(
            pending.question,
            agent=shorten(self._prompt.agent_title, MAX_AGENT_WIDTH),
            position=self._questions.position,
            session=self._context.session,
            cwd=self._context.cwd,
            replaces_another=self._replaces_another,
        )
        self._screen.open_dialog(self._permission, lambda answer: self._closed(pending, answer))

    def _open_form(self, pending: PendingForm) -> None:
        from acp_tui.mcp.schema_validation import SchemaValidator
        from acp_tui.ui.schema_form.dialog import SchemaFormDialog

        form, asked = pending.form, pending.elicitation
        asker, purpose = self._prompt.agent_title, ""
        if form.server:
            asker = f'MCP server "{escape_invisible_line(form.server)}"'
        elif asked is not None:
            asker = asker_of(asker, asked, self._context.session)
            purpose = purpose_of(asked, self._context.session)
        self._dialog = dialog = SchemaFormDialog(
            "Question",
            form.schema,
            asked_by=asker,
            purpose=purpose,
            position=self._questions.position,
            message=form.message,
            validate=SchemaValidator(form.schema).faults,
            allow_decline=True,
            interrupts=True,
        )
        self._screen.open_dialog(dialog, lambda answer: self._form_closed(pending, answer))

    def _ask_about_page(self, pending: PendingPage) -> None:
        from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen, page_question

        page = pending.page
        asker = asker_of(self._prompt.agent_title, page, self._context.session)
        purpose = purpose_of(page, self._context.session)
        question = page_question(
            asker, page.message, page.url or "", purpose=purpose, position=self._questions.position
        )
        self._dialog = dialog = GuardedQuestionScreen(question, replaces_another=self._replaces_another)
        self._screen.open_dialog(dialog, lambda index: self._page_closed(pending, question, index))

    def _show_strip(self) -> None:
        first = self._questions.shown
        if not isinstance(first, PendingQuestion):
            return
        number, count = self._questions.position
        agent = shorten(self._prompt.agent_title, MAX_AGENT_WIDTH)
        what = shorten(" ".join(first.question.subject.description.split()), MAX_SUBJECT_WIDTH)
        self.strip.show_question(
            escape_invisible_line(f"{agent} asks: {what}"),
            keys.bound_keys(self._screen, "conversation.tab"),
            f"{number} of {count}" if count > 1 else "",
        )

    def resume(self) -> bool:
        """Show the first pending question if the user left a question to write a prompt.

        Return False if the user did not leave a question.
        """
        waits, self._writing = self._writing, False
        if waits:
            self.update()
        return waits

    def _form_closed(self, pending: PendingForm, answer: FormAnswer | None) -> None:
        from acp_tui.schema_form.values import FormAnswer

        self._dialog = self._asked = None
        if pending.answer.done():  # the form was withdrawn
            self._question_withdrawn()
        else:
            self._questions.answer_form(pending, answer or FormAnswer("cancel"))

    def _page_closed(self, pending: PendingPage, question: PageQuestion, index: int | None) -> None:
        from acp_tui.ui.dialogs.guarded_question import answer_page_question

        self._dialog = self._asked = None
        if pending.answer.done():  # the question was withdrawn, or the agent says that it is answered
            self._question_withdrawn()
        else:
            self._questions.answer_form(pending, answer_page_question(self._screen, question, index))

    def _closed(self, pending: PendingQuestion, answer: PermissionAnswer | Later | None) -> None:
        from acp_tui.controller import Answer
        from acp_tui.ui.permission.dialog import Later

        self._dialog = self._permission = self._asked = None
        if pending.answer.done():  # the question was withdrawn
            self._question_withdrawn()
        elif isinstance(answer, Later):
            self._writing = True
            self._screen.type_text("")  # focuses the prompt
            self.update()
        elif answer is None:
            self._questions.answer(pending, Answer(None))
            self._runner.stop_turn()
        else:
            self._questions.answer(pending, Answer(answer.option, answer.rules, answer.reason))
            # For a call of an MCP tool, the agent gets the reason as the result.
            if answer.reason and pending.question.kind not in ("tool", "mcp"):
                what = shorten(escape_line(pending.question.subject.description), MAX_SUBJECT_WIDTH)
                self._runner.prompts.submit_first(f"I rejected your request ({what}): {answer.reason}")

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Pass changes to the permission dialog, and note which questions the agent reports as answered."""
        if self._permission is not None:
            self._permission.follow(changes)
        for change in changes:
            if isinstance(change.entry, Elicitation):
                self._questions.accept_completed(change.entry)

    async def ask_before_start(self, question: GuardedQuestion[StartAnswer]) -> StartAnswer:
        """Ask the user a question before the agent starts, and return the answer."""
        from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen

        answer = await self._ask(GuardedQuestionScreen(question))
        return question.answers[answer or 0]

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a question whose answers have the labels `yes` and `no`. Return True for yes."""
        from acp_tui.ui.dialogs.confirm import ConfirmScreen

        answer = await self._ask(ConfirmScreen(question, yes=yes, no=no))
        return bool(answer)

    async def _ask(self, dialog: Screen[Answered]) -> Answered | None:
        """Open a dialog and return its result. Needs no worker, unlike `BaseScreen.ask`."""
        answer: asyncio.Future[Answered | None] = asyncio.get_running_loop().create_future()

        def on_close(result: Answered | None) -> None:
            if not answer.done():
                answer.set_result(result)

        self._screen.open_dialog(dialog, on_close)
        return await answer


def asker_of(agent: str, question: Elicitation, session: Session) -> str:
    """Return the agent's name. If a subagent or another session asks, add its name in parentheses."""
    agent = shorten(agent, MAX_AGENT_WIDTH)
    if (subagent := asking_subagent(question, session)) is not None:
        return f"{agent} (subagent: {shorten(escape_line(subagent.name), MAX_SESSION_WIDTH)})"
    if question.session_id:
        return f"{agent} (session {shorten(escape_line(question.session_id), MAX_SESSION_WIDTH)})"
    return agent


def purpose_of(question: Elicitation, session: Session) -> str:
    """Return what the question belongs to, such as a tool call.

    The result is empty if the agent does not name anything, or if the call's title is the question itself.
    """
    if question.call_id is not None:
        subagent = asking_subagent(question, session)
        calls = subagent.session.tool_calls if subagent is not None else session.tool_calls
        call = calls.get(question.call_id)
        title = call.title if call is not None and call.title else question.call_id
        words = " ".join(escape_line(title).split())
        if words == " ".join(escape_line(question.message).split()):
            return ""
        return f"tool call: {shorten(words, MAX_CALL_WIDTH)}"
    if question.for_method == "authenticate":
        return "signing in"
    return f"the request {escape_line(question.for_method)}" if question.for_method else ""
