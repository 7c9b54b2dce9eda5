"""What the screen needs of the workspace to show terminal output: the line model and its styles."""

from acp_tui.workspace.terminals.line_model import Line, LineModel, Span, parse_styled_text
from acp_tui.workspace.terminals.sgr import PLAIN, Style

__all__ = ["PLAIN", "Line", "LineModel", "Span", "Style", "parse_styled_text"]
