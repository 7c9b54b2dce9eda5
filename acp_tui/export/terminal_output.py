"""The output of a terminal as styled lines or plain text, redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.store.secret_patterns import redact_text
from acp_tui.workspace.terminals.sgr import PLAIN
from acp_tui.workspace.terminals.terminal_emulator import TerminalEmulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.session.text.terminal_text import TerminalText
    from acp_tui.workspace.terminals.terminal_emulator import Line


def output_lines(output: TerminalText, *, styles: bool = True) -> Iterator[Line]:
    """Yield the lines of the output, redacted again, because a secret may have been split between chunks."""
    if not output.skipped:
        yield from _lines(output.head + output.tail, styles=styles)
        return
    yield from _lines(output.head, styles=styles)
    yield ((f"… {output.skipped:,} characters omitted …", PLAIN),)
    yield from _lines(output.tail, styles=styles)


def output_text(output: TerminalText) -> str:
    """Return the output as plain text."""
    lines = output_lines(output, styles=False)
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _lines(raw: str, *, styles: bool) -> Iterator[Line]:
    emulator = TerminalEmulator(styles=styles, head=1 << 62)  # keep all lines
    emulator.feed(raw)
    lines = emulator.lines
    while lines and not any(text.strip() for text, _ in lines[-1]):
        lines.pop()
    for line in lines:
        text = "".join(piece for piece, _ in line)
        redacted = redact_text(text)
        yield line if redacted == text else ((redacted, PLAIN),)
