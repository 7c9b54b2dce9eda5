"""The part of a sign-in that happens in the browser: opening the sign-in page and receiving the code."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from acp_tui.console.browser import has_browser, open_page
from acp_tui.mcp.sign_in.authorization_url import check_authorization_url
from acp_tui.mcp.sign_in.callback_server import CallbackServer
from acp_tui.mcp.sign_in.errors import SignInCancelled, SignInError
from acp_tui.mcp.sign_in.redirect_answer import answer_of_pasted_text

if TYPE_CHECKING:
    from acp_tui.mcp.sign_in.authorization_url import AuthorizationUrl
    from acp_tui.mcp.sign_in.interaction import SignInInteraction
    from acp_tui.mcp.sign_in.redirect_answer import RedirectAnswer

WAIT_SECONDS = 600.0
"""How long to wait for the user in the browser. Login pages and codes have usually expired by then."""


class BrowserRoundTrip:
    """One attempt to sign in: shows the sign-in page's address and waits for the redirect or a pasted answer.

    Args:
        server: The name of the MCP server.
        interaction: Shows the address and reads pasted answers.
        port: Where to receive the redirect; 0 for any free port. Raises `OSError` if the port is in use.
    """

    def __init__(self, server: str, interaction: SignInInteraction, port: int) -> None:
        self._server = server
        self._interaction = interaction
        self._state = ""
        self._answer: asyncio.Future[RedirectAnswer] = asyncio.get_running_loop().create_future()
        self._listener = CallbackServer(self._accept)
        try:
            self._listener.bind(port)
        except OSError:
            self._listener.close()
            raise

    @property
    def redirect_uri(self) -> str:
        """The address to which the browser is redirected."""
        return self._listener.redirect_uri

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    async def answer(self, url: str, *, issuer_required: bool) -> RedirectAnswer:
        """Show the sign-in page's address and return the answer: a code and the state.

        If there is a browser, offer to open the address.

        If `issuer_required` is true, a pasted answer must be the whole address of the redirect, which also
        names the authorization server: a pasted code is not enough. Raises `SignInError`.
        """
        try:
            checked = check_authorization_url(self._server, url)
        except ValueError as error:
            raise SignInError(
                f"{self._server} asks you to sign in at an address that acp-tui does not open: {error}."
            ) from None
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        async with self._listener:
            await self._interaction.show(checked)
            answer = await self._first_answer(checked, issuer_required)
        if answer.error == "access_denied":
            raise SignInCancelled(f"The sign-in for {self._server} was denied in the browser.")
        if answer.error:
            words = f": {answer.error_text.rstrip('.')}" if answer.error_text else ""
            raise SignInError(f"{checked.host} refused the sign-in ({answer.error}{words}).")
        return answer

    async def _offer_to_open(self, url: AuthorizationUrl) -> None:
        if not has_browser() or not await self._interaction.confirm_open(url):
            return
        if not open_page(url.url):
            self._interaction.report("Could not start the browser. Open the address yourself.")

    async def _first_answer(self, url: AuthorizationUrl, issuer_required: bool) -> RedirectAnswer:
        """Return the answer from the browser's redirect or from a pasted text, whichever comes first."""
        pasted = asyncio.create_task(self._pasted_answer(url, issuer_required))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await asyncio.wait({self._answer, pasted}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            minutes = round(WAIT_SECONDS / 60)
            raise SignInError(
                f"No answer came from the browser within {minutes} minutes; sign in again."
            ) from None
        finally:
            if not pasted.done():
                pasted.cancel()
                with suppress(asyncio.CancelledError):
                    await pasted
        return self._answer.result() if self._answer.done() else pasted.result()

    async def _pasted_answer(self, url: AuthorizationUrl, issuer_required: bool) -> RedirectAnswer:
        """Return the first pasted answer that belongs to this sign-in.

        Before that, offer to open the sign-in page if there is a browser.

        If pasted answers cannot be read, return the browser's answer.
        """
        await self._offer_to_open(url)
        if self._interaction.read_answer is None:
            return await asyncio.shield(self._answer)
        while True:
            try:
                return self._checked(await self._interaction.read_answer(), issuer_required)
            except ValueError as problem:
                self._interaction.report(str(problem))

    def _checked(self, text: str, issuer_required: bool) -> RedirectAnswer:
        """Return the answer in a pasted text. Raises `ValueError` with a sentence if the text is unusable."""
        answer = answer_of_pasted_text(text)
        if answer is None:
            raise ValueError(
                "This is neither a code nor the address of the page after the sign-in. Try again."
            )
        if answer.state is None:  # only the code; PKCE ensures that it belongs to this sign-in
            if issuer_required:
                raise ValueError("The code alone is not enough for this server. Paste the whole address.")
            return replace(answer, state=self._state)
        if not self._belongs(answer):
            raise ValueError(
                "This address belongs to another sign-in. Paste the address of the page after this sign-in."
            )
        return answer

    def _accept(self, answer: RedirectAnswer) -> str:
        """Take the browser's answer, and return the sentence that the browser shows."""
        if not self._belongs(answer):
            self._interaction.report("The browser's answer belongs to another sign-in and was ignored.")
            raise ValueError("This answer belongs to another sign-in and was ignored.")
        if not self._answer.done():
            self._answer.set_result(answer)
        if answer.error:
            return "The sign-in was refused. You can close this page and return to the terminal."
        return "acp-tui has received the sign-in. You can close this page and return to the terminal."

    def _belongs(self, answer: RedirectAnswer) -> bool:
        return secrets.compare_digest((answer.state or "").encode(), self._state.encode())
