"""Export of the conversation into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.session.state import Choice
from acp_tui.ui.screens.session import SessionScreen

if TYPE_CHECKING:
    from acp_tui.ui.conversation.runner import ConversationRunner

FORMATS = [
    Choice("md", "Markdown", "readable as plain text"),
    Choice("html", "HTML", "one file, in the current theme's colours"),
    Choice("json", "JSON", "for scripts"),
]


class Exporting(SessionScreen):
    """A part of the conversation's screen."""

    runner: ConversationRunner

    def action_export(self) -> None:
        """Ask for a format and export. The file is never written into the project."""
        self.run_worker(self._export(), group="export", exclusive=True)

    async def _export(self) -> None:
        from acp_tui.ui.screens.choose import ChooseScreen

        form = await self.app.push_screen_wait(
            ChooseScreen("Export the conversation", FORMATS, self._palette)
        )
        if form is None:
            return
        try:
            path = await self.runner.export(form, self.app.theme.removeprefix("acp-"))
        except UserError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
        else:
            self.notify(f"Exported to {path}", timeout=10, markup=False)
