"""Export a conversation as Markdown, for GitHub and similar renderers and for reading as plain text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from acp_tui.diffing.diff_text import diff_lines
from acp_tui.entry_display import KIND_ICONS, OTHER_ICON, STATUS_ICONS, call_title, default_folded
from acp_tui.export.pieces import (
    Piece,
    call_facts,
    call_pieces,
    content_facts,
    document_title,
    exit_fact,
    header_facts,
    is_cleared,
    short_entry,
    terminal_title,
    thought_title,
    working_folder,
)
from acp_tui.export.safe_markdown import code_block, code_span, contain, escape_markdown
from acp_tui.export.terminal_output import output_text
from acp_tui.session.raw_entry import failure_note, raw_text
from acp_tui.session.state import (
    AgentMessage,
    Content,
    Message,
    Plan,
    Terminal,
    Thought,
    ToolCall,
    UserMessage,
)
from acp_tui.session.text import GrowingText, visible_json, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_tui.export.metadata import SessionMetadata
    from acp_tui.session.state import Entry, Session

_CHECKBOXES = {"completed": "[x]"}


def as_markdown(session: Session, metadata: SessionMetadata) -> str:
    """Return the Markdown document."""
    known = "  \n".join(
        f"**{label}:** {escape_markdown(text)}" for label, text in header_facts(session, metadata)
    )
    blocks = [f"# {escape_markdown(document_title(session, metadata))}", known]
    writer = _Writer(session, working_folder(session, metadata), _name(session, metadata))
    for entry in session.entries:
        try:
            blocks += list(writer.blocks(entry))
        except Exception as error:  # one entry must not cost the whole document
            blocks += [escape_markdown(failure_note(entry, error)), code_block(raw_text(entry))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _name(session: Session, metadata: SessionMetadata) -> str:
    agent = session.agent
    return visible_line(metadata.agent or (agent and (agent.title or agent.name)) or "Agent")


class _Writer:
    """Renders the entries of one session as Markdown blocks."""

    def __init__(self, session: Session, cwd: str, agent: str) -> None:
        self._session = session
        self._cwd = cwd
        self._agent = agent
        self._speaker: object = None

    def blocks(self, entry: Entry) -> Iterator[str]:
        """Yield the blocks of one entry; the caller separates them with blank lines."""
        match entry:
            case UserMessage():
                self._speaker = UserMessage
                yield "## You"
                yield from _blockquote(self._parts(entry, plain=True))
            case AgentMessage():
                yield from self._heading()
                yield from self._parts(entry)
            case Thought():
                yield from self._heading()
                yield from _details(_in_tag(thought_title(entry)), self._parts(entry))
            case ToolCall():
                yield from self._heading()
                yield from self._call(entry)
            case Plan():
                yield from _plan(entry)
            case Terminal():
                if entry.terminal_id not in self._session.terminal_calls:
                    if entry.owner == "user":
                        yield "*Your command:*"
                    yield _terminal(entry, terminal_title(entry, self._cwd))
            case _:
                yield from self._short_entry(entry)

    def _heading(self) -> Iterator[str]:
        if self._speaker is not AgentMessage:
            self._speaker = AgentMessage
            yield f"## {escape_markdown(self._agent)}"

    def _parts(self, message: Message, *, plain: bool = False) -> Iterator[str]:
        for part in message.parts:
            if isinstance(part, GrowingText):
                yield _user_text(str(part)) if plain else contain(str(part))
            else:
                yield from _content(part)

    def _call(self, call: ToolCall) -> Iterator[str]:
        sign = STATUS_ICONS.get(call.status) or visible_line(call.status)
        beside = " · ".join([*call_facts(call), sign])
        name = call_title(call, self._cwd)
        icon = KIND_ICONS.get(call.kind, OTHER_ICON)
        blocks = [block for piece in call_pieces(call, self._session, self._cwd) for block in _piece(piece)]
        if blocks and default_folded(call):
            yield from _details(f"{icon} {_in_tag(name)} · {_in_tag(beside)}", iter(blocks))
        else:
            shown = code_span(name) if call.kind == "execute" else f"**{escape_markdown(name)}**"
            yield f"{icon} {shown} {escape_markdown(f'· {beside}')}"
            yield from blocks

    def _short_entry(self, entry: Entry) -> Iterator[str]:
        found = short_entry(entry, self._session, self._cwd)
        if found is None:
            return
        if found.detail:
            yield from _details(_in_tag(f"{found.sign} {found.text}"), iter([code_block(found.detail)]))
        else:
            yield f"*{found.sign} {escape_markdown(found.text)}*"


def _piece(piece: Piece) -> Iterator[str]:
    match piece.sort:
        case "places":
            yield "\n".join(f"- {escape_markdown(place)}" for place in piece.what)
        case "command":
            yield code_block(piece.what, "sh")
        case "diff":
            yield f"{escape_markdown(piece.label)}:"
            yield code_block("\n".join(diff_lines(piece.what, piece.first)), "diff")
        case "terminal":
            yield _terminal(piece.what, piece.label)
        case "content" if piece.what.kind == "text" and not piece.what.text.lstrip().startswith("```"):
            yield code_block(piece.what.text)
        case "content":
            yield from _content(piece.what)
        case "raw":
            yield f"{piece.label}:"
            yield code_block(piece.what)


def _terminal(terminal: Terminal, name: str) -> str:
    return code_block(f"{name}\n{output_text(terminal.output)}[{exit_fact(terminal)}]", "console")


def _content(content: Content) -> Iterator[str]:
    """Show text in full; describe images, audio and other content in a line."""
    if content.kind == "text":
        yield contain(content.text)
        return
    where = f" {escape_markdown(visible_line(content.uri))}" if content.uri else ""
    yield f"*[{escape_markdown(content_facts(content))}]*{where}"
    if content.text:
        yield code_block(content.text)
    if content.raw is not None:
        yield code_block(visible_json(content.raw), "json")


def _plan(plan: Plan) -> Iterator[str]:
    if is_cleared(plan):
        yield "*The plan was cleared*"
        return
    yield "**Plan**"
    if plan.items:
        yield "\n".join(
            f"- {_CHECKBOXES.get(item.status, '[ ]')} {escape_markdown(visible_line(item.content))}"
            + (" *(in progress)*" if item.status == "in_progress" else "")
            for item in plan.items
        )
    if plan.markdown:
        yield contain(plan.markdown)
    if plan.uri:
        yield escape_markdown(visible_line(plan.uri))


# --------------------------------------------------------------------------- helpers


def _in_tag(text: str) -> str:
    """Escape a text for use inside an HTML tag, where Markdown is not parsed."""
    return escape(" ".join(text.split()), quote=False)


def _details(summary: str, blocks: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def _user_text(text: str) -> str:
    """Escape the user's text and keep its line breaks."""
    return "  \n".join(escape_markdown(line) for line in text.split("\n"))


def _blockquote(blocks: Iterator[str]) -> Iterator[str]:
    text = "\n\n".join(block for block in blocks if block)
    yield "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))
