"""Messages on stderr. Each message begins with the program's name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_message(sentence: str, context: Sequence[str] = ()) -> None:
    """Print a sentence to stderr, followed by indented lines of context.

    Newlines in these texts are replaced: a newline in a file name could forge another message.
    """
    print(f"acp-tui: {visible_line(sentence)}", file=sys.stderr, flush=True)
    for line in context:
        print(f"  │ {visible_line(line)}", file=sys.stderr, flush=True)
