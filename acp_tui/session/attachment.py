"""Attachments of a prompt: file mentions (`@src/app.py:10-20`), pictures, command output.

A name counts as a mention only when there is such a file: people also write `@property` and `@alice`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from acp_tui.session.text import visible_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class FileMention(NamedTuple):
    """A file or folder, optionally limited to a range of lines (1-based)."""

    token: str  # as written in the prompt
    path: str  # as it was written: below the working directory, absolute, or with `~`
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


Attachment = FileMention | Picture | CommandOutput

OUTPUT_SCHEME = "terminal:"
"""URI scheme of command output, which is not a file."""

# Not compiled at import: the first frame does not need them.
_MENTION = (
    r"""(?<![^\s(\[{<"'`])@"""
    r"""(?:"(?P<quoted>(?:[^"\\\n]|\\.)+)"(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?|(?P<word>[^\s"]+))"""
)
_LINES = r"(?s)(.+):(\d{1,9})(?:-(\d{1,9}))?"
_BEHIND = ".,;:!?)]}>'`"  # what follows a name in a sentence
_BEGUN = r"""(?:^|(?<=[\s(\[{<"'`]))@(?:"(?P<quoted>(?:[^"\\]|\\.)*)|(?P<word>[^\s"]*))$"""
_ESCAPED = r"""\\[\\"nt]|(?:\\x[0-9a-f]{2})+"""
_ASKED_LINES = r":(\d{0,9}(?:-\d{0,9})?)$"


class Mention(NamedTuple):
    """A mention and its position in the text."""

    start: int
    end: int
    file: FileMention


def find_mentions(text: str, exists: Callable[[str], bool]) -> Iterator[Mention]:
    """Yield the files that the text mentions, in order."""
    if "@" not in text:
        return
    for found in re.finditer(_MENTION, text):
        mention = _quoted(found, exists) if found["quoted"] else _word(found, exists)
        if mention is not None:
            yield mention


def _quoted(found: re.Match[str], exists: Callable[[str], bool]) -> Mention | None:
    for path in dict.fromkeys((_unescaped(found["quoted"]), found["quoted"])):
        if exists(path):
            return _mention(found.start(), found[0], path, found["first"], found["last"])
    return None


def _word(found: re.Match[str], exists: Callable[[str], bool]) -> Mention | None:
    """A name without quotes may end before the word does."""
    whole = found["word"]
    for word in dict.fromkeys((whole, whole.rstrip(_BEHIND))):
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
    """Return the incomplete mention at the end of the text before the cursor, or None."""
    if "@" not in before or (found := re.search(_BEGUN, before)) is None:
        return None
    if found["quoted"] is not None:
        return PartialMention(found.start(), _unescaped(found["quoted"]), "")
    name: str = found["word"]
    lines = re.search(_ASKED_LINES, name)
    return (
        PartialMention(found.start(), name[: lines.start()], lines[0])
        if lines
        else PartialMention(found.start(), name, "")
    )


def format_mention(path: str, lines: str = "") -> str:
    """Return the mention of a path as it is written in a prompt, quoted if necessary."""
    name = _escaped(path)
    plain = not any(char.isspace() for char in path) and path[-1:] not in _BEHIND
    # What could be taken for lines is none of them when it stands in quotes.
    plain = plain and (bool(lines) or not re.fullmatch(_LINES, path))
    # Outside of quotes a backslash is a character like any other.
    plain = plain and name.replace(r"\\", "\\") == path
    return f"@{path}{lines}" if plain else f'@"{name}"{lines}'


_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t"}
_MEANT = {escape: char for char, escape in _ESCAPES.items()}


def _escaped(path: str) -> str:
    """A name as it stands in quotes: what cannot be written or shown is there as its bytes."""
    return "".join(
        _ESCAPES.get(char) or (char if visible_line(char) == char else _bytes(char)) for char in path
    )


def _bytes(char: str) -> str:
    return "".join(rf"\x{byte:02x}" for byte in char.encode(errors="surrogateescape"))


def _unescaped(name: str) -> str:
    return re.sub(_ESCAPED, _meant, name) if "\\" in name else name


def _meant(found: re.Match[str]) -> str:
    if found[0] in _MEANT:
        return _MEANT[found[0]]
    return bytes.fromhex(found[0].replace(r"\x", "")).decode(errors="surrogateescape")
