"""Prints lines that stand out: in red, if the terminal shows colours."""

from __future__ import annotations

import os
import sys

from acp_tui.console.streams import SanitizedStream
from acp_tui.session.text.safe_text import visible_line


def print_alert(line: str) -> None:
    """Print a line, in red on a terminal that shows colours."""
    stream = sys.stdout
    text = visible_line(line)
    has_colours = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    if has_colours and isinstance(stream, SanitizedStream):
        stream.unfiltered.write(f"\x1b[31m{text}\x1b[0m\n")
    else:
        print(text)
