"""The standard streams of every command: usable from the start, and safe for a terminal.

Everything a command prints passes `GatedStream`, including usage messages and tracebacks. Content for
another program goes to `content_stream()`, which is unfiltered unless stdout is a terminal.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from acp_tui.session.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable


class GatedStream:
    """A text stream that replaces every character a terminal could obey by a visible stand-in."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write the text, made safe. Returns the number of characters given."""
        self.unfiltered.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of the lines, made safe."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def prepare_streams() -> None:
    """Open the standard streams that are closed, and put the gate in front of stdout and stderr."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # until we end
        elif mode == "w" and not isinstance(stream, GatedStream):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, GatedStream(stream))


def content_stream() -> TextIO:
    """Stdout for an agent's answer, an export or JSON: passed on unchanged, except to a terminal."""
    stream: object = sys.stdout
    if isinstance(stream, GatedStream) and not stream.isatty():
        return stream.unfiltered
    return cast("TextIO", stream)


def forget_output() -> None:
    """From now on stdout leads nowhere: what is held back would be tried again when the interpreter exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
