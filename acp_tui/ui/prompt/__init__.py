"""The prompt: its editor, attachments, completion menus and history."""

from acp_tui.ui.prompt.history import HistoryRecall
from acp_tui.ui.prompt.prompt import Prompt

__all__ = ["HistoryRecall", "Prompt"]
