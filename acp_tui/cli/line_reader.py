"""A dialogue on the terminal: texts on stderr, and lines that are read from stdin while other tasks run."""

from __future__ import annotations

import asyncio
import os
import sys

from acp_tui.session.safe_text import escape_controls

MAX_INPUT_LINE_BYTES = 65_536
END_OF_INPUT = b"\x04"
"""Ctrl+D, as it is read while the terminal's line editing is turned off."""


def print_safely(text: str, end: str = "\n") -> None:
    """Print text on stderr at once, with control characters replaced."""
    print(escape_controls(text), end=end, file=sys.stderr, flush=True)


class LineReader:
    """Reads the lines of stdin, even from a terminal whose line editing is turned off."""

    def __init__(self) -> None:
        self._rest = b""  # input after the last line that was returned

    async def read_line(self) -> str | None:
        """Return the next line; None at the end of the input.

        A line longer than `MAX_INPUT_LINE_BYTES` is returned in parts.
        """
        while b"\n" not in self._rest and len(self._rest) < MAX_INPUT_LINE_BYTES:
            await _readable(sys.stdin.fileno())
            block = os.read(sys.stdin.fileno(), MAX_INPUT_LINE_BYTES)
            if not block or block == END_OF_INPUT:
                if self._rest:
                    break
                return None
            self._rest += block.replace(b"\r", b"\n")
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace")


async def _readable(descriptor: int) -> None:
    """Wait until the descriptor can be read. Return at once for a regular file, which is always readable."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except OSError:
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
