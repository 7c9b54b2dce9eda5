"""The part of a sign-in that happens in the browser: opening the sign-in page and receiving the code."""

from __future__ import annotations

import asyncio
import re
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import parse_qs, urlsplit

from acp_tui.mcp.sign_in.interaction import (
    AuthorizationUrl,
    SignInCancelled,
    SignInError,
    SignInInteraction,
    check_authorization_url,
)
from acp_tui.session.safe_text import escape_line
from acp_tui.store.secret_patterns import redact_text
from acp_tui.web_browser import has_browser, open_page

WAIT_SECONDS = 600.0
"""How long to wait for the user in the browser. Login pages and codes have usually expired by then."""
PAGE_SECONDS = 2.0
"""How long to wait for the browser to receive the page with the result."""
_MAX_REQUEST_BYTES = 32_768
_REQUEST_SECONDS = 10.0
PATH = "/callback"
_CODE = re.compile(r"[\x21-\x7e]{4,}")
_MAX_ERROR_CHARACTERS = 300
_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>acp-tui</title>
<body style="font-family: sans-serif; margin: 3em"><p>{sentence}</p></body></html>
"""
_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n"
)


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


class CallbackServer:
    """A web server for `GET /callback` on a port of 127.0.0.1. Other requests get an error.

    Args:
        accept: Called with each answer. Returns the sentence for the page in the browser. Raises `ValueError`
            with such a sentence if the answer does not belong to this sign-in.
    """

    def __init__(self, accept: Callable[[RedirectAnswer], str]) -> None:
        self._accept = accept
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._server: asyncio.Server | None = None
        self._idle: set[asyncio.Task[None]] = set()  # connections that have not sent a request
        self._answering: set[asyncio.Task[None]] = set()

    def bind(self, port: int = 0) -> None:
        """Bind a port. With 0, bind any free port. Raises `OSError`."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))

    @property
    def redirect_uri(self) -> str:
        """The address to which the authorization server redirects the browser."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}{PATH}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, sock=self._socket, limit=_MAX_REQUEST_BYTES)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._idle:
            task.cancel()
        if open_connections := self._idle | self._answering:  # let the browser receive its page
            await asyncio.wait(open_connections, timeout=PAGE_SECONDS)

    def close(self) -> None:
        """Release the port."""
        if self._server is not None:
            self._server.close()
        self._socket.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._idle.add(task)
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            self._idle.discard(task)
            self._answering.add(task)
            await self._answer(head.partition(b"\r\n")[0].decode("ascii", "replace"), writer)
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the browser has not sent a complete request, or has closed the connection
        finally:
            self._idle.discard(task)
            self._answering.discard(task)
            writer.close()

    async def _answer(self, request_line: str, writer: asyncio.StreamWriter) -> None:
        status, sentence = self._respond(request_line)
        body = _PAGE.format(sentence=sentence).encode()
        writer.write(f"HTTP/1.1 {status}\r\n{_HEADERS}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    def _respond(self, request_line: str) -> tuple[str, str]:
        """Return the HTTP status for a request, and the sentence to show on the page."""
        method, _, rest = request_line.partition(" ")
        target = rest.partition(" ")[0]
        if target.partition("?")[0] != PATH:
            return "404 Not Found", "There is nothing here."
        if method != "GET":
            return "405 Method Not Allowed", "Only GET is answered here."
        answer = answer_of_url(target)
        if answer is None:
            return "400 Bad Request", "This address contains neither a code nor an error."
        try:
            return "200 OK", self._accept(answer)
        except ValueError as error:
            return "400 Bad Request", str(error)


@dataclass(frozen=True, slots=True)
class RedirectAnswer:
    """The parameters of the redirect."""

    code: str = field(default="", repr=False)
    state: str | None = field(default=None, repr=False)  # None: only the code was pasted
    issuer: str | None = None
    error: str = ""  # such as "access_denied"
    error_text: str = ""  # the server's description of the error, safe to display


def answer_of_url(url: str) -> RedirectAnswer | None:
    """Return the answer in an address; None if the address is invalid or has neither a code nor an error."""
    try:
        query = parse_qs(urlsplit(url).query)
    except ValueError:
        return None
    values = {name: given[0] for name, given in query.items()}
    if "code" not in values and "error" not in values:
        return None
    return RedirectAnswer(
        code=values.get("code", ""),
        state=values.get("state", ""),
        issuer=values.get("iss"),
        error=shown_error(values.get("error", "")),
        error_text=shown_error(values.get("error_description", "")),
    )


def answer_of_pasted_text(text: str) -> RedirectAnswer | None:
    """Return the answer in a pasted address or code; None if the text contains no answer."""
    text = text.strip().strip("'\"<>")
    if "://" in text or text.startswith("/"):
        return answer_of_url(text)
    return RedirectAnswer(code=text) if _CODE.fullmatch(text) else None


def shown_error(text: str) -> str:
    """Return a server's description of an error, made safe to display and to log."""
    return redact_text(escape_line(text[:_MAX_ERROR_CHARACTERS]))
