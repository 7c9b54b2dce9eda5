"""The interface between a sign-in and the user. The command line and the app implement this interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.mcp.sign_in.authorization_url import AuthorizationUrl


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
    after a text that cannot be used. Raises `SignInCancelled` if the user gives up.
    """

    confirm_address: Callable[[str], Awaitable[bool]]
    """Ask whether requests may be sent to a service on this machine or in a private network.

    Called with a sentence that names the server and the address.
    """

    report: Callable[[str], None]
    """Show a sentence, such as why a pasted text cannot be used."""
