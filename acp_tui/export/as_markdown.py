"""The conversation as Markdown that reads well where it is shown, GitHub among others, and as plain text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from acp_tui.diffing.diff_text import diff_lines
from acp_tui.entry_display import ICONS, OTHER, STATUS, default_folded, title_of
from acp_tui.export.output import output_text
from acp_tui.export.pieces import (
    Piece,
    call_facts,
    call_pieces,
    cleared,
    content_facts,
    exit_fact,
    facts,
    folder,
    said,
    terminal_title,
    thought_title,
    title,
)
from acp_tui.export.safe_markdown import code_span, contained, fenced, literal
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

    from acp_tui.export import About
    from acp_tui.session.state import Entry, Session

_BOXES = {"completed": "[x]"}


def as_markdown(session: Session, about: About) -> str:
    """The document."""
    known = "  \n".join(f"**{label}:** {literal(text)}" for label, text in facts(session, about))
    blocks = [f"# {literal(title(session, about))}", known]
    writer = _Writer(session, folder(session, about), _name(session, about))
    for entry in session.entries:
        try:
            blocks += list(writer.blocks(entry))
        except Exception as error:  # one entry must not cost the whole document
            blocks += [literal(failure_note(entry, error)), fenced(raw_text(entry))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _name(session: Session, about: About) -> str:
    agent = session.agent
    return visible_line(about.agent or (agent and (agent.title or agent.name)) or "Agent")


class _Writer:
    """Each entry in blocks."""

    def __init__(self, session: Session, cwd: str, agent: str) -> None:
        self._session = session
        self._cwd = cwd
        self._agent = agent
        self._speaker: object = None

    def blocks(self, entry: Entry) -> Iterator[str]:
        """The blocks of one entry; blank lines come between them."""
        match entry:
            case UserMessage():
                self._speaker = UserMessage
                yield "## You"
                yield from _quoted(self._parts(entry, plain=True))
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
                        yield "*A command of yours:*"
                    yield _terminal(entry, terminal_title(entry, self._cwd))
            case _:
                yield from self._said(entry)

    def _heading(self) -> Iterator[str]:
        if self._speaker is not AgentMessage:
            self._speaker = AgentMessage
            yield f"## {literal(self._agent)}"

    def _parts(self, message: Message, *, plain: bool = False) -> Iterator[str]:
        for part in message.parts:
            if isinstance(part, GrowingText):
                yield _as_typed(str(part)) if plain else contained(str(part))
            else:
                yield from _content(part)

    def _call(self, call: ToolCall) -> Iterator[str]:
        sign = STATUS.get(call.status) or visible_line(call.status)
        beside = " · ".join([*call_facts(call), sign])
        name = title_of(call, self._cwd)
        icon = ICONS.get(call.kind, OTHER)
        blocks = [block for piece in call_pieces(call, self._session, self._cwd) for block in _piece(piece)]
        if blocks and default_folded(call):
            yield from _details(f"{icon} {_in_tag(name)} · {_in_tag(beside)}", iter(blocks))
        else:
            shown = code_span(name) if call.kind == "execute" else f"**{literal(name)}**"
            yield f"{icon} {shown} {literal(f'· {beside}')}"
            yield from blocks

    def _said(self, entry: Entry) -> Iterator[str]:
        found = said(entry, self._session, self._cwd)
        if found is None:
            return
        if found.detail:
            yield from _details(_in_tag(f"{found.sign} {found.text}"), iter([fenced(found.detail)]))
        else:
            yield f"*{found.sign} {literal(found.text)}*"


def _piece(piece: Piece) -> Iterator[str]:
    match piece.sort:
        case "places":
            yield "\n".join(f"- {literal(place)}" for place in piece.what)
        case "command":
            yield fenced(piece.what, "sh")
        case "diff":
            yield f"{literal(piece.label)}:"
            yield fenced("\n".join(diff_lines(piece.what, piece.first)), "diff")
        case "terminal":
            yield _terminal(piece.what, piece.label)
        case "content" if piece.what.kind == "text" and not piece.what.text.lstrip().startswith("```"):
            yield fenced(piece.what.text)
        case "content":
            yield from _content(piece.what)
        case "raw":
            yield f"{piece.label}:"
            yield fenced(piece.what)


def _terminal(terminal: Terminal, name: str) -> str:
    return fenced(f"{name}\n{output_text(terminal.output)}[{exit_fact(terminal)}]", "console")


def _content(content: Content) -> Iterator[str]:
    """Pictures and sounds are named; a text is shown whole."""
    if content.kind == "text":
        yield contained(content.text)
        return
    where = f" {literal(visible_line(content.uri))}" if content.uri else ""
    yield f"*[{literal(content_facts(content))}]*{where}"
    if content.text:
        yield fenced(content.text)
    if content.raw is not None:
        yield fenced(visible_json(content.raw), "json")


def _plan(plan: Plan) -> Iterator[str]:
    if cleared(plan):
        yield "*The plan was cleared*"
        return
    yield "**Plan**"
    if plan.items:
        yield "\n".join(
            f"- {_BOXES.get(item.status, '[ ]')} {literal(visible_line(item.content))}"
            + (" *(in progress)*" if item.status == "in_progress" else "")
            for item in plan.items
        )
    if plan.markdown:
        yield contained(plan.markdown)
    if plan.uri:
        yield literal(visible_line(plan.uri))


# --------------------------------------------------------------------------- small things


def _in_tag(text: str) -> str:
    """Any text inside a tag of ours, where Markdown means nothing."""
    return escape(" ".join(text.split()), quote=False)


def _details(summary: str, blocks: Iterator[str]) -> Iterator[str]:
    yield f"<details><summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def _as_typed(text: str) -> str:
    """Words of the user's: lines stay lines."""
    return "  \n".join(literal(line) for line in text.split("\n"))


def _quoted(blocks: Iterator[str]) -> Iterator[str]:
    text = "\n\n".join(block for block in blocks if block)
    yield "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))
