"""Signing in at real servers: with the browser, by pasting, by renewing, and with client credentials."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp.client import session

from acp_tui.config.mcp import ResolvedServer, SignInSettings
from acp_tui.mcp.connection import connect
from acp_tui.mcp.sign_in.actions import provider_for, sign_in, token_header
from acp_tui.mcp.sign_in.interaction import SignInCancelled, SignInError, SignInRequired
from acp_tui.mcp.sign_in.token_store import StoredSignIn, TokenStore, sign_in_state, sign_out
from tests.mcp.servers.oauth import PREREGISTERED
from tests.mcp.sign_in.users import BrowserUser, PastingUser, code_of
from tests.support.waiting import until

if TYPE_CHECKING:
    from acp_tui.mcp.sign_in.interaction import AuthorizationUrl
    from tests.support.mcp_servers import HttpServers, ServerLog

KNOWN = SignInSettings(client_id=PREREGISTERED[0], client_secret=PREREGISTERED[1])
PROGRAM = replace(KNOWN, grant="client_credentials")


def guarded(servers: HttpServers, options: str, settings: SignInSettings | None = None) -> ResolvedServer:
    return replace(servers.server(f"/guarded/{options}/mcp", name="guarded"), sign_in=settings)


async def run_echo(server: ResolvedServer) -> Any:
    """Call a tool with the stored sign-in."""
    async with connect(server, auth=provider_for(server)) as connection:
        return (await connection.client.call_tool("echo", {"text": "hello"})).structured_content


async def expire(servers: HttpServers, options: str, *, everything: bool = False) -> None:
    async with httpx2.AsyncClient() as client:
        await client.post(servers.url(f"/as/{options}/expire{'?all' if everything else ''}"))


def _grants(log: ServerLog) -> list[str]:
    return [message["params"]["grant_type"] for message in log.messages("oauth/token")]


async def test_sign_in_with_the_browser_is_used_without_a_user_later(
    http_servers: HttpServers, http_log: ServerLog
) -> None:
    server, user = guarded(http_servers, "browser"), BrowserUser()
    state = await sign_in(server, user.interaction())
    assert state is not None
    assert state.renewable
    assert [page.status_code for page in user.pages] == [200]
    assert "You can close this page" in user.pages[0].text
    assert await run_echo(server) == {"result": "hello"}
    assert await sign_in(server, user.interaction()) == state
    assert (len(user.visits), _grants(http_log)) == (1, ["authorization_code"])


async def test_sign_in_over_sse(http_servers: HttpServers) -> None:
    server = http_servers.server("/guarded/events/sse")
    assert await sign_in(server, BrowserUser().interaction()) is not None
    assert await run_echo(server) == {"result": "hello"}
    await expire(http_servers, "events", everything=True)
    with pytest.raises(SignInRequired):
        await run_echo(server)


@pytest.mark.parametrize("settings", [None, KNOWN])
async def test_pasted_texts_until_one_is_of_use(
    http_servers: HttpServers, settings: SignInSettings | None
) -> None:
    server = guarded(http_servers, "pasting", settings)
    user = PastingUser(
        lambda _: "what is this", lambda url: url.replace("state=", "state=x"), code_of, lambda url: url
    )
    assert await sign_in(server, user.interaction()) is not None
    neither, another, code_alone = user.reports
    assert neither.startswith("This is neither")
    assert "belongs to another sign-in" in another
    assert "Paste the whole address" in code_alone


async def test_code_alone_is_enough_where_the_server_does_not_name_itself(http_servers: HttpServers) -> None:
    server = guarded(http_servers, "no-issuer")
    assert await sign_in(server, PastingUser(code_of).interaction()) is not None


async def test_without_a_user_a_sign_in_is_required(http_servers: HttpServers, http_log: ServerLog) -> None:
    with pytest.raises(
        SignInRequired, match=r"^guarded needs a sign-in: run `acp-tui mcp sign-in guarded`\.$"
    ):
        await run_echo(guarded(http_servers, "nobody"))
    assert not [method for method in http_log.methods() if method and method.startswith("oauth")]


async def test_refused_token_is_renewed_without_a_user(
    http_servers: HttpServers, http_log: ServerLog
) -> None:
    server = guarded(http_servers, "renewed")
    first = await sign_in(server, BrowserUser().interaction())
    await expire(http_servers, "renewed")
    assert await run_echo(server) == {"result": "hello"}
    second = sign_in_state(server.url)
    assert first is not None
    assert second is not None
    assert second.signed_in_at == first.signed_in_at
    assert _grants(http_log) == ["authorization_code", "refresh_token"]


async def test_expired_token_is_renewed_once_by_several_connections(
    http_servers: HttpServers, http_log: ServerLog
) -> None:
    server = guarded(http_servers, "several")
    await sign_in(server, BrowserUser().interaction())
    store = TokenStore(server.url)
    stored = store.read()
    assert stored is not None
    store.write(replace(stored, expires_at=1.0))
    await expire(http_servers, "several")
    results = await asyncio.gather(*(run_echo(server) for _ in range(3)))
    assert results == [{"result": "hello"}] * 3
    assert _grants(http_log) == ["authorization_code", "refresh_token"]


async def test_withdrawn_sign_in_is_required_again(http_servers: HttpServers) -> None:
    server = guarded(http_servers, "withdrawn")
    await sign_in(server, BrowserUser().interaction())
    await expire(http_servers, "withdrawn", everything=True)
    with pytest.raises(SignInRequired):
        await run_echo(server)
    assert sign_in_state(server.url) is None


async def test_connection_stops_using_the_tokens_after_signing_out(http_servers: HttpServers) -> None:
    server = guarded(http_servers, "signed-out")
    await sign_in(server, BrowserUser().interaction())
    provider = provider_for(server)
    assert provider is not None
    async with httpx2.AsyncClient(auth=provider) as client:
        assert (await client.get(server.url)).status_code != 401
        assert await sign_out(server.url)
        with pytest.raises(SignInRequired):
            await client.get(server.url)
    assert sign_in_state(server.url) is None


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ("denied", SignInCancelled, r"^The sign-in for guarded was denied in the browser\.$"),
        ("wrong-issuer", SignInError, r"^The sign-in for guarded failed: .* iss mismatch"),
        ("no-registration", SignInError, r"does not let acp-tui register itself .*set sign_in\.client_id\.$"),
    ],
)
async def test_failed_sign_in_is_one_sentence(
    http_servers: HttpServers, options: str, kind: type[SignInError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        await sign_in(guarded(http_servers, options), BrowserUser().interaction())


async def test_answer_to_another_sign_in_is_ignored(http_servers: HttpServers) -> None:
    user = BrowserUser()
    waiting = asyncio.create_task(sign_in(guarded(http_servers, "wrong-state"), user.interaction()))
    await until(lambda: user.pages)
    assert not waiting.done()
    assert user.pages[0].status_code == 400
    assert user.reports == ["The browser's answer belongs to another sign-in and was ignored."]
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_expired_code_is_said(http_servers: HttpServers) -> None:
    user = PastingUser(lambda url: url.replace("code=", "code=old"))
    with pytest.raises(SignInError, match=r"^The authorization code for guarded has expired"):
        await sign_in(guarded(http_servers, "expired-code"), user.interaction())


@pytest.mark.parametrize("method", ["basic", "post"])
@pytest.mark.parametrize("settings", [KNOWN, PROGRAM])
async def test_client_proves_its_identity_as_the_server_wants(
    http_servers: HttpServers, method: str, settings: SignInSettings
) -> None:
    server = guarded(http_servers, f"{method},{settings.grant}", settings)
    assert await sign_in(server, BrowserUser().interaction()) is not None
    assert await run_echo(server) == {"result": "hello"}
    stored = TokenStore(server.url).path.read_text()
    assert KNOWN.client_secret not in stored


async def test_client_credentials_need_no_user(http_servers: HttpServers) -> None:
    server = guarded(http_servers, "program", PROGRAM)
    assert await run_echo(server) == {"result": "hello"}
    await expire(http_servers, "program")
    assert await run_echo(server) == {"result": "hello"}


async def test_secret_is_sent_to_the_configured_authorization_server_only(
    http_servers: HttpServers, http_log: ServerLog
) -> None:
    settings = replace(PROGRAM, issuer="https://auth.example.com")
    with pytest.raises(SignInError, match=r"check sign_in\.issuer"):
        await run_echo(guarded(http_servers, "elsewhere", settings))
    assert not http_log.messages("oauth/token")


async def test_wrong_secret_is_said(http_servers: HttpServers) -> None:
    settings = replace(PROGRAM, client_secret="a-wrong-secret")
    with pytest.raises(SignInError, match="of guarded does not accept acp-tui's client") as caught:
        await run_echo(guarded(http_servers, "wrong-secret", settings))
    assert "a-wrong-secret" not in str(caught.value)


@pytest.mark.parametrize("options", ["late", "late,modern"])
async def test_signing_in_may_take_longer_than_the_probe_for_the_new_protocol(
    options: str, http_servers: HttpServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, user = guarded(http_servers, options), BrowserUser()
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 0.001)

    async def show(url: AuthorizationUrl) -> None:
        monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 10.0)  # after the probe: the user takes long
        await user.interaction().show(url)

    interaction = replace(user.interaction(), show=show)
    async with connect(server, auth=provider_for(server, interaction)) as connection:
        assert connection.protocol_version == "2026-07-28"
    assert len(user.visits) == 1


async def test_server_that_lets_everybody_connect_asks_when_its_tools_are_listed(
    http_servers: HttpServers,
) -> None:
    server, user = guarded(http_servers, "open-handshake"), BrowserUser()
    assert await sign_in(server, user.interaction()) is not None
    assert len(user.visits) == 1


async def test_more_permissions_are_asked_for(http_servers: HttpServers) -> None:
    server, user = guarded(http_servers, "step-up"), BrowserUser()
    await sign_in(server, user.interaction())
    with pytest.raises(SignInRequired, match="needs more permissions than your sign-in has"):
        await _echo_raising(server)
    async with connect(server, auth=provider_for(server, user.interaction())) as connection:
        await connection.client.call_tool("echo", {"text": "hello"})
    assert await run_echo(server) == {"result": "hello"}


async def _echo_raising(server: ResolvedServer) -> None:
    async with connect(server, auth=provider_for(server)) as connection:
        try:
            await connection.client.call_tool("echo", {"text": "hello"})
        except Exception as error:
            raise (await connection.failure(error, "call echo")) from None


async def test_registration_is_renewed_if_its_port_is_taken(
    http_servers: HttpServers, http_log: ServerLog
) -> None:
    server = guarded(http_servers, "exact-redirect,no-refresh")
    await sign_in(server, BrowserUser().interaction())
    await expire(http_servers, "exact-redirect,no-refresh")
    await sign_in(server, BrowserUser().interaction())
    assert len(http_log.messages("oauth/register")) == 1
    [client] = {message["params"]["redirect_uris"][0] for message in http_log.messages("oauth/register")}
    await expire(http_servers, "exact-redirect,no-refresh")
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", httpx2.URL(client).port)
    async with taken:
        await sign_in(server, BrowserUser().interaction())
    assert len(http_log.messages("oauth/register")) == 2


async def test_header_for_an_agent_is_renewed_first(http_servers: HttpServers) -> None:
    server = guarded(http_servers, "header")
    assert await token_header(server) is None
    await sign_in(server, BrowserUser().interaction())
    store = TokenStore(server.url)
    stored = store.read()
    assert stored is not None
    store.write(replace(stored, expires_at=1.0))
    header = await token_header(server)
    assert header is not None
    assert header.value.startswith("Bearer ")
    assert stored.access_token not in header.value
    assert (header.expires_at or 0) > 1.0
    assert header.value not in repr(header)


async def test_server_with_a_header_of_its_own_has_no_sign_in(http_servers: HttpServers) -> None:
    server = http_servers.server(headers={"authorization": "Bearer mine"})
    assert provider_for(server) is None
    with pytest.raises(SignInError, match="uses the Authorization header in its definition"):
        await sign_in(server, BrowserUser().interaction())


async def test_nothing_secret_is_logged(http_servers: HttpServers, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = guarded(http_servers, "logged")
    await sign_in(server, BrowserUser().interaction())
    await expire(http_servers, "logged")
    await run_echo(server)
    with pytest.raises(SignInError):
        await sign_in(
            guarded(http_servers, "logged-code"),
            PastingUser(lambda url: url.replace("code=", "code=old")).interaction(),
        )
    stored = TokenStore(server.url).read()
    assert stored is not None
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("mcp"))
    assert "access-" not in logged
    assert "refresh-" not in logged


async def test_time_limit_is_stopped_while_the_user_is_asked(http_servers: HttpServers) -> None:
    ends: list[float | None] = []

    def paste(url: str) -> str:
        assert provider is not None
        assert provider.limit is not None
        ends.append(provider.limit.when())
        return url

    server = guarded(http_servers, "slow-user")
    provider = provider_for(server, PastingUser(paste).interaction())
    async with connect(server, auth=provider):
        assert ends == [None]


async def test_server_that_refuses_every_token_is_asked_twice() -> None:
    requests: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request.url.path)
        if request.url.path != "/token":
            return httpx2.Response(401)
        return httpx2.Response(200, json={"access_token": f"new-{len(requests)}", "token_type": "bearer"})

    server = ResolvedServer("stubborn", "http", url="https://stubborn.example/mcp")
    store = TokenStore(server.url)
    store.write(StoredSignIn(store.url, "old", "refresh", client={"client_id": "c"}))
    transport = httpx2.MockTransport(answer)
    async with httpx2.AsyncClient(transport=transport, auth=provider_for(server)) as client:
        with pytest.raises(SignInRequired):
            await client.post(server.url)
    assert requests == ["/mcp", "/token", "/mcp"]


@pytest.mark.parametrize(("status", "is_kept"), [(503, True), (429, True), (400, False)])
async def test_sign_in_is_kept_if_it_cannot_be_renewed_now(status: int, is_kept: bool) -> None:
    server = ResolvedServer("busy", "http", url="https://busy.example/mcp")
    store = TokenStore(server.url)
    store.write(StoredSignIn(store.url, "old", "refresh", expires_at=1.0, client={"client_id": "c"}))
    statuses = {"/token": status, "/mcp": 401}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(statuses[request.url.path]))
    async with httpx2.AsyncClient(transport=transport, auth=provider_for(server)) as client:
        with pytest.raises(SignInError) as caught:
            await client.post(server.url)
    assert isinstance(caught.value, SignInRequired) is not is_kept
    assert (store.read() is not None) is is_kept
