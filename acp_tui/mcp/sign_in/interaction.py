"""How a sign-in talks to the user. The command line and the app each provide one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.mcp.sign_in.authorization_url import AuthorizationUrl


@dataclass(frozen=True, slots=True)
class SignInInteraction:
    """Callables that show the address, ask whether to open it, and read what the user pastes."""

    show: Callable[[AuthorizationUrl], Awaitable[None]]
    """Show the whole address, its host and the warnings."""

    confirm_open: Callable[[AuthorizationUrl], Awaitable[bool]]
    """Ask whether to open the address in the browser. Not called if no browser was found."""

    read_answer: Callable[[], Awaitable[str]] | None
    """Read what the user pastes: the address at which the browser ended, or the code.

    It is cancelled when the browser's answer arrives by itself, and called again after a text of no use. It
    raises `SignInCancelled` if the user gives up. None: nothing can be pasted.
    """

    report: Callable[[str], None]
    """Show a sentence, such as why what was pasted cannot be used."""
