"""A conversation as Markdown, for GitHub and similar renderers, readable as plain text too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from acp_tui.diffing.patch import diff_lines
from acp_tui.entry_kinds.blocks import (
    Aside,
    Block,
    Code,
    ContentBlock,
    DiffBlock,
    FileList,
    FoldBlock,
    Headline,
    Link,
    MarkdownText,
    Part,
    PlainText,
    SectionBlock,
    Speech,
    Steps,
    TerminalBlock,
)
from acp_tui.entry_labels import STATUS_ICONS
from acp_tui.export.document import (
    SessionMetadata,
    agent_name,
    content_label,
    document_title,
    header_facts,
    output_text,
    write_entries,
)
from acp_tui.export.safe_markdown import code_block, code_span, contain, escape_markdown
from acp_tui.session.safe_text import escape_line, visible_json

if TYPE_CHECKING:
    from acp_tui.session.state import PlanItem, Session

_CHECKBOXES = {"completed": "[x]"}


def as_markdown(session: Session, metadata: SessionMetadata) -> str:
    facts = "  \n".join(
        f"**{label}:** {escape_markdown(text)}" for label, text in header_facts(session, metadata)
    )
    paragraphs = [f"# {escape_markdown(document_title(session, metadata))}", facts]
    writer = _Writer(agent_name(session, metadata))
    return _joined([*paragraphs, *write_entries(session, metadata, writer.write, _failure)]) + "\n"


def _failure(note: str, text: str) -> str:
    return _joined([escape_markdown(note), code_block(text)])


def _joined(paragraphs: Iterable[str]) -> str:
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


class _Writer:
    """Renders blocks as paragraphs, with a heading where the speaker changes."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._speaker = ""

    def write(self, block: Block, _is_dimmed: bool) -> str:
        """Return the paragraphs of one block."""
        return _joined(self._block(block))

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Speech("user", parts):
                self._speaker = "user"
                yield "## You"
                yield _blockquote(_parts(parts))
            case Speech(_, parts):
                yield from self._agent_heading()
                yield from _parts(parts)
            case FoldBlock(headline, parts, folded):
                yield from self._agent_heading()
                yield from _fold(headline, parts, folded=folded)
            case SectionBlock(title, parts):
                yield f"**{title}**" if title else ""
                yield from _parts(parts)
            case Aside(_, sign, text, detail) if detail:
                yield from _details(_in_tag(f"{sign} {text}"), [code_block(detail)])
            case Aside(_, sign, text, _):
                yield f"*{sign} {escape_markdown(text)}*"

    def _agent_heading(self) -> Iterator[str]:
        if self._speaker != "agent":
            self._speaker = "agent"
            yield f"## {escape_markdown(self._agent)}"


def _fold(headline: Headline, parts: Sequence[Part], *, folded: bool) -> Iterator[str]:
    facts = list(headline.facts)
    if headline.status:
        facts.append(STATUS_ICONS.get(headline.status) or escape_line(headline.status))
    beside = " · ".join(facts)
    if parts and folded:
        words = [headline.icon, _in_tag(headline.title), f"· {_in_tag(beside)}" if beside else ""]
        yield from _details(" ".join(filter(None, words)), _parts(parts))
        return
    title = code_span(headline.title) if headline.is_command else f"**{escape_markdown(headline.title)}**"
    yield " ".join(filter(None, [headline.icon, title, escape_markdown(f"· {beside}") if beside else ""]))
    yield from _parts(parts)


def _parts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    match part:
        case PlainText(text):
            yield _with_line_breaks(text)
        case MarkdownText(text):
            yield contain(text)
        case ContentBlock():
            yield from _content(part)
        case Code(text, language, label):
            yield f"{label}:" if label else ""
            yield code_block(text, language)
        case DiffBlock(diff, label, first_line):
            yield f"{escape_markdown(label)}:"
            yield code_block("\n".join(diff_lines(diff, first_line)), "diff")
        case TerminalBlock(output, command, end):
            yield code_block(f"{command}\n{output_text(output)}[{end}]", "console")
        case FileList(files):
            yield "\n".join(f"- {escape_markdown(file)}" for file in files)
        case Steps(items):
            yield "\n".join(map(_step, items))
        case Link(uri):
            yield escape_markdown(escape_line(uri))


def _content(block: ContentBlock) -> Iterator[str]:
    """Yield the paragraphs of a content block. Images, audio and the like are described in a line."""
    content = block.content
    if content.kind == "text":
        is_output = block.verbatim and not content.text.lstrip().startswith("```")
        yield code_block(content.text) if is_output else contain(content.text)
        return
    where = f" {escape_markdown(escape_line(content.uri))}" if content.uri else ""
    yield f"*[{escape_markdown(content_label(content))}]*{where}"
    if content.text:
        yield code_block(content.text)
    if content.raw is not None:
        yield code_block(visible_json(content.raw), "json")


def _step(item: PlanItem) -> str:
    in_progress = " *(in progress)*" if item.status == "in_progress" else ""
    text = escape_markdown(escape_line(item.content))
    return f"- {_CHECKBOXES.get(item.status, '[ ]')} {text}{in_progress}"


# --------------------------------------------------------------------------- helpers


def _in_tag(text: str) -> str:
    """Escape text for use inside an HTML element, where Markdown is not parsed."""
    return escape(" ".join(text.split()), quote=False)


def _details(summary: str, paragraphs: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield from paragraphs
    yield "</details>"


def _with_line_breaks(text: str) -> str:
    return "  \n".join(escape_markdown(line) for line in text.split("\n"))


def _blockquote(paragraphs: Iterable[str]) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in _joined(paragraphs).split("\n"))
