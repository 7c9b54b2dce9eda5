"""The prompt: its editor, attachments, completion menus and history."""

from acp_tui.ui.prompt.history_recall import History
from acp_tui.ui.prompt.prompt import Prompt

__all__ = ["History", "Prompt"]
