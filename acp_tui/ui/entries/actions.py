"""Texts for the actions on an entry: its fields as JSON, a prompt to edit, output to attach."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from acp_tui.session.state import Content
from acp_tui.session.text import GrowingText, TerminalText, visible, visible_json

if TYPE_CHECKING:
    from acp_tui.session.state import Entry, Message, Terminal

MAX_OUTPUT_CHARACTERS = 100_000
"""Characters of a command's output that are attached to a prompt."""


def raw_text(entry: Entry) -> str:
    """All fields of an entry as JSON that is safe to display."""
    return visible_json({"entry": type(entry).__name__, **_plain(entry)})


def _plain(value: Any) -> Any:
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, TerminalText):
        return {"head": value.head, "skipped": value.skipped, "tail": value.tail}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def prompt_text(entry: Message) -> str:
    """The text of a prompt, without its attachments."""
    return next((str(part) for part in entry.parts if isinstance(part, GrowingText)), "")


def attachment_blocks(entry: Message) -> list[dict[str, Any]]:
    """The attachments of a prompt, as content blocks."""
    contents = [part for part in entry.parts if isinstance(part, Content)]
    return [
        {
            "type": one.kind,
            "uri": one.uri,
            "data": one.data,
            "mimeType": one.mime,
            "resource": {"uri": one.uri, "text": one.text},
        }
        for one in contents
    ]


def command_output(terminal: Terminal) -> str:
    """A command and its output as plain text to attach; the middle of a long output is cut."""
    from acp_tui.ui.entries.terminal.output_lines import OutputLines, omission_text, original_length

    lines = ["".join(text for text, _ in line).rstrip() for line in OutputLines(terminal).all()]
    text = "\n".join(lines).rstrip("\n")
    if len(text) > MAX_OUTPUT_CHARACTERS:
        head, tail = MAX_OUTPUT_CHARACTERS // 4, MAX_OUTPUT_CHARACTERS * 3 // 4
        text = f"{text[:head]}\n{omission_text(original_length(text[head:-tail]))}\n{text[-tail:]}"
    if terminal.ended_at is None:
        end = "[still running]"
    else:
        end = f"[ended by {terminal.signal}]" if terminal.signal else f"[exit code {terminal.exit_code}]"
    return "\n".join(filter(None, (f"$ {visible(terminal.command or '')}", text, end))) + "\n"
