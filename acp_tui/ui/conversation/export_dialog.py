"""Exporting the conversation: the user chooses a format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.ui.dialogs.choose import EXPORT_FORMATS, ChooseScreen
from acp_tui.ui.theme.themes import PREFIX

if TYPE_CHECKING:
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen


class ExportDialog:
    """Asks for a format, and exports the conversation to a file in acp-tui's data folder."""

    def __init__(self, screen: SessionScreen, runner: ConversationRunner) -> None:
        self._screen = screen
        self._runner = runner

    def open(self) -> None:
        """Ask for a format, and export the conversation."""
        self._screen.run_worker(self._export(), group="export", exclusive=True)

    async def _export(self) -> None:
        dialog = ChooseScreen("Export the conversation", EXPORT_FORMATS)
        file_format = await self._screen.ask(dialog)
        if file_format is None:
            return
        try:
            path = await self._runner.export(file_format, self._screen.app.theme.removeprefix(PREFIX))
        except UserError as error:
            self._screen.notify_error(error)
        else:
            self._screen.notify(f"Exported to {path}", timeout=10, markup=False)
