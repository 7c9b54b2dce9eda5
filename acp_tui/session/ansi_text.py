"""Text that may keep its colours: SGR escapes survive, and nothing else that a terminal would obey.

Only for output that is parsed into styles afterwards; what is written to a terminal is `visible` text.
"""

from __future__ import annotations

import re

from acp_tui.session.text import visible

# Select Graphic Rendition: ESC [ parameters m. Parameters are digits, `;` and (newer) `:`.
SGR = re.compile("\x1b\\[([0-9;:]*)m")


def keep_colours(text: str) -> str:
    """The text made safe, but for its SGR escapes."""
    pieces: list[str] = []
    end = 0
    for escape in SGR.finditer(text):
        pieces += (visible(text[end : escape.start()]), escape[0])
        end = escape.end()
    pieces.append(visible(text[end:]))
    return "".join(pieces)


def strip_colours(text: str) -> str:
    """The same text, its SGR escapes taken out."""
    return visible(SGR.sub("", text))
