"""Messages on stderr. Each message begins with the program's name."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_message(sentence: str, context: Sequence[str] = ()) -> None:
    """Print a sentence to stderr, followed by indented lines of context.

    Newlines in these texts are replaced: a newline in a file name could forge another message.
    """
    print("\n".join(_wrapped(f"acp-tui: {visible_line(sentence)}")), file=sys.stderr, flush=True)
    for line in context:
        print(f"  │ {visible_line(line)}", file=sys.stderr, flush=True)


def _wrapped(text: str) -> list[str]:
    """Return the lines of a message: on a terminal, which would break inside words, wrapped between words."""
    if not sys.stderr.isatty():
        return [text]
    columns = shutil.get_terminal_size().columns
    return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [text]


class StatusLine:
    """A message on stderr that grows old. On a terminal it is replaced; elsewhere it is printed once."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, sentence: str, seconds: float, note: str = "") -> None:
        """Show a sentence and a note; on a terminal between them the seconds that have passed."""
        if sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - 1
            line = f"acp-tui: {visible_line(sentence)} {seconds:.0f} s{note}"
            self._write(f"\r{line[:room]}\x1b[K")
        elif not self._shown:
            print_message(f"{sentence}{note}")
        self._shown = True

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self._shown and sys.stderr.isatty():
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        stream = getattr(sys.stderr, "unfiltered", sys.stderr)  # its own control characters are meant
        stream.write(text)
        stream.flush()
