"""Recognises which block a single line of Markdown starts, continues or ends."""

from __future__ import annotations

import re

_INDENT = re.compile(r"[ \t]*")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
LIST_ITEM = re.compile(r"(?:([-+*])|(\d{1,9})([.)]))(?:([ \t]+)(.*)|$)")
HEADING_UNDERLINE = re.compile(r"(?:-+|=+)[ \t]*$")
TABLE_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
LINK_DEFINITION = re.compile(r" {0,3}\[(?:[^]\\]|\\.)+\]:")
_PIPE = re.compile(r"(?<!\\)\|")
_QUOTE_MARKS = re.compile(r"[> ]*")


def block_start(content: str) -> str:
    """Return the kind of block that a line starts; "" for text. `content` is the line without indentation."""
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
    """Return True if the line is a list item that may follow a paragraph without a blank line."""
    match = LIST_ITEM.match(content)
    return match is not None and bool(match[5] and match[5].strip()) and match[2] in (None, "1")


def closes_fence(marker: str, content: str) -> bool:
    """Return True if the line closes a fence that was opened with `marker`."""
    content = content.rstrip(" \t")
    return len(content) >= len(marker) and not content.strip(marker[0])


def count_columns(row: str) -> int:
    """Return the number of cells in a table row."""
    row = row.strip(" \t")
    return len(_PIPE.findall(row.removeprefix("|"))) + (not row.endswith("|") or row.endswith("\\|"))


def expand_indent(line: str) -> str:
    """Replace tabs in the indentation by spaces."""
    match = _INDENT.match(line)
    assert match is not None
    return line if "\t" not in match[0] else match[0].expandtabs(4) + line[match.end() :]


def split_line_end(line: str) -> tuple[str, str]:
    """Split a line of a paragraph into text and line end: "\\n" for a hard break, otherwise a space."""
    text = line.rstrip(" ")
    if len(line) - len(text) >= 2:
        return text, "\n"
    backslashes = len(line) - len(line.rstrip("\\"))
    return (line[:-1], "\n") if backslashes % 2 else (text, " ")


def split_quote_marks(content: str) -> tuple[str, str]:
    """Split a line of a quote into the `>` marks and the text."""
    match = _QUOTE_MARKS.match(content)
    assert match is not None
    return match[0], content[match.end() :]


def starts_block_in_quote(before: str, content: str) -> bool:
    """Return True if a long quote can be cut between two of its lines, `before` and `content`.

    It can be cut next to an empty line, before a block that `block_start` recognises, and after a heading, a
    rule or a fence. It is never cut before an indented line or a line without `>`.
    """
    _, text_before = split_quote_marks(before)
    marks, text = split_quote_marks(content)
    if not marks or marks.endswith("  "):  # a lazy continuation line, or part of a list item
        return False
    if not text or not text_before:
        return True
    return block_start(text) != "" or block_start(text_before) in ("heading", "rule", "fence")
