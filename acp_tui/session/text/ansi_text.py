"""Text that keeps SGR colour escapes; other dangerous characters are made visible, see `safe_text.visible`.

Only for output that is parsed into styles. Never write it to a terminal directly.
"""

from __future__ import annotations

import re

from acp_tui.session.text.safe_text import visible

# Select Graphic Rendition: ESC [ parameters m. Parameters consist of digits, `;` and, in newer programs, `:`.
SGR = re.compile("\x1b\\[([0-9;:]*)m")


def keep_colours(text: str) -> str:
    """Make dangerous characters in the text visible as `visible` does, but keep the SGR escapes."""
    pieces: list[str] = []
    end = 0
    for escape in SGR.finditer(text):
        pieces += (visible(text[end : escape.start()]), escape[0])
        end = escape.end()
    pieces.append(visible(text[end:]))
    return "".join(pieces)


def strip_colours(text: str) -> str:
    """Remove the SGR escapes of the text, and make its other control characters visible."""
    return visible(SGR.sub("", text))
