"""A command and its output as plain text, for attaching them to a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_kinds.terminal import how_it_ended
from acp_tui.session.text.safe_text import visible
from acp_tui.ui.entries.terminal.output_lines import OutputLines, omission_text, original_length

if TYPE_CHECKING:
    from acp_tui.session.state import Terminal

MAX_CHARACTERS = 100_000
"""The maximum number of characters of output to attach. The middle of a longer output is omitted."""


def command_output(terminal: Terminal) -> str:
    """Return a terminal's command, its output, and how the command ended."""
    lines = ["".join(text for text, _ in line).rstrip() for line in OutputLines(terminal).all()]
    text = "\n".join(lines).rstrip("\n")
    if len(text) > MAX_CHARACTERS:
        head, tail = MAX_CHARACTERS // 4, MAX_CHARACTERS * 3 // 4
        text = f"{text[:head]}\n{omission_text(original_length(text[head:-tail]))}\n{text[-tail:]}"
    end = f"[{how_it_ended(terminal)}]"
    return "\n".join(filter(None, (f"$ {visible(terminal.command or '')}", text, end))) + "\n"
