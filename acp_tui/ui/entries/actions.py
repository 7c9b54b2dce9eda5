"""What the actions on an entry need: its title, raw JSON, code, location, media and output."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from acp_tui.session.state import Content, Diff, Message, Terminal, ToolCall
from acp_tui.session.text import GrowingText, TerminalText, visible, visible_json

if TYPE_CHECKING:
    from acp_tui.session.state import Entry

MAX_OUTPUT_CHARACTERS = 100_000
"""Characters of a command's output that are attached to a prompt."""


_NAMES = {
    "UserMessage": "Your prompt",
    "AgentMessage": "Answer",
    "ToolCall": "Tool call",
    "Terminal": "Command",
    "TurnEnd": "End of the turn",
    "Unrecognised": "Not recognised",
    "Elicitation": "Question",
}


def kind_title(entry: Entry) -> str:
    """The name of the entry's kind, for titles."""
    kind = type(entry).__name__
    return _NAMES.get(kind, kind)


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


def code_blocks(entry: Entry) -> list[str]:
    """The code to copy: blocks of a message, the command or new file text of a call."""
    if isinstance(entry, Message):
        from acp_tui.ui.markdown.sections import code_blocks

        return code_blocks(entry.text)
    if isinstance(entry, ToolCall):
        found = [part.new for part in entry.content if isinstance(part, Diff) and part.new]
        command = entry.raw_input.get("command") if isinstance(entry.raw_input, dict) else None
        return found or ([command] if isinstance(command, str) else [])
    return [entry.command] if isinstance(entry, Terminal) and entry.command else []


def file_location(entry: Entry) -> tuple[str, int | None] | None:
    """The file and line that an entry is about, if any."""
    if not isinstance(entry, ToolCall):
        return None
    for place in entry.locations:
        return place.path, place.line
    paths = [part.path for part in entry.content if isinstance(part, Diff)]
    return (paths[0], None) if paths else None


def first_media(entry: Entry) -> Content | None:
    """The first image, audio, link or resource in an entry."""
    parts = entry.content if isinstance(entry, ToolCall) else getattr(entry, "parts", [])
    kinds = ("image", "audio", "resource_link", "resource")
    return next((part for part in parts if isinstance(part, Content) and part.kind in kinds), None)


def command_output(terminal: Terminal) -> str:
    """A command and its output as plain text to attach; the middle of a long output is cut."""
    from acp_tui.ui.entries.terminal.output import OutputLines, omission_text, original_length

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
