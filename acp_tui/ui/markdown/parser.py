"""The Markdown parser, created when it is first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

MAX_NESTING = 60
"""The maximum depth of nested quotes and lists. The parser would drop text that is nested more deeply."""

References = dict[str, dict[str, Any]]
"""Link reference definitions, by label."""


@cache
def parser() -> MarkdownIt:
    """Return a parser for CommonMark with tables and strikethrough. HTML is treated as text."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    made.enable(["table", "strikethrough"])
    made.normalizeLink = _percent_encode  # type: ignore[method-assign]
    made.validateLink = _accept_link  # type: ignore[method-assign]
    return made


def _accept_link(url: str) -> bool:  # noqa: ARG001  # the parser's signature
    """Accept every URL. `inline.link_style` decides which URLs become links in the terminal."""
    return True


def _percent_encode(url: str) -> str:
    """Percent-encode a URL. The parser's own function would be the slowest part of parsing links."""
    return quote(url, safe="%!#$&'()*+,/:;=?@[]~-._")


def parse(text: str, references: References, *, inline: bool = False) -> list[SyntaxTreeNode] | None:
    """Return the blocks of a text, or None if they are nested too deeply.

    With `inline`, the text is parsed as part of a paragraph, even if it looks like another block.
    """
    from markdown_it.tree import SyntaxTreeNode

    env = {"references": dict(references)}  # a copy, because the parser adds definitions
    tokens: list[Token] = parser().parseInline(text, env) if inline else parser().parse(text, env)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return None
    return SyntaxTreeNode(tokens).children


def link_definitions(text: str) -> References:
    """Return the link reference definitions in a text."""
    env: dict[str, Any] = {}
    parser().parse(text, env)
    found: References = env.get("references", {})
    return found
