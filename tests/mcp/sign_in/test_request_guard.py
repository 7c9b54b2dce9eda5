"""The limits of a sign-in, with servers that name other services, long answers, or no PKCE."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import ANY

import httpx2
import pytest

from acp_tui.config.mcp import SignInSettings
from acp_tui.mcp.sign_in.actions import sign_in
from acp_tui.mcp.sign_in.interaction import SignInCancelled, SignInError
from acp_tui.mcp.sign_in.request_guard import RequestGuard
from acp_tui.mcp.sign_in.token_store import sign_in_state
from tests.mcp.sign_in.test_provider import PROGRAM, expire, guarded, run_echo
from tests.mcp.sign_in.users import BrowserUser

if TYPE_CHECKING:
    from tests.support.mcp_servers import HttpServers

KEYS = ["resource_metadata", "authorization_servers", "registration_endpoint", "token_endpoint"]


@pytest.mark.parametrize("key", KEYS)
async def test_another_service_on_this_machine_is_not_reached_without_consent(
    http_servers: HttpServers, key: str
) -> None:
    visits: list[object] = []
    other = await asyncio.start_server(lambda *streams: visits.append(streams), "127.0.0.1", 0)
    user = BrowserUser()
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(SignInCancelled, match="another service on this machine, which you did not allow"):
            await sign_in(guarded(http_servers, f"{key}@127.0.0.1:{port}"), user.interaction())
    assert not visits
    assert user.addresses == [
        f"guarded asks acp-tui to sign in at http://127.0.0.1:{port}, another service on this machine."
    ]


async def test_an_address_is_asked_about_once_and_the_answer_is_kept_for_renewals(
    http_servers: HttpServers,
) -> None:
    options, user = f"token_endpoint@localhost:{http_servers.port}", BrowserUser(allows_addresses=True)
    server = guarded(http_servers, options)
    assert await sign_in(server, user.interaction()) is not None
    await expire(http_servers, options)
    assert await run_echo(server) == {"result": "hello"}
    assert len(user.addresses) == 1


async def test_the_configured_issuer_may_be_on_this_machine(http_servers: HttpServers) -> None:
    options = f"token_endpoint@localhost:{http_servers.port},program"
    with pytest.raises(
        SignInError, match=r'another service on this machine\. .* set sign_in\.issuer = "http'
    ):
        await run_echo(guarded(http_servers, options, PROGRAM))


async def test_issuer_without_a_client_id_allows_its_address(http_servers: HttpServers) -> None:
    settings = SignInSettings(issuer=f"http://localhost:{http_servers.port}")
    server, user = (
        guarded(http_servers, f"token_endpoint@localhost:{http_servers.port}", settings),
        BrowserUser(),
    )
    assert await sign_in(server, user.interaction()) is not None
    assert not user.addresses


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.1.2.3:8000/", "on this machine"),
        ("http://[::1]:8000/", "on this machine"),
        ("http://[::ffff:127.0.0.1]/", "on this machine"),
        ("http://0.0.0.0/", "on this machine"),
        ("http://localhost./", "on this machine"),
        ("http://10.0.0.7/", "in a private network"),
        ("http://169.254.169.254/latest", "in a private network"),
        ("http://[fd00::1]/", "in a private network"),
        ("https://8.8.8.8/", None),
        ("https://server.example:8443/elsewhere", None),
        ("https://no-such-host.invalid/", None),
    ],
)
async def test_private_addresses_are_recognised(url: str, place: str | None) -> None:
    asked: list[tuple[str, str]] = []

    async def ask(origin: str, where: str) -> None:
        asked.append((origin, where))

    guard = RequestGuard("https://server.example:8443/mcp", [""], ask)
    await guard.check(httpx2.URL(url))
    await guard.check(httpx2.URL(url))
    assert asked == ([(ANY, place)] if place else [])


@pytest.mark.parametrize("options", ["no-pkce", "plain-pkce"])
async def test_sign_in_without_pkce_is_refused_unless_a_setting_allows_it(
    http_servers: HttpServers, options: str
) -> None:
    server, user = guarded(http_servers, options), BrowserUser()
    with pytest.raises(SignInError, match=r"does not announce PKCE with S256.*allow_missing_pkce = true\.$"):
        await sign_in(server, user.interaction())
    assert not user.visits
    old = replace(server, sign_in=SignInSettings(allow_missing_pkce=True))
    assert await sign_in(old, user.interaction()) is not None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("long-answer", r"^The sign-in was stopped: an answer of 127\.0\.0\.1 is longer than 1 MB\.$"),
        ("long-token", r"sent a token of more than 64 kB; it was not stored\.$"),
        ("dead-token", r"^guarded refused the token from the new sign-in; it was deleted\.$"),
    ],
)
async def test_what_a_sign_in_returns_is_limited(
    http_servers: HttpServers, options: str, sentence: str
) -> None:
    server = guarded(http_servers, options)
    with pytest.raises(SignInError, match=sentence):
        await sign_in(server, BrowserUser().interaction())
    assert sign_in_state(server.url) is None
