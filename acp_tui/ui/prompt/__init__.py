"""The prompt and what belongs to it."""

from acp_tui.ui.prompt.prompt import Prompt
from acp_tui.ui.prompt.recall import History

__all__ = ["History", "Prompt"]
