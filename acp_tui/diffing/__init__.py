"""What changed between two texts: pure, fast for large ones, and made only as far as it is looked at."""

from acp_tui.diffing.difference import Difference, compared, patched
from acp_tui.diffing.hunks import Change, Hunk, Row

__all__ = ["Change", "Difference", "Hunk", "Row", "compared", "patched"]
