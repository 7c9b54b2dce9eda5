"""The files of the session: where the agent is, what has changed, what it looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.segment import Segment

from acp_tui.session.invisible import reveal_line
from acp_tui.session.state import ToolCall
from acp_tui.ui.drawing.wrap import make_strip, shorten_path, wrap
from acp_tui.ui.entries.tool_call.headline import line_counts, relative_path
from acp_tui.ui.panes.listing import Item
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.pieces import EDGE, heading, row, words
from acp_tui.ui.panes.seen_files import TouchedFile, TouchedFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.strip import Strip

    from acp_tui.controller import FileChange
    from acp_tui.session.change import Change
    from acp_tui.ui.drawing.body import Spans
    from acp_tui.ui.panes.pane import PaneSource
    from acp_tui.ui.theme.palette import Palette

STATUS_LETTERS = {"added": "A", "modified": "M", "deleted": "D", "mode": "x", "unknown": "?"}
AGENT_MARK = "➤"
"""The mark of a file that the agent is at."""


class Counts(NamedTuple):
    """Lines that a file gained and lost."""

    added: int
    removed: int


class FilesPane(Pane):
    """Changes are what the disk says, where somebody looks there; else what tool calls told."""

    TITLE: ClassVar = "Files"
    ACTIONS: ClassVar = frozenset({"open", "diff", "revert", "follow", "look"})

    def __init__(self, source: PaneSource, palette: Palette) -> None:
        super().__init__(source, palette)
        self._seen = TouchedFiles(source.session, source.cwd)
        self._changes: dict[str, FileChange] | None = None  # None: nobody has looked yet
        self._counts: Mapping[str, Counts] = {}
        self._touched: dict[str, int | None] = {}  # where the agent is, with lines
        self._open: set[str] = set()  # calls that have not ended
        self.following = False
        """Does the choice go where the agent goes?"""

    # ------------------------------------------------------------------------- what is known

    def renew(self) -> None:
        """Gather everything again."""
        self._seen = TouchedFiles(self.source.session, self.source.cwd)
        self._touched = self._touched_now()
        self._open = {name for name, call in self.source.session.tool_calls.items() if not call.done}
        super().renew()
        self.action_look()

    def show_changes(self, changes: Sequence[FileChange], counts: Mapping[str, Counts]) -> None:
        """What a look at the disk has found."""
        self._changes = {str(change.path): change for change in changes}
        self._counts = counts
        self.show(self.items())
        self.refresh_bindings()

    def change_of(self, path: str) -> FileChange | None:
        """How the disk differs there from what it was."""
        return (self._changes or {}).get(path)

    def file(self, path: str) -> TouchedFile | None:
        """What tool calls told of it."""
        return self._seen.files.get(path)

    def concerned(self, changes: Iterable[Change]) -> bool:
        """Are other files named, or is the agent elsewhere? What ends makes us ask the disk."""
        news = ended = False
        for change in changes:
            call = change.entry
            if isinstance(call, ToolCall):
                news |= self._seen.take(call)
                ended |= call.done and (call.call_id in self._open or change.kind == "added")
                (self._open.discard if call.done else self._open.add)(call.call_id)
            ended |= change.fact == "phase" and not self.source.session.working
        if ended:
            self.action_look()
        touched = self._touched_now()
        if touched != self._touched:
            self._touched = touched
            news = True
        return news

    def take(self, changes: Sequence[Change]) -> None:
        """Gathering everything again is for other occasions."""
        if self.concerned(changes):
            self.show(self.items())
            self._follow()

    def _touched_now(self) -> dict[str, int | None]:
        return {self._seen.absolute(place.path): place.line for place in self.source.session.active_locations}

    # ------------------------------------------------------------------------- what is shown

    def items(self) -> Sequence[Item]:
        """What has changed first."""
        changed = self._changed()
        others = [path for path in self._seen.files if path not in changed]
        if not changed and not others:
            if self._finds_all:
                return [words("No files touched yet.", self.palette.dim)]
            text = "No files announced yet. Files that the agent does not announce cannot be listed."
            return [words(text, self.palette.dim)]
        items: list[Item] = [
            heading("Changed", self.palette, f"{len(changed):,}" if changed else "", first=True)
        ]
        items += [self._item(path) for path in changed]
        if not changed:
            items.append(words("Nothing so far.", self.palette.dim))
        if others:
            items.append(heading("Looked at", self.palette, f"{len(others):,}"))
            items += [self._item(path) for path in others]
        return items

    def _changed(self) -> dict[str, None]:
        told = [path for path, file in self._seen.files.items() if file.diffs]
        if self._changes is None:
            return dict.fromkeys(told)
        return dict.fromkeys(self._changes if self._finds_all else [*self._changes, *told])

    @property
    def _finds_all(self) -> bool:
        """Does the disk tell of every change? Else what the agent announced is listed, too."""
        conversation = self.source.conversation
        return self._changes is None or conversation is None or conversation.finds_all_changes

    def _item(self, path: str) -> Item:
        change = self.change_of(path)
        stuck = change is not None and not change.revertable
        return Item(lambda width: self._row(path, width), path, height=None if stuck else 1)

    def _row(self, path: str, width: int) -> list[Strip]:
        palette, change = self.palette, self.change_of(path)
        left: Spans = [Segment(f"{AGENT_MARK if path in self._touched else ' '} ", palette.accent)]
        left.append(self._letter(path))
        right = self._facts(path)
        line = self._touched.get(path)
        place = f":{line}" if line is not None else ""
        room = width - EDGE - sum(span.cell_length for span in (*left, *right)) - len(place)
        name = reveal_line(relative_path(path, self.source.cwd))
        left.append(Segment(shorten_path(name, max(4, room)), palette.text))
        left.append(Segment(place, palette.accent))
        lines = [row(left, right, width)]
        if change is not None and change.revert_obstacle is not None:
            note = [Segment(f"cannot be reverted: {change.revert_obstacle}", palette.dim)]
            lines += [make_strip(part, [Segment("    ")]) for part in wrap(note, max(8, width - EDGE - 4))]
        return lines

    def _letter(self, path: str) -> Segment:
        palette, change = self.palette, self.change_of(path)
        if change is not None:
            look = {"added": palette.success, "deleted": palette.error}.get(change.kind, palette.warning)
            return Segment(f"{STATUS_LETTERS[change.kind]} ", look)
        file = self.file(path)
        told = (self._changes is None or not self._finds_all) and file is not None and file.diffs
        return Segment("M " if told else "  ", palette.warning)

    def _facts(self, path: str) -> Spans:
        counts = self._counts.get(path)
        if counts is None and (self._changes is None or not self._finds_all):
            counts = self._told_counts(path)
        if counts is None:
            return []
        told = line_counts(*counts, self.palette)
        return [segment for text, look in told for segment in (Segment(" "), Segment(text, look))]

    def _told_counts(self, path: str) -> Counts | None:
        from acp_tui.ui.entries.diff.diff_body import compute_difference

        file = self.file(path)
        found = [compute_difference(diff) for diff in file.diffs.values()] if file is not None else []
        return Counts(sum(one.added for one in found), sum(one.removed for one in found)) if found else None

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Not every file can be put back."""
        if action == "revert":
            change = self.change_of(self.chosen or "")
            return change is not None and change.revertable
        if action == "diff":
            file = self.file(self.chosen or "")
            return self.change_of(self.chosen or "") is not None or (file is not None and bool(file.diffs))
        if action == "look" and self.source.conversation is None:
            return False
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Open it in the editor, where the agent is or was."""
        file = self.file(self.chosen or "")
        self.want("edit", self._touched.get(self.chosen or "") or (file.line if file is not None else None))

    def action_follow(self) -> None:
        """Begin or cease to stay with the agent."""
        self.following = not self.following
        self._follow()
        self.notify(
            "The choice follows the agent." if self.following else "The choice stays where it is.", timeout=3
        )

    def action_move(self, step: int) -> None:
        """Whoever moves by hand does not follow."""
        self.following = False
        super().action_move(step)

    def _follow(self) -> None:
        if self.following and self._touched:
            self.choose(next(reversed(self._touched)))
