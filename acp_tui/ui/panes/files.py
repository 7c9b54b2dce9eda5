"""The files pane: files changed or read by the agent, and the files and lines that the agent works on now."""

from __future__ import annotations

import os.path
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.segment import Segment

from acp_tui.session.safe_text import escape_invisible_line
from acp_tui.session.state import Diff, Session, ToolCall
from acp_tui.text_format import relative_path
from acp_tui.ui.drawing.wrap import make_strip, shorten_path, wrap
from acp_tui.ui.entries.headline import line_counts
from acp_tui.ui.panes.pane import Pane, PaneSource
from acp_tui.ui.panes.pane_list import RIGHT_MARGIN, PaneItem, heading_item, justified_line, text_item
from acp_tui.ui.theme.palette import Spans, current_palette

if TYPE_CHECKING:
    from textual.strip import Strip

    from acp_tui.controller import FileChange
    from acp_tui.session.record import Change


@dataclass(slots=True)
class TouchedFile:
    """A file that tool calls mention."""

    path: str
    line: int | None = None  # the latest line mentioned
    diffs: dict[str, Diff] = field(default_factory=dict)  # by the id of the tool call, oldest first


class TouchedFiles:
    """The touched files by absolute path."""

    def __init__(self, session: Session, cwd: str) -> None:
        self._cwd = cwd
        self.files: dict[str, TouchedFile] = {}
        subagents = (subagent.session for subagent in session.subagents.values())
        for entry in chain(session.entries, *(inner.entries for inner in subagents)):
            if isinstance(entry, ToolCall):
                self.add_call(entry)

    def add_call(self, call: ToolCall) -> bool:
        """Add the files of a new or changed tool call. Return True if that changed the collection."""
        changed = False
        for location in call.locations:
            if self.absolute(location.path) == self._cwd:
                continue  # commands report the folder they run in
            file, new = self._get_or_add(location.path)
            changed |= new or (location.line is not None and location.line != file.line)
            file.line = location.line if location.line is not None else file.line
        for diff in (part for part in call.content if isinstance(part, Diff)):
            file, _ = self._get_or_add(diff.path)
            changed |= file.diffs.get(call.call_id) is not diff
            file.diffs[call.call_id] = diff
        return changed

    def absolute(self, path: str) -> str:
        """Return the normalized absolute path of a file."""
        return os.path.normpath(os.path.join(self._cwd, path))  # noqa: PTH118  # pathlib does not normalize

    def _get_or_add(self, path: str) -> tuple[TouchedFile, bool]:
        path = self.absolute(path)
        known = self.files.get(path)
        if known is not None:
            return known, False
        file = self.files[path] = TouchedFile(path)
        return file, True


REMOTE_FILES = (
    "The agent's files are on another machine. acp-tui sees only what the agent reports, and cannot compare, "
    "review or revert changes."
)
STATUS_LETTERS = {"added": "A", "modified": "M", "deleted": "D", "mode": "x", "unknown": "?"}
ACCEPTED_SIGN = "✓"
AGENT_MARK = "➤"
"""Marks a file that the agent is working on."""


class Counts(NamedTuple):
    """Numbers of added and removed lines of a file."""

    added: int
    removed: int


