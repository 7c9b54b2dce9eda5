"""Inline markup of a paragraph as styled text: emphasis, code spans, links and images."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from rich.segment import Segment
from rich.style import Style

from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

    from acp_tui.ui.theme.palette import Palette, Spans


SAFE_LINK = re.compile(r"(?:https?://|mailto:|file://)[!-~]+$", re.IGNORECASE)
"""URLs that are passed to the terminal as links. None of their characters can end the escape sequence."""
_BARE_LINK = re.compile(r"https?://[!-~]+")
_BREAK = re.compile(r" *<br */?> *", re.IGNORECASE)
_TRAILING_PUNCTUATION = ".,;:!?'\"*_~"


class Inline:
    """Collects the lines of one paragraph. Only hard breaks start another line."""

    def __init__(self, palette: Palette, style: Style) -> None:
        self.lines: list[Spans] = [[]]
        self._palette = palette
        self._base = style

    def add(self, nodes: Iterable[SyntaxTreeNode], style: Style | None = None, link: str = "") -> Inline:
        """Append nodes. If the nodes are inside a link, `link` is the target of that link."""
        style = self._base if style is None else style
        for node in nodes:
            self._node(node, style, link)
        return self

    def _node(self, node: SyntaxTreeNode, style: Style, link: str) -> None:
        palette = self._palette
        match node.type:
            case "text":
                self._text(node.content, style, link)
            case "strong":
                self.add(node.children, style + palette.strong, link)
            case "em":
                self.add(node.children, style + palette.emphasis, link)
            case "s":
                self.add(node.children, style + palette.strike, link)
            case "code_inline":
                self._put(node.content, style + palette.inline_code)
            case "softbreak":
                self._put(" ", style)
            case "hardbreak":
                self.lines.append([])
            case "link":
                self._link(node, style)
            case "image":
                self._image(node, style, link)
            case _:
                self._put(node.content, style)
                self.add(node.children, style, link)

    def _text(self, text: str, style: Style, link: str) -> None:
        for number, line in enumerate(_BREAK.split(text) if "<" in text else [text]):
            if number:
                self.lines.append([])
            if link or "://" not in line:
                self._put(line, style)
            else:
                self._with_links(line, style)

    def _with_links(self, text: str, style: Style) -> None:
        end = 0
        for match in _BARE_LINK.finditer(text):
            url = _trim_url(match[0])
            self._put(text[end : match.start()], style)
            self._put(url, link_style(style + self._palette.link, url))
            end = match.start() + len(url)
        self._put(text[end:], style)

    def _link(self, node: SyntaxTreeNode, style: Style) -> None:
        """Append the text of a link, and the target if the text is blank or can mislead.

        The text can mislead if it contains a URL but is not the URL of the target. The text can also mislead
        if the target is unsafe and differs from the text.
        """
        target = str(node.attrs.get("href", ""))
        shown = link_style(style + self._palette.link, target)
        outside, self.lines = self.lines, [[]]
        self.add(node.children, shown, link=target or "#")
        text = " ".join("".join(span.text for span in line) for line in self.lines)
        outside[-1] += self.lines[0]
        outside += self.lines[1:]
        self.lines = outside
        readable = escape_line(unquote(target))
        safe = SAFE_LINK.match(target) is not None
        if safe and ("://" not in text or _is_same_url(text, target)) and text.strip():
            return
        if target and text not in (readable, target):
            self._put(f" ({readable})" if text else readable, style + self._palette.dim)

    def _image(self, node: SyntaxTreeNode, style: Style, link: str) -> None:
        target = str(node.attrs.get("src", ""))
        name = node.content or unquote(target)
        self._put(f"[image: {name}]", link_style(style + self._palette.link, link or target))

    def _put(self, text: str, style: Style) -> None:
        if not text:
            return
        text = escape_line(text)  # entities can produce control characters
        line = self.lines[-1]
        if line and line[-1].style is style:
            line[-1] = Segment(line[-1].text + text, style)
        else:
            line.append(Segment(text, style))


def link_style(style: Style, url: str) -> Style:
    """Add a link to a style if the URL is safe: as a hyperlink of the terminal, and for clicks in the app."""
    if SAFE_LINK.match(url) is None:
        return style
    return style + Style(link=url, meta={"link": url})


def _is_same_url(text: str, url: str) -> bool:
    return unquote(text).rstrip("/").lower() == unquote(url).rstrip("/").lower()


def _trim_url(url: str) -> str:
    """Remove punctuation and unmatched closing brackets at the end, then cut at characters not in URLs."""
    while url and (
        url[-1] in _TRAILING_PUNCTUATION
        or (url[-1] == ")" and url.count(")") > url.count("("))
        or (url[-1] == "]" and url.count("]") > url.count("["))
    ):
        url = url[:-1]
    for end in ("`", "<", ">", '"', "|"):
        url = url.partition(end)[0]
    return url


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
    """Return the blocks of the text, or None if they are nested too deeply.

    With `inline`, the text is parsed as part of a paragraph, even if it looks like another block.
    """
    from markdown_it.tree import SyntaxTreeNode

    env = {"references": dict(references)}  # a copy, because the parser adds definitions
    tokens: list[Token] = parser().parseInline(text, env) if inline else parser().parse(text, env)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        return None
    return SyntaxTreeNode(tokens).children


def link_definitions(text: str) -> References:
    """Return the link reference definitions in text."""
    env: dict[str, Any] = {}
    parser().parse(text, env)
    found: References = env.get("references", {})
    return found
