"""The user of a sign-in in tests, with a browser that follows the address at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from acp_tui.mcp.sign_in.interaction import SignInInteraction

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.mcp.sign_in.interaction import AuthorizationUrl


async def redirect_of(url: str) -> str:
    """Return the address to which the authorization server redirects the browser."""
    async with httpx2.AsyncClient() as browser:
        return str((await browser.get(url)).headers["location"])


class BrowserUser:
    """Signs in in the browser, which comes back to acp-tui by itself."""

    def __init__(self, *, allows_addresses: bool = False) -> None:
        self.visits: list[str] = []
        self.addresses: list[str] = []
        self._allows_addresses = allows_addresses
        self.pages: list[httpx2.Response] = []
        self.reports: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def interaction(self) -> SignInInteraction:
        """Return the callables for acp-tui."""
        return SignInInteraction(
            self.show, self.confirm_open, None, self.confirm_address, self.reports.append
        )

    async def show(self, url: AuthorizationUrl) -> None:
        """Open the address in the browser."""
        self.visits.append(url.url)
        task = asyncio.create_task(self._follow(url.url))
        self._tasks.add(task)

    async def confirm_open(self, _url: AuthorizationUrl) -> bool:
        """Refuse: the user has opened the address already."""
        return False

    async def confirm_address(self, sentence: str) -> bool:
        """Answer whether acp-tui may send requests to another service."""
        self.addresses.append(sentence)
        return self._allows_addresses

    async def _follow(self, url: str) -> None:
        async with httpx2.AsyncClient() as browser:
            self.pages.append(await browser.get(await redirect_of(url)))


class PastingUser(BrowserUser):
    """Signs in in a browser on another machine, and pastes texts made from its last address."""

    def __init__(self, *texts: Callable[[str], str]) -> None:
        super().__init__()
        self._texts = list(texts)
        self._address = ""

    def interaction(self) -> SignInInteraction:
        """Return the callables for acp-tui."""
        return SignInInteraction(
            self.show, self.confirm_open, self.paste, self.confirm_address, self.reports.append
        )

    async def show(self, url: AuthorizationUrl) -> None:
        """Open the address in the browser, which cannot open the address at which it ends."""
        self._address = await redirect_of(url.url)

    async def paste(self) -> str:
        """Return the next text."""
        return self._texts.pop(0)(self._address)


def code_of(address: str) -> str:
    """Return the code in the address at which the browser ended."""
    query = urlsplit(address).query
    return next(part.removeprefix("code=") for part in query.split("&") if part.startswith("code="))
