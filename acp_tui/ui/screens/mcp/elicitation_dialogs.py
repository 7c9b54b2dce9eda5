"""The dialogs for elicitation: questions that an MCP server asks the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.safe_text import escape_invisible_line

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.mcp.callbacks import ElicitationRequest
    from acp_tui.ui.dialogs.dialog import Dialog

MAX_LINE = 300

Answer = TypeVar("Answer")


class ElicitationDialogs:
    """The dialogs for the questions of MCP servers, opened above one screen."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._mode: str | None = None  # the Textual mode of the screen, once it is known

    async def ask(self, request: ElicitationRequest) -> FormAnswer:
        """Return the user's answer to a server's question.

        Return "cancel" if the screen is already closed, and "decline" if the page must not be opened.
        """
        if not self._screen.is_attached:
            return FormAnswer("cancel")
        return await (self._ask_url(request) if request.mode == "url" else self._ask_form(request))

    async def _ask_form(self, request: ElicitationRequest) -> FormAnswer:
        from acp_tui.mcp.schema_validation import SchemaValidator
        from acp_tui.ui.schema_form.dialog import SchemaFormDialog

        dialog = SchemaFormDialog(
            "Answer the server",
            request.schema,
            asked_by=server_title(request.server),
            message=request.message,
            validate=SchemaValidator(request.schema).faults,
            allow_decline=True,
            interrupts=True,
        )
        return await self._open(dialog) or FormAnswer("cancel")

    async def _ask_url(self, request: ElicitationRequest) -> FormAnswer:
        """Ask whether to open the web page on which the user answers the server."""
        from acp_tui.ui.dialogs.guarded_question import (
            GuardedQuestionScreen,
            answer_page_question,
            page_question,
        )
        from acp_tui.web_browser import check_web_address

        asker = server_title(request.server)
        try:
            check_web_address(request.url)
        except ValueError as error:
            address = escape_invisible_line(request.url[:MAX_LINE])
            self._screen.notify(f"{asker} asked to open {address}. acp-tui declined: {error}.")
            return FormAnswer("decline")
        question = page_question(asker, request.message, request.url)
        index = await self._open(GuardedQuestionScreen(question))
        return answer_page_question(self._screen, question, index)

    def use_mode(self, mode: str) -> None:
        """Open the dialogs in this Textual mode, that is, in the tab of the screen."""
        self._mode = mode

    async def _open(self, dialog: Dialog[Answer]) -> Answer | None:
        """Open a dialog in the tab of the screen and return its result. Close it if the server ends."""
        app = self._screen.app
        if self._screen not in app.screen_stack:
            app.notify("An MCP server asks a question in another tab.", markup=False)
        return await dialog.wait_for_result(app, mode=self._mode)


def server_title(name: str) -> str:
    """Return a server's name as shown in dialogs."""
    return f'MCP server "{escape_invisible_line(name)}"'
