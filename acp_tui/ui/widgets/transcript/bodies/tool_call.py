"""A tool call: one line that says what it is and how it went, and below it what it did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.segment import Segment

from acp_tui.session.state import Diff, Terminal, TerminalRef
from acp_tui.session.text import visible_line
from acp_tui.ui.widgets.transcript.bodies.call_text import text_body
from acp_tui.ui.widgets.transcript.bodies.content import content_lines
from acp_tui.ui.widgets.transcript.bodies.diff import DiffBody, difference
from acp_tui.ui.widgets.transcript.bodies.headline import Headline, lasted, relative
from acp_tui.ui.widgets.transcript.bodies.raw import raw_body
from acp_tui.ui.widgets.transcript.bodies.terminal import OutputBody, TerminalBody, elsewhere, exit_fact
from acp_tui.ui.widgets.transcript.body import Lines
from acp_tui.ui.widgets.transcript.wrap import shortened_path, strip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from textual.strip import Strip

    from acp_tui.session.state import Location, ToolCall
    from acp_tui.ui.widgets.transcript.bodies.headline import Text
    from acp_tui.ui.widgets.transcript.body import Body, Context

ICONS = {
    "read": "◇",
    "edit": "✎",
    "delete": "✂",
    "move": "⇄",
    "search": "⌕",
    "execute": "❯",
    "think": "∴",
    "fetch": "↧",
    "switch_mode": "⇆",
}
OTHER = "·"
OPEN_KINDS = ("edit", "delete", "move", "execute")
INDENT = 4
MOST_LOCATIONS = 5


def body(entry: ToolCall, context: Context) -> Body:
    """A tool call in the transcript."""
    return ToolCallBody(entry, context)


def default_folded(entry: ToolCall) -> bool:
    """What changes or runs something, and what went wrong, is open; looking and thinking is not."""
    if entry.status == "failed" or entry.kind in OPEN_KINDS:
        return False
    return not any(isinstance(item, (Diff, TerminalRef)) for item in entry.content)


class _Piece(NamedTuple):
    """One thing that a call shows."""

    sort: Literal["locations", "diff", "terminal", "content", "input", "output"]
    what: Any
    label: str = ""  # what stands above it; of content, the kind of call that it is drawn for
    first: int = 1  # the number of a diff's first line

    def same(self, other: _Piece) -> bool:
        """Would it look the same? A terminal grows, and large values are not compared."""
        if self.what is not other.what and self.sort in ("terminal", "input", "output"):
            return False
        return self[2:] == other[2:] and self.sort == other.sort and bool(self.what == other.what)


class ToolCallBody:
    """Its headline, and a body for each thing it shows; a change makes only that anew which changed."""

    def __init__(self, call: ToolCall, context: Context) -> None:
        self._call = call
        self._context = context
        self._folded_by_rule = default_folded(call)
        self._pieces: list[_Piece] = []
        self._bodies: list[Body] = []
        self._headline: Strip | None = None
        if not context.folded:
            self._arrange()

    # ---- what it shows

    def _arrange(self) -> None:
        pieces = list(_pieces(self._call, self._context))
        bodies: list[Body] = []
        for index, piece in enumerate(pieces):
            known = index < len(self._pieces) and piece.same(self._pieces[index])
            if known and (piece.sort != "terminal" or self._bodies[index].update()):
                bodies.append(self._bodies[index])
            else:
                bodies.append(self._made(piece))
        self._pieces, self._bodies = pieces, bodies

    def _made(self, piece: _Piece) -> Body:
        context, what = self._context, piece.what
        match piece.sort:
            case "locations":
                return _locations(what, context)
            case "diff":
                return DiffBody(what, context, heading=piece.label, first=piece.first)
            case "terminal":
                if piece.label:
                    return TerminalBody(what, context, embedded=True)
                return OutputBody(what, context)
            case "content" if what.kind == "text" and (context.whole or not what.for_assistant_only):
                return text_body(what, piece.label, context)
            case "content":
                return Lines(content_lines(what, context, [_INDENT]), what.text)
            case _:
                return raw_body(what, context, label=piece.label)

    # ---- the lines

    @property
    def height(self) -> int:
        """The headline and everything below it."""
        return 1 + sum(part.height for part in self._bodies)

    def line(self, number: int) -> Strip:
        """The headline of a call that goes on changes with the clock."""
        if not number:
            if self._headline is None or not self._call.done:
                self._headline = self._drawn_headline()
            return self._headline
        number -= 1
        for part in self._bodies:
            if number < part.height:
                return part.line(number)
            number -= part.height
        raise IndexError(number)

    def _drawn_headline(self) -> Strip:
        call, context = self._call, self._context
        palette = context.palette
        foldable = self.height > 1 or (context.folded and any(True for _ in _pieces(call, context)))
        lead = Headline.of_entry(ICONS.get(call.kind, OTHER), context, foldable=foldable)
        title = [(title_of(call, context.cwd), palette.tool)]
        return lead.strip(title, self._facts(), context, call.status)

    def _facts(self) -> list[Text]:
        """In short, how much changed, how it ended, how long it took."""
        call, context = self._call, self._context
        palette = context.palette
        facts: list[Text] = []
        found = [difference(item, _first_line(call, item)) for item in call.content if isinstance(item, Diff)]
        if new := _new_or_gone(item for item in call.content if isinstance(item, Diff)):
            facts.append((new, palette.dim))
        if added := sum(one.added for one in found):
            facts.append((f"+{added:,}", palette.success))
        if removed := sum(one.removed for one in found):
            facts.append((f"−{removed:,}", palette.error))
        silent = [one.what for one in _pieces(call, context) if one.sort == "terminal" and not one.label]
        facts += [(exit_fact(terminal), palette.error) for terminal in silent if exit_fact(terminal)]
        if time := lasted(call.at, call.ended_at, None if call.done else context.now):
            facts.append((time, palette.dim))
        return facts

    def copy_text(self) -> str:
        """The title and all that it shows; of a folded call what it would show."""
        bodies = self._bodies or [self._made(piece) for piece in _pieces(self._call, self._context)]
        texts = [title_of(self._call, self._context.cwd), *(part.copy_text() for part in bodies)]
        return "\n".join(text for text in texts if text)

    def update(self) -> bool:
        """Takes in what changed. A call that failed opens: then it is another body."""
        if default_folded(self._call) != self._folded_by_rule:
            return False
        self._headline = None
        if not self._context.folded:
            self._arrange()
        return True


# --------------------------------------------------------------------------- what a call shows


def _pieces(call: ToolCall, context: Context) -> Iterator[_Piece]:
    """All of it, in order."""
    locations = _other_locations(call)
    if locations:
        yield _Piece("locations", locations)
    several = sum(isinstance(item, Diff) for item in call.content) > 1
    empty = True
    for item in call.content:
        piece = _piece(item, call, context, several=several)
        if piece is not None:
            empty = False
            yield piece
    if empty:  # all that is known of it then
        if call.raw_input not in (None, {}, ""):
            yield _Piece("input", call.raw_input, "input")
        if call.raw_output not in (None, {}, ""):
            yield _Piece("output", call.raw_output, "output")


def _piece(item: Any, call: ToolCall, context: Context, *, several: bool) -> _Piece | None:
    if isinstance(item, Diff):
        label = relative(item.path, context.cwd) if several or not _says(call, item.path) else ""
        if label and (what := _new_or_gone([item])):
            label = f"{label}  ({what})"
        return _Piece("diff", item, label, _first_line(call, item))
    if isinstance(item, TerminalRef):
        terminal = context.session.terminals.get(item.terminal_id)
        return _Piece("terminal", terminal, _command_heading(terminal, call, context)) if terminal else None
    if item.kind == "text" and not item.text.strip():
        return None
    failure = call.status == "failed" and call.kind != "execute"
    return _Piece("content", item, "message" if failure else call.kind)


def _command_heading(terminal: Terminal, call: ToolCall, context: Context) -> str:
    """The command of a terminal, unless the call's title says it and it runs where the session is."""
    command = visible_line(terminal.command or "")
    said = not command or command in visible_line(call.title)
    return "" if said and not elsewhere(terminal, context) else command or terminal.terminal_id