class FilesPane(Pane):
    """Lists the files that have changed since session start, and the files that tool calls mention.

    Changes are found by comparing the disk with the state at session start. Before the first comparison, the
    changes in tool calls are shown instead. If the comparison cannot find all changes, those in tool calls
    are added.
    """

    TITLE: ClassVar = "Files"
    ACTIONS: ClassVar = frozenset({"open", "diff", "revert", "accept", "undo", "follow", "look"})

    def __init__(self, source: PaneSource) -> None:
        super().__init__(source)
        self._touched_files = TouchedFiles(source.session, source.cwd)
        self._changes: dict[str, FileChange] | None = None  # None until the disk was compared
        self._counts: Mapping[str, Counts] = {}
        self._accepted: Collection[str] = ()
        self._agent_lines: dict[str, int | None] = {}  # files the agent is working on, with line numbers
        self._running_calls: set[str] = set()
        self.following = False
        """Whether the selection follows the agent."""

    # ------------------------------------------------------------------------- updates

    def refresh_items(self) -> None:
        """Collect the files again and ask for a comparison with the disk."""
        self._touched_files = TouchedFiles(self.source.session, self.source.cwd)
        self._agent_lines = self._active_lines()
        self._running_calls = {name for name, call in self.source.session.tool_calls.items() if not call.done}
        super().refresh_items()
        self.action_look()

    def show_changes(
        self, changes: Sequence[FileChange], counts: Mapping[str, Counts], accepted: Collection[str] = ()
    ) -> None:
        """Show the result of a comparison with the disk. `accepted` are the paths accepted in a review."""
        self._accepted = accepted
        self._changes = {str(change.path): change for change in changes}
        self._counts = counts
        self.show(self.build_items())
        self.refresh_bindings()

    def change_of(self, path: str) -> FileChange | None:
        """Return how a file has changed since session start; None if unchanged or not compared yet."""
        return (self._changes or {}).get(path)

    def touched_file(self, path: str) -> TouchedFile | None:
        """Return what tool calls report about a file; None if they do not mention it."""
        return self._touched_files.files.get(path)

    def is_affected(self, changes: Iterable[Change]) -> bool:
        """Return True if the touched files, or the lines that the agent is working on, have changed.

        Also asks for a comparison with the disk when a tool call or the turn has ended.
        """
        affected = ended = False
        for change in (change.inner or change for change in changes):  # also those of subagents
            call = change.entry
            if isinstance(call, ToolCall):
                affected |= self._touched_files.add_call(call)
                ended |= call.done and (call.call_id in self._running_calls or change.kind == "added")
                (self._running_calls.discard if call.done else self._running_calls.add)(call.call_id)
            ended |= change.fact == "phase" and not self.source.session.working
        if ended:
            self.action_look()
        active = self._active_lines()
        if active != self._agent_lines:
            self._agent_lines = active
            affected = True
        return affected

    def apply_changes(self, changes: Sequence[Change]) -> None:
        """Update the list, without collecting all files again."""
        if self.is_affected(changes):
            self.show(self.build_items())
            self._follow()

    def _active_lines(self) -> dict[str, int | None]:
        locations = self.source.session.active_locations
        return {self._touched_files.absolute(location.path): location.line for location in locations}

    # ------------------------------------------------------------------------- content

    def build_items(self) -> Sequence[PaneItem]:
        """Return changed files, then the other files that tool calls mention."""
        palette = current_palette()
        changed = self._changed()
        others = [path for path in self._touched_files.files if path not in changed]
        if not changed and not others:
            if self._is_remote:
                return [text_item(f"No files reported yet. {REMOTE_FILES}", palette.dim)]
            if self._finds_all:
                return [text_item("No files touched yet.", palette.dim)]
            text = "No files reported yet. Only files that the agent reports can be listed."
            return [text_item(text, palette.dim)]
        items: list[PaneItem] = [heading_item("Changed", f"{len(changed):,}" if changed else "", first=True)]
        items += [self._item(path) for path in changed]
        if not changed:
            items.append(text_item("No changes yet.", palette.dim))
        if self._is_remote:
            items.append(text_item(REMOTE_FILES, palette.dim))
        if others:
            items.append(heading_item("Looked at", f"{len(others):,}"))
            items += [self._item(path) for path in others]
        return items

    def _changed(self) -> dict[str, None]:
        announced = [path for path, file in self._touched_files.files.items() if file.diffs]
        if self._changes is None:
            return dict.fromkeys(announced)
        return dict.fromkeys(self._changes if self._finds_all else [*self._changes, *announced])

    @property
    def _finds_all(self) -> bool:
        """False if the disk was compared and the comparison cannot find all changes.

        Then the changes in tool calls are added.
        """
        conversation = self.source.conversation
        return self._changes is None or conversation is None or conversation.finds_all_changes

    @property
    def _is_remote(self) -> bool:
        """True if the agent's files are on another machine."""
        conversation = self.source.conversation
        return conversation is not None and conversation.launch.has_remote_files

    def _item(self, path: str) -> PaneItem:
        change = self.change_of(path)
        has_note = change is not None and not change.revertable
        return PaneItem(lambda width: self._row(path, width), path, height=None if has_note else 1)

    def _row(self, path: str, width: int) -> list[Strip]:
        palette, change = current_palette(), self.change_of(path)
        left: Spans = [Segment(f"{AGENT_MARK if path in self._agent_lines else ' '} ", palette.accent)]
        left.append(self._letter(path))
        right = self._counts_text(path)
        line = self._agent_lines.get(path)
        line_suffix = f":{line}" if line is not None else ""
        room = width - RIGHT_MARGIN - Segment.get_line_length([*left, *right]) - len(line_suffix)
        name = escape_invisible_line(relative_path(path, self.source.cwd))
        style = palette.dim if path in self._accepted else palette.text
        left.append(Segment(shorten_path(name, max(4, room)), style))
        left.append(Segment(line_suffix, palette.accent))
        lines = [justified_line(left, right, width)]
        if change is not None and change.revert_obstacle is not None:
            note = [Segment(f"cannot be reverted: {change.revert_obstacle}", palette.dim)]
            note_width = max(8, width - RIGHT_MARGIN - 4)
            lines += [make_strip(part, [Segment("    ")]) for part in wrap(note, note_width)]
        return lines

    def _letter(self, path: str) -> Segment:
        palette, change = current_palette(), self.change_of(path)
        if path in self._accepted:
            return Segment(f"{ACCEPTED_SIGN} ", palette.dim)
        if change is not None:
            style = {"added": palette.success, "deleted": palette.error}.get(change.kind, palette.warning)
            return Segment(f"{STATUS_LETTERS[change.kind]} ", style)
        file = self.touched_file(path)
        announced = (self._changes is None or not self._finds_all) and file is not None and file.diffs
        return Segment("M " if announced else "  ", palette.warning)

    def _counts_text(self, path: str) -> Spans:
        counts = self._counts.get(path)
        if counts is None and (self._changes is None or not self._finds_all):
            counts = self._announced_counts(path)
        if counts is None:
            return []
        parts = line_counts(*counts)
        return [segment for text, style in parts for segment in (Segment(" "), Segment(text, style))]

    def _announced_counts(self, path: str) -> Counts | None:
        from acp_tui.ui.entries.diff import compute_difference

        file = self.touched_file(path)
        found = [compute_difference(diff) for diff in file.diffs.values()] if file is not None else []
        return Counts(sum(one.added for one in found), sum(one.removed for one in found)) if found else None

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Disable keys that cannot act on the chosen file."""
        if action == "revert":
            change = self.change_of(self.chosen or "")
            return change is not None and change.revertable
        if action == "accept":
            return self.change_of(self.chosen or "") is not None and self.chosen not in self._accepted
        if action == "undo":
            conversation = self.source.conversation
            return conversation is not None and bool(conversation.review.model.decisions)
        if action == "diff":
            file = self.touched_file(self.chosen or "")
            return self.change_of(self.chosen or "") is not None or (file is not None and bool(file.diffs))
        if action == "look" and self.source.conversation is None:
            return False
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Open the chosen file in the editor.

        The cursor goes to the agent's current line, or else to the line that a tool call mentioned last.
        """
        file = self.touched_file(self.chosen or "")
        last_line = file.line if file is not None else None
        self.request("edit", self._agent_lines.get(self.chosen or "") or last_line)

    def action_follow(self) -> None:
        """Start or stop following the agent."""
        self.following = not self.following
        self._follow()
        self.notify("Following the agent." if self.following else "No longer following the agent.", timeout=3)

    def action_move(self, step: int) -> None:
        """Move the selection, and stop following the agent."""
        self.following = False
        super().action_move(step)

    def _follow(self) -> None:
        if self.following and self._agent_lines:
            self.choose(next(reversed(self._agent_lines)))
