"""Embeds untrusted Markdown in a document so that the Markdown cannot affect the text around it.

HTML is disabled, because a `</details>` from an agent would close an element of the document. A code fence
left open is closed. The Markdown is parsed to find its code; outside code, an unescaped `<` becomes `&lt;`,
so that even a renderer that allows HTML finds none. Such a renderer can also keep `javascript:` links.
Therefore all links of a text with such a link become plain text. Text that defines such a link becomes a
code block.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING = 60
"""The maximum depth of nested quotes and lists. Text with deeper nesting is shown without formatting."""
_SPECIAL = re.compile(r"[\\`*\[\]|<>~$]|&(?=[#\w])|(?<!\w)_|_(?!\w)")
_SPECIAL_AT_START = re.compile(r"(?:[#+=:-]|\d+(?=[.)]))")
_STEP = re.compile(r"\\.|(?P<ticks>`+)|(?P<less><)|[^\\`<]+|.", re.DOTALL)
_LINE_START = re.compile(r"(\n[ \t>]*)<")
_CELL = re.compile(r"(?<!\\)\|")
_SCRIPT_SCHEME = re.compile("(?:javascript|vbscript):", re.IGNORECASE)
# Blanks and control characters, percent-encoded by the parser. Browsers ignore these characters in a scheme.
_ENCODED_BLANK = re.compile("%(?:[01][0-9a-f]|20)", re.IGNORECASE)


@cache
def parser() -> MarkdownIt:
    """Return a parser for CommonMark with tables and strikethrough, without HTML."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.validateLink = _accept_link  # type: ignore[method-assign]
    return parser.enable(["table", "strikethrough"])


def _accept_link(url: str) -> bool:  # noqa: ARG001  # the parser's signature
    """Accept every link. `as_html` later turns unsafe links into plain text."""
    return True


def parse_blocks(text: str, env: dict[str, Any] | None = None) -> list[Token] | None:
    """Return the tokens of a Markdown text; None if they are nested too deeply, see `MAX_NESTING`.

    The link definitions of the text are added to `env`, under "references".
    """
    tokens = parser().parse(text, env)
    return None if any(token.level >= MAX_NESTING - 1 for token in tokens) else tokens


def contain(text: str) -> str:
    """Return Markdown that cannot affect the document around it."""
    if not text.strip():
        return ""
    text = text.strip("\n")
    env: dict[str, Any] = {}
    tokens = parse_blocks(text, env)
    if tokens is None or any(_runs_script(each["href"]) for each in env.get("references", {}).values()):
        return code_block(text)
    inline = [each.attrs for token in tokens for each in token.children or ()]
    disarm = any(_runs_script(attrs.get(name)) for attrs in inline for name in ("href", "src"))
    escape = partial(_escape_html, disarm=disarm)
    lines = text.split("\n")
    code: set[int] = set()
    done: set[int] = set()
    in_table = 0
    for token in tokens:
        first, end = token.map or (0, 0)
        if token.type in ("fence", "code_block"):
            code.update(range(first, end))
        elif token.type in ("table_open", "table_close"):
            in_table += token.nesting
        elif token.type == "inline" and first not in done:
            done.update(range(first, end))
            block = "\n".join(lines[first:end])
            escaped = _escape_cells(block, escape) if in_table else escape(block)
            lines[first:end] = escaped.split("\n")
    for number, line in enumerate(lines):
        if number not in code and number not in done:
            lines[number] = line.replace("<", "&lt;")
    return "\n".join([*lines, *_closing_fence(tokens, lines)])


def _runs_script(url: object) -> bool:
    return _SCRIPT_SCHEME.match(_ENCODED_BLANK.sub("", str(url))) is not None


def _closing_fence(tokens: list[Token], lines: list[str]) -> list[str]:
    """Return the line that closes a code block left open at the end of the text; [] if none is open.

    Without that line, the rest of the document would be shown as code.
    """
    fences = [token for token in tokens if token.type == "fence"]
    if not fences or fences[-1].map is None:
        return []
    token, fence = fences[-1], fences[-1].markup
    first, end = fences[-1].map
    last = next((number for number in range(len(lines) - 1, -1, -1) if lines[number].strip()), 0)
    closes = re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*", lines[end - 1])
    closed = end - 1 > first and closes is not None
    return [fence] if token.level == 0 and end > last and not closed else []


def _escape_cells(rows: str, escape: Callable[[str], str]) -> str:
    """Escape table rows cell by cell, because a code span cannot extend into the next cell."""
    return "\n".join("|".join(map(escape, _CELL.split(row))) for row in rows.split("\n"))


def _escape_html(text: str, *, disarm: bool) -> str:
    """Return Markdown without HTML and, if `disarm` is true, without links."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        assert step is not None
        at = step.end()
        if step["less"]:
            pieces.append("&lt;")
        elif step["ticks"] and (end := _code_span_end(text, at, step["ticks"])):
            # A line that begins with a tag is HTML even within a code span that began on an earlier line.
            pieces.append(_LINE_START.sub(r"\1&lt;", text[step.start() : end]))
            at = end
        elif disarm and step[0][0] != "\\":
            pieces.append(step[0].replace("]", r"\]"))
        else:
            pieces.append(step[0])
    return "".join(pieces)


def _code_span_end(text: str, start: int, ticks: str) -> int:
    """Return the end of the code span opened by these backticks; 0 if it is never closed."""
    closing = re.compile(rf"(?<!`){ticks}(?!`)").search(text, start)
    return closing.end() if closing else 0


def escape_markdown(text: str) -> str:
    """Return text on one line, escaped so that Markdown shows it literally."""
    line = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
    start = _SPECIAL_AT_START.match(line)
    if start is None:
        return line
    at = start.end() if line[0].isdigit() else 0
    return f"{line[:at]}\\{line[at:]}"


def code_span(text: str) -> str:
    """Return the text as a code span, on one line."""
    line = " ".join(text.split())
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line[:1] == "`" or line[-1:] == "`" else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def code_block(text: str, language: str = "") -> str:
    """Return the text as a fenced code block; the fence is longer than any in the text."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
