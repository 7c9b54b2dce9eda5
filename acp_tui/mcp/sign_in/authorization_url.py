"""Checks the address at which the user signs in to an MCP server."""

from __future__ import annotations

from dataclasses import dataclass

from acp_tui.console.web_address import check_web_address
from acp_tui.session.text.safe_text import visible_line


@dataclass(frozen=True, slots=True)
class AuthorizationUrl:
    """An address that a server asks the user to open. All texts are safe to display."""

    server: str  # the name of the MCP server
    url: str
    host: str
    warnings: tuple[str, ...]  # sentences


def check_authorization_url(server: str, url: str) -> AuthorizationUrl:
    """Return the address with host and warnings. Raises `ValueError` if the address must not be opened."""
    address = check_web_address(url)
    return AuthorizationUrl(visible_line(server), url, address.host, address.warnings)
