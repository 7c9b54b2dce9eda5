"""What the screen needs of the rooms it does not enter, all of it pure."""

from acp_tui.workspace.linemodel import Line, LineModel, strip_to_styles
from acp_tui.workspace.sgr import PLAIN, Style

__all__ = ["PLAIN", "Line", "LineModel", "Style", "strip_to_styles"]
