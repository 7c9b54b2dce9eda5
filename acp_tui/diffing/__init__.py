"""Differences between texts, and patches. Imports the standard library only."""

from acp_tui.diffing.difference import Difference, compare_texts, parse_patch
from acp_tui.diffing.hunks import Hunk, LineChange, Row

__all__ = ["Difference", "Hunk", "LineChange", "Row", "compare_texts", "parse_patch"]
