"""Standard streams that replace control characters, to protect the terminal.

Output for other programs goes to `content_stream()`, which is unfiltered unless stdout is a terminal.
Everything else that a command prints passes `SanitizedStream`, including usage messages and tracebacks. Only
`print_alert` writes to the unfiltered stream, in red, and itself replaces the control characters of the text.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from acp_tui.session.text.safe_text import json_text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable


class SanitizedStream:
    """A text stream that replaces control characters with visible stand-ins."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write the text with control characters replaced. Return the length of `text`."""
        self.unfiltered.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each line with control characters replaced."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def prepare_streams() -> None:
    """Reopen closed standard streams on /dev/null, and wrap stdout and stderr in `SanitizedStream`."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # stays open until exit
        elif mode == "w" and not isinstance(stream, SanitizedStream):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, SanitizedStream(stream))


def content_stream() -> TextIO:
    """Return stdout for output that other programs can read: unfiltered, unless stdout is a terminal."""
    stream: object = sys.stdout
    if isinstance(stream, SanitizedStream) and not stream.isatty():
        return stream.unfiltered
    return cast("TextIO", stream)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a JSON value for other programs. On a terminal, all non-ASCII characters are escaped."""
    stream = content_stream()
    print(json_text(value, ascii_only=stream.isatty(), indent=indent), file=stream)


def discard_stdout() -> None:
    """Redirect stdout to /dev/null, so that the interpreter's flush at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def replace_unencodable() -> None:
    """Make stdout print "?" for characters that its encoding lacks, instead of failing."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # always a text file here
