"""Attachments of a prompt: mentions of files (`@src/app.py:10-20`), images, command output, resources.

A name is a mention only if the file exists, because prompts also contain `@property` and `@alice`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from acp_tui.session.safe_text import escape_line


class FileMention(NamedTuple):
    """A file or folder, optionally limited to a range of lines (1-based)."""

    token: str  # as written in the prompt
    path: str  # as written: relative to the working directory, absolute, or with `~`
    first: int | None = None
    last: int | None = None


class Picture(NamedTuple):
    """An image that is not a file, such as a pasted one."""

    token: str
    data: bytes
    mime: str


class CommandOutput(NamedTuple):
    """The output of a command."""

    token: str
    command: str
    text: str


class ServerResource(NamedTuple):
    """A resource of an MCP server. The resource is read when the prompt is sent."""

    token: str  # as written in the prompt
    server: str
    uri: str


class EmbeddedText(NamedTuple):
    """Text with an address, such as a resource that came with a prompt of an MCP server."""

    token: str
    uri: str
    text: str
    mime: str


class EarlierConversation(NamedTuple):
    """The text of an earlier conversation. The agent does not know that conversation."""

    token: str
    text: str


KeptAttachment = Picture | CommandOutput | EmbeddedText | EarlierConversation
"""An attachment whose content exists only in the prompt."""
Attachment = FileMention | ServerResource | KeptAttachment

OUTPUT_SCHEME = "terminal:"
"""URI scheme of command output, which is not a file."""
CONVERSATION_URI = "conversation:earlier"
"""URI of the text of an earlier conversation, which is not a file."""

# The patterns are not compiled at import, because the first frame does not need them.
_MENTION = (
    r"""(?<![^\s(\[{<"'`])@"""
    r"""(?:"(?P<quoted>(?:[^"\\\n]|\\.)+)"(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?|(?P<word>[^\s"]+))"""
)
_LINES = r"(?s)(.+):(\d{1,9})(?:-(\d{1,9}))?"
_SENTENCE_MARKS = ".,;:!?)]}>'`"  # may follow a name in a sentence
_PARTIAL_MENTION = r"""(?:^|(?<=[\s(\[{<"'`]))@(?:"(?P<quoted>(?:[^"\\]|\\.)*)|(?P<word>[^\s"]*))$"""
_ESCAPED = r"""\\[\\"nt]|(?:\\x[0-9a-f]{2})+"""
_PARTIAL_LINES = r":(\d{0,9}(?:-\d{0,9})?)$"


class Mention(NamedTuple):
    """A mention and its position in the text."""

    start: int
    end: int
    file: FileMention


def find_mentions(text: str, exists: Callable[[str], bool]) -> Iterator[Mention]:
    """Yield the mentions of files in the text, in order. `exists` returns whether a path exists."""
    if "@" not in text:
        return
    for found in re.finditer(_MENTION, text):
        mention = _quoted(found, exists) if found["quoted"] else _word(found, exists)
        if mention is not None:
            yield mention


def _quoted(found: re.Match[str], exists: Callable[[str], bool]) -> Mention | None:
    for path in dict.fromkeys((_unescape(found["quoted"]), found["quoted"])):
        if exists(path):
            return _mention(found.start(), found[0], path, found["first"], found["last"])
    return None


def _word(found: re.Match[str], exists: Callable[[str], bool]) -> Mention | None:
    """Return the mention in an unquoted word; None if the mentioned file does not exist.

    Punctuation at the end of the word is left out if the file exists only without it.
    """
    for word in dict.fromkeys((found["word"], found["word"].rstrip(_SENTENCE_MARKS))):
        lines = re.fullmatch(_LINES, word)
        if lines is not None and exists(lines[1]):
            return _mention(found.start(), f"@{word}", *lines.groups())
        if word and exists(word):
            return _mention(found.start(), f"@{word}", word, None, None)
    return None


def _mention(start: int, token: str, path: str, first: str | None, last: str | None) -> Mention:
    if first is None:
        return Mention(start, start + len(token), FileMention(token, path))
    low, high = sorted((int(first), int(last or first)))
    return Mention(start, start + len(token), FileMention(token, path, max(1, low), max(1, high)))


class PartialMention(NamedTuple):
    """An incomplete mention at the cursor."""

    start: int  # index of its @
    name: str
    lines: str  # the line range so far, such as `:10-20`


def partial_mention(before: str) -> PartialMention | None:
    """Return the incomplete mention at the end of `before` (the text up to the cursor), or None."""
    if "@" not in before or (found := re.search(_PARTIAL_MENTION, before)) is None:
        return None
    if found["quoted"] is not None:
        return PartialMention(found.start(), _unescape(found["quoted"]), "")
    name: str = found["word"]
    lines = re.search(_PARTIAL_LINES, name)
    return (
        PartialMention(found.start(), name[: lines.start()], lines[0])
        if lines
        else PartialMention(found.start(), name, "")
    )


def format_mention(path: str, lines: str = "") -> str:
    """Return the mention of a path for a prompt, such as `@a.py:10-20`; with quotes if necessary."""
    name = _escape(path)
    needs_quotes = any(char.isspace() for char in path) or path[-1:] in _SENTENCE_MARKS
    # Without quotes, the end of the name would be read as a line range.
    needs_quotes = needs_quotes or (not lines and re.fullmatch(_LINES, path) is not None)
    # Only names in quotes have escapes. A backslash needs no quotes.
    needs_quotes = needs_quotes or name.replace(r"\\", "\\") != path
    return f'@"{name}"{lines}' if needs_quotes else f"@{path}{lines}"


_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t"}
_ESCAPED_CHARACTERS = {escape: char for char, escape in _ESCAPES.items()}


def _escape(path: str) -> str:
    """Escape a path for use in quotes. Characters that cannot be typed or shown become hex escapes."""
    return "".join(
        _ESCAPES.get(char) or (char if escape_line(char) == char else _byte_escapes(char)) for char in path
    )


def _byte_escapes(char: str) -> str:
    return "".join(rf"\x{byte:02x}" for byte in char.encode(errors="surrogateescape"))


def _unescape(name: str) -> str:
    return re.sub(_ESCAPED, _unescape_match, name) if "\\" in name else name


def _unescape_match(found: re.Match[str]) -> str:
    if found[0] in _ESCAPED_CHARACTERS:
        return _ESCAPED_CHARACTERS[found[0]]
    return bytes.fromhex(found[0].replace(r"\x", "")).decode(errors="surrogateescape")
