"""Errors for requests that an authorization server refuses. Their sentences never quote a token."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_tui.mcp.sign_in.errors import SignInError
from acp_tui.mcp.sign_in.redirect_answer import shown_error

if TYPE_CHECKING:
    import httpx2


async def token_refused(name: str, response: httpx2.Response) -> SignInError:
    """Return the error for a token endpoint that refused to issue a token for the server `name`."""
    code, text = await _error_of(response)
    words = f"{code}: {text.rstrip('.')}" if text else code
    if code == "invalid_grant":
        return SignInError(
            f"The authorization code for {name} has expired or was used before ({words}); sign in again."
        )
    if code == "invalid_client":
        return SignInError(
            f"The authorization server of {name} does not accept acp-tui's client credentials ({words}); "
            "check sign_in.client_id and sign_in.client_secret."
        )
    return SignInError(f"The authorization server refused to issue a token for {name} ({words}).")


def registration_refused(name: str, error: Exception) -> SignInError:
    """Return the error for an authorization server that refused to register acp-tui."""
    reason = shown_error(str(error)).rstrip(". ")
    return SignInError(
        f"The authorization server of {name} does not let acp-tui register itself ({reason}); "
        "ask the server's provider for a client id and set sign_in.client_id."
    )


def renewal_failed(name: str, response: httpx2.Response) -> SignInError:
    """Return the error for a renewal that failed but can be tried again later."""
    host = response.request.url.host
    return SignInError(
        f"The authorization server {host} could not renew the sign-in for {name} "
        f"(HTTP {response.status_code}); try again later."
    )


async def _error_of(response: httpx2.Response) -> tuple[str, str]:
    """Return an answer's error code and the server's description of the error, both safe to display."""
    try:
        body: Any = json.loads(await response.aread())
        code, text = body.get("error"), body.get("error_description", "")
    except (ValueError, AttributeError, RecursionError):
        code, text = None, ""
    return shown_error(str(code or f"HTTP {response.status_code}")), shown_error(str(text or ""))
