"""What the screen needs of the workspace to show terminal output: the line model and its styles."""

from acp_tui.workspace.terminals.line_model import Line, LineModel, Span, strip_to_styles
from acp_tui.workspace.terminals.sgr import PLAIN, Style

__all__ = ["PLAIN", "Line", "LineModel", "Span", "Style", "strip_to_styles"]
