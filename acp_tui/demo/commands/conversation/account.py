"""Commands that demonstrate signing in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.demo.commands.slash_command import slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

SIGN_IN_COMMAND = "signin"
"""The slash command that the agent refuses until the user has signed in."""


@slash_command(SIGN_IN_COMMAND, "A prompt that is refused until you sign in; then your client sends it again")
async def sign_in(turn: Turn) -> None:
    """Say that the user is signed in. Without a sign-in, the prompt is refused before this command runs."""
    await turn.say("You are signed in, though I have no accounts. `/logout` signs you out.")


@slash_command("logout", "Sign out; the next request is refused until you sign in")
async def logout(turn: Turn) -> None:
    """Sign out without a request from the client, as when a login expires."""
    turn.session.sign_out()
    await turn.say("Signed out. I will refuse the next request, so that your client asks you to sign in.")
