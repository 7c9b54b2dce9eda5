"""What a single line of Markdown says: what begins with it, or ends, and where it may be cut."""

from __future__ import annotations

import re

_INDENT = re.compile(r"[ \t]*")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
LIST_ITEM = re.compile(r"(?:([-+*])|(\d{1,9})([.)]))(?:([ \t]+)(.*)|$)")
HEADING_UNDERLINE = re.compile(r"(?:-+|=+)[ \t]*$")
TABLE_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_PIPE = re.compile(r"(?<!\\)\|")
_SENTENCE_END = re.compile(r"[.!?:;] |[。！？]")


def block_start(content: str) -> str:
    """What a line begins, whose indent is taken away; "": text."""
    if content[0] == ">":
        return "quote"
    if _HEADING.match(content):
        return "heading"
    if FENCE.match(content):
        return "fence"
    if _RULE.match(content):
        return "rule"
    return "item" if LIST_ITEM.match(content) else ""


def interrupts(content: str) -> bool:
    """May this item follow a paragraph without a blank line?"""
    match = LIST_ITEM.match(content)
    return match is not None and bool(match[5] and match[5].strip()) and match[2] in (None, "1")


def closes_fence(marker: str, content: str) -> bool:
    """Is this the end of a fence that began with the marker?"""
    content = content.rstrip(" \t")
    return len(content) >= len(marker) and not content.strip(marker[0])


def count_columns(row: str) -> int:
    """How many cells a row of a table has."""
    row = row.strip(" \t")
    return len(_PIPE.findall(row.removeprefix("|"))) + (not row.endswith("|") or row.endswith("\\|"))


def expand_indent(line: str) -> str:
    """The line with the tabs of its indent as spaces."""
    match = _INDENT.match(line)
    assert match is not None
    return line if "\t" not in match[0] else match[0].expandtabs(4) + line[match.end() :]


def cut_position(line: str) -> int:
    """Where a long line is cut: after a sentence, else after a word."""
    half = len(line) // 2
    ends = [match.end() for match in _SENTENCE_END.finditer(line, half)]
    return ends[-1] if ends else line.rfind(" ", half) + 1 or len(line)
