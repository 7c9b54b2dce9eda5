"""Edits the text of the prompt in $EDITOR."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from acp_tui.errors import UserError
from acp_tui.ui.terminal.external_editor import chosen_editor, edit, editor_command
from acp_tui.ui.terminal.suspend import release_terminal

if TYPE_CHECKING:
    from textual.widget import Widget


async def edit_externally(widget: Widget, text: str) -> str:
    """Let the user edit `text` in $EDITOR and return the result. On failure, show why and return `text`."""
    try:
        command = editor_command(os.environ)
        with release_terminal(widget.app):
            edited = await edit(text, command)
        if chosen_editor(os.environ) is None:
            name = Path(shutil.which(command[0]) or command[0]).resolve().name
            words = f"Edited with {name}, because neither $VISUAL nor $EDITOR is set."
            widget.notify(words, markup=False)
    except UserError as error:
        widget.notify(str(error), severity="error", markup=False)
    except SuspendNotSupported:
        widget.notify("An editor cannot run in this terminal.", severity="error", markup=False)
    else:
        return edited
    return text
