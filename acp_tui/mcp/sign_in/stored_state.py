"""The state of a sign-in according to the stored tokens, and sign-out. Does not import the SDK."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from acp_tui.mcp.sign_in.token_store import TokenStore

if TYPE_CHECKING:
    from acp_tui.config.mcp import ResolvedServer, Server


@dataclass(frozen=True, slots=True)
class SignInState:
    """A stored sign-in, which the server may have revoked."""

    signed_in_at: float  # seconds since the epoch
    expires_at: float | None  # of the access token; None: the server did not say
    renewable: bool  # whether acp-tui can renew it without asking
    scope: str | None

    def is_valid(self, now: float | None = None) -> bool:
        """Return whether the sign-in can be used, perhaps after renewing the token."""
        return self.renewable or not self.has_expired(now)

    def has_expired(self, now: float | None = None) -> bool:
        """Return whether the access token has expired."""
        return self.expires_at is not None and (time.time() if now is None else now) >= self.expires_at

    def describe(self) -> str:
        """Return a clause such as "signed in until 2026-11-22 15:04, then renewed"."""
        if self.expires_at is None:
            return "signed in"
        end = local_time(self.expires_at)
        if not self.has_expired():
            return f"signed in until {end}" + (", then renewed" if self.renewable else "")
        if not self.renewable:
            return f"expired {end}"
        return f"signed in (the token expired {end}; it will be renewed on the next use)"

    def as_json(self) -> dict[str, object]:
        """Return the fields for `--json`. Times are in ISO 8601, in the user's time zone."""
        return {
            "signed_in_at": _iso(self.signed_in_at),
            "expires_at": None if self.expires_at is None else _iso(self.expires_at),
            "renewable": self.renewable,
            "valid": self.is_valid(),
            "scope": self.scope,
        }


def uses_sign_in(server: Server | ResolvedServer) -> bool:
    """Return whether acp-tui can sign in to the server.

    acp-tui can sign in to http and sse servers for which the user has not set an Authorization header.
    """
    return server.transport != "stdio" and "authorization" not in map(str.lower, server.headers)


def sign_in_state(url: str) -> SignInState | None:
    """Return the stored sign-in for a server URL; None if there is none."""
    stored = TokenStore(url).read()
    if stored is None:
        return None
    return SignInState(stored.signed_in_at, stored.expires_at, stored.renewable, stored.scope)


async def sign_out(url: str) -> bool:
    """Delete the tokens and the client registration for a server URL. Return False if nothing was stored.

    Running bridges and connections stop using the tokens at their next request. Raises `SignInError`.
    """
    store = TokenStore(url)
    async with store.lock():
        return store.delete()


def local_time(seconds: float) -> str:
    """Return a time in the user's time zone, such as "2026-11-22 15:04"."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
