"""The prompt and what belongs to it."""

from acp_tui.ui.widgets.prompt.prompt import Prompt
from acp_tui.ui.widgets.prompt.recall import History

__all__ = ["History", "Prompt"]
