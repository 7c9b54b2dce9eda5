"""The sign-in operations that the command line, the app and the bridge share."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx2

from acp_tui.config.mcp import ResolvedServer, SignInSettings
from acp_tui.mcp.connection import connect
from acp_tui.mcp.sign_in.interaction import SignInError, SignInInteraction
from acp_tui.mcp.sign_in.provider import SignInProvider
from acp_tui.mcp.sign_in.request_guard import limit_answer
from acp_tui.mcp.sign_in.token_store import SignInState, local_time, sign_in_state, uses_sign_in


def provider_for(
    server: ResolvedServer, interaction: SignInInteraction | None = None
) -> SignInProvider | None:
    """Return the authentication for requests to a server; None if the server does not use sign-in.

    The authentication adds the token to each request and renews the token when necessary. If the user has to
    sign in, the authentication uses `interaction`, or raises `SignInRequired` if `interaction` is None.
    """
    if not uses_sign_in(server):
        return None
    return SignInProvider(server.name, server.url, server.sign_in or SignInSettings(), interaction)


async def sign_in(server: ResolvedServer, interaction: SignInInteraction) -> SignInState | None:
    """Connect to a server, and sign in if the server asks for a sign-in and no stored one works.

    Returns the stored sign-in; None if there is none, because the server did not ask for one. Raises
    `SignInError` and `ServerFailure`.
    """
    provider = provider_for(server, interaction)
    if provider is None:
        if server.transport == "stdio":
            raise SignInError(f"{server.name} is a stdio server: only http and sse servers use sign-in.")
        raise SignInError(f"{server.name} uses the Authorization header in its definition, not a sign-in.")
    async with connect(server, auth=provider) as connection:
        if connection.capabilities.tools is not None:
            try:
                await connection.client.list_tools()  # some servers ask for a sign-in only here
            except Exception as error:
                raise await connection.failure(error, "list its tools") from error
        return sign_in_state(server.url)


@dataclass(frozen=True, slots=True)
class TokenHeader:
    """A token for an agent that connects to the server directly. The agent cannot renew the token."""

    value: str = field(repr=False)  # the value of the Authorization header
    expires_at: float | None

    def describe_end(self) -> str:
        """Return a clause such as "expires 2026-11-22 15:04 and is not renewed"."""
        if self.expires_at is None:
            return "is not renewed"
        return f"expires {local_time(self.expires_at)} and is not renewed"


async def token_header(server: ResolvedServer) -> TokenHeader | None:
    """Return the header with a token, renewed if necessary; None if the user is not signed in.

    Raises `SignInError` if the token cannot be renewed.
    """
    provider = provider_for(server)
    if provider is None:
        return None
    request = httpx2.Request("GET", server.url)  # never sent; the flow adds the header to it
    flow = provider.async_auth_flow(request)
    try:
        async with httpx2.AsyncClient(event_hooks={"response": [limit_answer]}) as client:
            outgoing = await anext(flow)
            while outgoing is not request:
                outgoing = await flow.asend(await client.send(outgoing))
    except httpx2.HTTPError as error:
        host = error.request.url.host
        raise SignInError(
            f"The sign-in for {server.name} could not be renewed: {host} does not answer."
        ) from None
    finally:
        await flow.aclose()
    value = request.headers.get("Authorization")
    state = sign_in_state(server.url)
    return TokenHeader(value, state.expires_at) if value and state is not None else None
