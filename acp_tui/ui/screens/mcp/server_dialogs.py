"""The dialogs in which an MCP server asks the user something, or the user signs in to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.segment import Segment
from textual.containers import VerticalScroll
from textual.widgets import Static

from acp_tui.schema_form.values import FormAnswer
from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.ui import keys
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.dialog import BoxDialog, Dialog
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.screen import Screen

    from acp_tui.mcp.callbacks import ElicitationRequest
    from acp_tui.mcp.sign_in.interaction import AuthorizationUrl, SignInInteraction
    from acp_tui.ui.widgets.bar import Hint


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


HELP = (
    "Open this address in a browser and sign in. If the browser does not run on this computer, the page after"
    " the sign-in will not load: copy its address (or the code in the address) from the browser and paste it"
    " below."
)


class SignInScreen(BoxDialog[None]):
    """Shows the full address of the sign-in page, and an input for an address or a code to paste."""

    CSS = """
    SignInScreen Static { height: auto; margin-bottom: 1; }
    SignInScreen VerticalScroll {
        height: auto; max-height: 7; margin-bottom: 1; scrollbar-size-vertical: 1;
    }
    SignInScreen #address { margin: 0; }
    SignInScreen #warnings { color: $warning; }
    SignInScreen InputLine { margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("signin")
    AUTO_FOCUS = "InputLine"

    def __init__(self, address: AuthorizationUrl) -> None:
        super().__init__()
        self._address = address
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """What the user pastes; cancelled if the user cancels."""

    def content(self) -> ComposeResult:
        address = self._address
        yield Static(HELP, markup=False)
        with VerticalScroll():
            yield Static(address.url, markup=False, id="address")
        if address.warnings:
            warnings = "\n".join(f"Warning: {warning}" for warning in address.warnings)
            yield Static(warnings, markup=False, id="warnings")
        yield InputLine(placeholder="paste the address or the code")
        yield Static("", markup=False, id="report")

    def hints(self) -> list[Hint]:
        return [(keys.bound_keys(self, f"signin.{name}"), name) for name in ("send", "copy", "cancel")]

    def head(self) -> tuple[Spans, Spans]:
        """Return two parts of the title: the left names the server, the right names the page's host."""
        title, strong = f"Sign in to {self._address.server}", current_palette().strong
        return [Segment(title, strong)], [Segment(f" {self._address.host}", strong)]

    def report(self, sentence: str) -> None:
        """Show a sentence below the input."""
        if self.is_attached:
            self.query_one("#report", Static).update(sentence)

    async def read(self) -> str:
        """Return what the user pastes next. Raises `CancelledError` if the user cancels."""
        if self.answer.done() and not self.answer.cancelled():
            self.answer = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self.answer)

    def action_send(self) -> None:
        """Send the pasted address or code to the sign-in."""
        line = self.query_one(InputLine)
        if line.value.strip() and not self.answer.done():
            self.answer.set_result(line.value.strip())
            line.value = ""

    def action_copy(self) -> None:
        """Copy the address."""
        self.app.copy_to_clipboard(self._address.url)

    def action_close(self) -> None:
        """Cancel the sign-in."""
        self.answer.cancel()
        self.dismiss(None)


class McpSignInDialogs:
    """The dialogs of a sign-in: a question whether to open the browser, and a screen with the address."""

    def __init__(self, below: Screen[None]) -> None:
        """The dialogs open on top of the screen `below`."""
        self._below = below
        self._screen: SignInScreen | None = None

    def interaction(self) -> SignInInteraction:
        """Return the callbacks with which a sign-in talks to the user."""
        from acp_tui.mcp.sign_in.interaction import SignInInteraction

        return SignInInteraction(
            self._show, self._confirm_open, self._read_answer, self._confirm_address, self._report
        )

    def close(self) -> None:
        """Close the dialog that shows the address, if it is open. Called when the sign-in has ended."""
        if self._screen is not None:
            self._screen.close_if_open()
        self._screen = None

    async def _show(self, address: AuthorizationUrl) -> None:
        self._screen = SignInScreen(address)
        await self._below.app.push_screen(self._screen)

    async def _confirm_open(self, address: AuthorizationUrl) -> bool:
        question = f"Open {address.host} in your browser to sign in to {address.server}?"
        dialog = ConfirmScreen(question, yes="Open the browser", no="Not on this computer")
        # If the browser's redirect arrives first, the wait is cancelled, and the dialog closes.
        return bool(await dialog.wait_for_result(self._below.app))

    async def _confirm_address(self, sentence: str) -> bool:
        question = f"{sentence} Send requests there?"
        dialog = ConfirmScreen(question, yes="Allow this address", no="Stop signing in")
        return bool(await dialog.wait_for_result(self._below.app))

    async def _read_answer(self) -> str:
        from acp_tui.mcp.sign_in.interaction import SignInCancelled

        assert self._screen is not None
        try:
            return await self._screen.read()
        except asyncio.CancelledError:
            if self._screen.answer.cancelled():
                raise SignInCancelled("You cancelled the sign-in.") from None
            raise

    def _report(self, sentence: str) -> None:
        if self._screen is not None:
            self._screen.report(sentence)
