"""The Markdown parser, made once and when it is first needed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

MAX_NESTING = 60
"""Levels of quotes and lists in each other; what is deeper the parser would leave out."""

References = dict[str, dict[str, Any]]
"""Where links go that are defined elsewhere in the text."""


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough. HTML is text like any other."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    made.enable(["table", "strikethrough"])
    made.normalizeLink = _quoted  # type: ignore[method-assign]
    made.validateLink = _any_link  # type: ignore[method-assign]
    return made


def _any_link(url: str) -> bool:  # noqa: ARG001  # the parser's signature
    """What may be a link in the terminal is decided where links are drawn; their text is text in any case."""
    return True


def _quoted(url: str) -> str:
    """The parser's own way takes apart and puts together each link, which is most of the cost of parsing."""
    return quote(url, safe="%!#$&'()*+,/:;=?@[]~-._")


def parse(text: str, references: References, *, inline: bool = False) -> list[SyntaxTreeNode] | None:
    """The blocks of a text, or of one paragraph whatever it looks like; None: it is too deep to be parsed."""
    from markdown_it.tree import SyntaxTreeNode

    env = {"references": dict(references)}  # a copy: `definitions` decides what is defined
    tokens: list[Token] = parser().parseInline(text, env) if inline else parser().parse(text, env)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return None
    return SyntaxTreeNode(tokens).children


def link_definitions(text: str) -> References:
    """The links that a text defines."""
    env: dict[str, Any] = {}
    parser().parse(text, env)
    found: References = env.get("references", {})
    return found