def _new_or_gone(diffs: Iterable[Diff]) -> str:
    """What to say where files were made or deleted and nothing else was done to any."""
    done = {
        "" if diff.patch is not None else "new" if diff.old is None else "deleted" if diff.new is None else ""
        for diff in diffs
    }
    return done.pop() if len(done) == 1 else ""


def _other_locations(call: ToolCall) -> tuple[Location, ...]:
    """The files that neither the title nor a diff names."""
    diffs = {item.path for item in call.content if isinstance(item, Diff)}
    return tuple(place for place in call.locations if place.path not in diffs and not _says(call, place.path))


def _says(call: ToolCall, path: str) -> bool:
    """Does the title name the file?"""
    return path.rstrip("/").rpartition("/")[2] in call.title


def _locations(places: tuple[Location, ...], context: Context) -> Lines:
    palette = context.palette
    texts = [
        f"{relative(place.path, context.cwd)}{f':{place.line}' if place.line is not None else ''}"
        for place in places
    ]
    shown = texts if context.whole else texts[:MOST_LOCATIONS]
    room = context.width - INDENT - 2
    strips = [
        strip([Segment("↳ ", palette.faint), Segment(shortened_path(text, room), palette.dim)], [_INDENT])
        for text in shown
    ]
    if len(texts) > len(shown):
        strips.append(
            strip([Segment(f"▸ {len(texts) - len(shown)} more files", palette.diff_fold)], [_INDENT])
        )
    return Lines(strips, "\n".join(texts))


_INDENT = Segment(" " * INDENT)


def _first_line(call: ToolCall, diff: Diff) -> int:
    """What number the diff's first line has. Some agents send only the snippet that changes, and where it
    is as a location: known when the place lies beyond the end of what was sent."""
    line = next((place.line for place in call.locations if place.path == diff.path and place.line), None)
    if line is None or diff.patch is not None or diff.old is None or line <= diff.old.count("\n") + 1:
        return 1
    return line


# --------------------------------------------------------------------------- its title


def title_of(call: ToolCall, cwd: str) -> str:
    """What it is called; paths below the session's directory are relative to that."""
    title = visible_line(call.title).strip()
    if len(title) > 2 and title[0] == title[-1] == "`" and "`" not in title[1:-1]:
        title = title[1:-1]
    if not title:
        title = _command(call.raw_input) or visible_line(call.name or "") or call.kind.replace("_", " ")
    if call.kind == "execute" or not cwd.strip("/"):
        return title  # a command is shown as it is
    base = re.escape(f"{cwd.rstrip('/')}/")
    return re.sub(rf"(?<![\w/.~-]){base}(?=\S)", "", title)


def _command(raw_input: Any) -> str:
    """The command of a call that has no title."""
    command = raw_input.get("command") if isinstance(raw_input, dict) else None
    if isinstance(command, list):
        command = " ".join(str(word) for word in command)
    return visible_line(command) if isinstance(command, str) else ""
