"""The interface between a sign-in and the user. The command line and the app implement this interface."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from acp_tui.mcp.failures import FailureCause, ServerFailure
from acp_tui.session.safe_text import escape_line
from acp_tui.web_browser import check_web_address


@dataclass(frozen=True, slots=True)
class SignInInteraction:
    """Callbacks that show the address for signing in, ask whether to open it, and read pasted text."""

    show: Callable[[AuthorizationUrl], Awaitable[None]]
    """Show the whole address, its host and the warnings."""

    confirm_open: Callable[[AuthorizationUrl], Awaitable[bool]]
    """Ask whether to open the address in the browser. Not called if no browser was found."""

    read_answer: Callable[[], Awaitable[str]] | None
    """Read what the user pastes: the address of the page where the browser ended up, or the code.

    None if nothing can be pasted. The call is cancelled when the browser's redirect arrives, and repeated
    after text that cannot be used. Raises `SignInCancelled` if the user gives up.
    """

    confirm_address: Callable[[str], Awaitable[bool]]
    """Ask whether requests may be sent to a service on this machine or in a private network.

    Called with a sentence that names the server and the address.
    """

    report: Callable[[str], None]
    """Show a sentence, such as why a pasted text cannot be used."""


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
    return AuthorizationUrl(escape_line(server), url, address.host, address.warnings)


class SignInError(ServerFailure):
    def __init__(self, sentence: str, cause: FailureCause = FailureCause.SIGN_IN_FAILED) -> None:
        super().__init__(cause, sentence)


class SignInRequired(SignInError):  # noqa: N818  # a state rather than a fault
    """A server requires a sign-in, but there is no `SignInInteraction` with which to ask the user."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, FailureCause.SIGN_IN_REQUIRED)


class SignInCancelled(SignInError):  # noqa: N818  # what the user decided
    """The user declined or cancelled the sign-in."""
