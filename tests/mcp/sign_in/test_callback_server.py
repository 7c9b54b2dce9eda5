"""The web server that receives the browser's redirect."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2
import pytest

from acp_tui.mcp.sign_in.browser_round_trip import CallbackServer

if TYPE_CHECKING:
    from acp_tui.mcp.sign_in.browser_round_trip import RedirectAnswer


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/callback?code=abc&state=s", 200),
        ("GET", "/callback?error=access_denied&state=s", 200),
        ("GET", "/callback", 400),
        ("GET", "/callback?code=abc&state=foreign", 400),
        ("POST", "/callback?code=abc&state=s", 405),
        ("GET", "/", 404),
        ("GET", "/callback/more?code=abc&state=s", 404),
    ],
)
async def test_only_a_redirect_of_this_sign_in_is_accepted(method: str, path: str, status: int) -> None:
    accepted: list[RedirectAnswer] = []

    def accept(answer: RedirectAnswer) -> str:
        if answer.state != "s":
            raise ValueError("This belongs to another sign-in.")
        accepted.append(answer)
        return "Close this page."

    listener = CallbackServer(accept)
    listener.bind()
    async with listener, httpx2.AsyncClient() as browser:
        response = await browser.request(method, listener.redirect_uri.replace("/callback", path))
    assert response.status_code == status
    assert (len(accepted) == 1) is (status == 200)
    assert response.headers["referrer-policy"] == "no-referrer"


async def test_port_is_closed_afterwards() -> None:
    listener = CallbackServer(lambda _: "")
    listener.bind()
    port = httpx2.URL(listener.redirect_uri).port
    async with listener:
        _, waiting = await asyncio.open_connection("127.0.0.1", port)  # browsers connect without asking
    listener.close()
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", port)
    waiting.close()
