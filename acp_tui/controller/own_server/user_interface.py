"""The interface through which acp-tui's own MCP server reaches the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from acp_tui.schema_form.answer import FormAnswer


class UserInterface(Protocol):
    """What acp-tui's own tools can do on the screen of a conversation."""

    def show(self, call_id: str, text: str | None) -> bool:
        """Open a view of the file or the diff that a tool call wants to show.

        `text` is the content of the file; None for a diff. Return False if nothing is opened, for
        example because the user is busy.
        """

    def alert(self, message: str) -> None:
        """Show a message. If the terminal is not focused, also alert the user as configured."""

    async def ask(self, message: str, schema: dict[str, Any]) -> FormAnswer:
        """Ask the user to fill in a form made from a JSON schema."""

    def open_url(self, url: str) -> bool:
        """Open a page in the browser. Return False if there is no browser, or if it could not be started."""

    def selection(self) -> str:
        """Return the selected text; empty if nothing is selected."""
