"""What changed between two texts: pure, fast for large ones, and made only as far as it is looked at."""

from acp_tui.diffing.difference import Difference, compare_texts, parse_patch
from acp_tui.diffing.hunks import Hunk, LineChange, Row

__all__ = ["Difference", "Hunk", "LineChange", "Row", "compare_texts", "parse_patch"]
