"""The dialogs in which the user signs in to an MCP server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from acp_tui.ui import keys
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.screens.mcp.elicitation_dialogs import close_if_open
from acp_tui.ui.widgets.bar import Bar, KeyHints
from acp_tui.ui.widgets.input_line import InputLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.screen import Screen

    from acp_tui.mcp.sign_in.interaction import AuthorizationUrl, SignInInteraction
    from acp_tui.ui.theme.palette import Palette, Spans

HELP = (
    "Open this address in a browser and sign in. If the browser does not run on this computer, the page after"
    " the sign-in will not load: copy its address (or the code in the address) from the browser and paste it"
    " below."
)


class SignInScreen(Dialog[None]):
    """Shows the full address of the sign-in page, and an input for an address or a code to paste."""

    CSS = """
    SignInScreen { align: center middle; background: transparent; }
    SignInScreen #dialog {
        width: 92; max-width: 100%; height: auto; padding: 0 1;
        background: $surface; border: round $primary;
    }
    SignInScreen Static { height: auto; margin-bottom: 1; }
    SignInScreen VerticalScroll { height: auto; max-height: 7; margin-bottom: 1; }
    SignInScreen VerticalScroll { scrollbar-size-vertical: 1; }
    SignInScreen #address { margin: 0; }
    SignInScreen #warnings { color: $warning; }
    SignInScreen Input { height: 1; border: none; padding: 0; background: $panel; margin-bottom: 1; }
    """
    BINDINGS: ClassVar = keys.bindings("signin")
    AUTO_FOCUS = "InputLine"

    def __init__(self, address: AuthorizationUrl, palette: Palette) -> None:
        super().__init__()
        self._address = address
        self._palette = palette
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """What the user pastes; cancelled if the user cancels."""

    def compose(self) -> ComposeResult:
        address, palette = self._address, self._palette
        with Vertical(id="dialog"):
            yield Bar(*self._head(), id="head")
            yield Static(HELP, markup=False)
            with VerticalScroll():
                yield Static(address.url, markup=False, id="address")
            if address.warnings:
                warnings = "\n".join(f"Warning: {warning}" for warning in address.warnings)
                yield Static(warnings, markup=False, id="warnings")
            yield InputLine(placeholder="paste the address or the code")
            yield Static("", markup=False, id="report")
            hints = [(keys.bound_keys(self, f"signin.{name}"), name) for name in ("send", "copy", "cancel")]
            yield KeyHints(hints, palette, id="keys")

    def _head(self) -> tuple[Spans, Spans]:
        """Return two parts of the title: the left names the server, the right names the page's host."""
        title, strong = f"Sign in to {self._address.server}", self._palette.strong
        return [Segment(title, strong)], [Segment(f" {self._address.host}", strong)]

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self._palette = palette
        self.query_one("#head", Bar).show(*self._head())
        self.query_one("#keys", KeyHints).use_palette(palette)

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

    def __init__(self, below: Screen[None], palette: Palette) -> None:
        """The dialogs open on top of the screen `below`."""
        self._below = below
        self._palette = palette
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
            close_if_open(self._screen)
        self._screen = None

    async def _show(self, address: AuthorizationUrl) -> None:
        self._screen = SignInScreen(address, self._palette)
        await self._below.app.push_screen(self._screen)

    async def _confirm_open(self, address: AuthorizationUrl) -> bool:
        question = f"Open {address.host} in your browser to sign in to {address.server}?"
        return await self._confirm(
            ConfirmScreen(question, self._palette, yes="Open the browser", no="Not on this computer")
        )

    async def _confirm_address(self, sentence: str) -> bool:
        question = f"{sentence} Send requests there?"
        return await self._confirm(
            ConfirmScreen(question, self._palette, yes="Allow this address", no="Stop signing in")
        )

    async def _confirm(self, dialog: ConfirmScreen) -> bool:
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def set_answer(result: bool | None) -> None:
            if not answer.done():
                answer.set_result(bool(result))

        self._below.app.push_screen(dialog, set_answer)
        try:
            return await answer
        finally:  # the wait is cancelled if the browser's redirect arrives first
            close_if_open(dialog)

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
