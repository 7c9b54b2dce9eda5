"""The OAuth client that a server's settings name, instead of a client that acp-tui registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mcp.shared.auth import OAuthClientInformationFull

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthMetadata

    from acp_tui.config.mcp.sign_in_settings import SignInSettings


def configured_client(settings: SignInSettings) -> OAuthClientInformationFull | None:
    """Return the client in the server's settings; None if the settings name no client."""
    if not settings.client_id:
        return None
    return OAuthClientInformationFull(
        client_id=settings.client_id,
        client_secret=settings.client_secret or None,
        issuer=settings.issuer or None,
    )


def authentication_method(
    settings: SignInSettings, metadata: OAuthMetadata | None
) -> Literal["none", "client_secret_post", "client_secret_basic"]:
    """Return the method by which the configured client authenticates at the token endpoint."""
    if not settings.client_secret:
        return "none"
    offered = metadata.token_endpoint_auth_methods_supported if metadata is not None else None
    if offered and "client_secret_basic" not in offered and "client_secret_post" in offered:
        return "client_secret_post"
    return "client_secret_basic"  # the default of RFC 8414
