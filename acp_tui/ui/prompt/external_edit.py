"""Edits the text of the prompt in $EDITOR."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from acp_tui.errors import UserError
from acp_tui.ui.terminal.external_editor import edit, editor_command
from acp_tui.ui.terminal.suspend import release_terminal

if TYPE_CHECKING:
    from textual.widget import Widget


async def edit_externally(widget: Widget, text: str) -> str:
    """Let the user edit `text` in $EDITOR and return the result. On failure, show why and return `text`."""
    try:
        command = editor_command(os.environ)
        with release_terminal(widget.app):
            return await edit(text, command)
    except UserError as error:
        widget.notify(str(error), severity="error", markup=False)
    except SuspendNotSupported:
        widget.notify("An editor cannot run in this terminal.", severity="error", markup=False)
    return text
