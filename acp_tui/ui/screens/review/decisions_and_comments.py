"""What a key on the review screen does: deciding on hunks and files, writing comments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.review.authorship import is_by_others
from acp_tui.review.changed_file import ChangedFile, ChangePart
from acp_tui.review.comments import Comment
from acp_tui.review.text_change import split_lines
from acp_tui.session.state import Choice
from acp_tui.ui import keys
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.schema_form.editors import TextEditor
from acp_tui.ui.screens.review.file_diff import ReviewRow, display_lines
from acp_tui.ui.screens.review.review_state import ReviewFilter, ReviewState, filter_choices

if TYPE_CHECKING:
    from textual.screen import Screen

    from acp_tui.controller.review import ConversationReview
    from acp_tui.diffing import Row
    from acp_tui.ui.screens.review.diff_view import DiffView


SIGNS = {"same": " ", "removed": "-", "added": "+"}
Chosen = Sequence[tuple[ChangedFile, Sequence[ChangePart]]]
"""Files, each with some of its parts."""


class DecisionActions:
    """Accepts and reverts changes, undoes the last decision, and chooses what to show next."""

    def __init__(
        self,
        review: ConversationReview,
        state: ReviewState,
        show: Callable[[Path, int], None],
        failed: Callable[[UserError], None],
    ) -> None:
        """`show` is called with a file and the index of a part to show; `failed` is called with an error."""
        self._review = review
        self._state = state
        self._show = show
        self._failed = failed

    async def accept(self, part: int, *, whole_file: bool) -> None:
        """Accept a part of the chosen file; with `whole_file`, accept all shown parts of the file."""
        await self._decide(self._review.accept, part, whole_file=whole_file)

    async def revert(self, part: int, *, whole_file: bool) -> None:
        """Revert a part of the chosen file; with `whole_file`, revert all shown parts of the file."""
        await self._decide(self._review.revert, part, whole_file=whole_file)

    async def _decide(
        self,
        decide: Callable[[ChangedFile, Sequence[ChangePart] | None], Awaitable[None]],
        part: int,
        *,
        whole_file: bool,
    ) -> None:
        # The key's action awaits this method, so that the next key waits until the result is shown.
        file = self._state.file
        if file is None or not (parts := self._state.shown_parts(file)):
            return
        paths = self._state.open_paths()
        chosen = parts if whole_file else [parts[min(part, len(parts) - 1)]]
        try:
            await decide(file, None if len(chosen) == len(file.parts) else chosen)
        except UserError as error:
            self._failed(error)
        self._advance(file.path, part, paths)

    def _advance(self, path: Path, part: int, paths: Sequence[Path]) -> None:
        """Show the part after the decided one; if the file has no part left, show the next of `paths`."""
        file = self._review.model.files.get(path)
        if file is not None and (parts := self._state.shown_parts(file)):
            self._show(path, min(part, len(parts) - 1))
            return
        open_paths = set(self._state.open_paths())
        at = paths.index(path) if path in paths else 0
        self._show(next((one for one in [*paths[at:], *paths[:at]] if one in open_paths), path), 0)

    async def undo(self) -> bool:
        """Undo the last decision and show the change it was about; return False if there is no decision."""
        try:
            decision = await self._review.undo()
        except UserError as error:
            self._failed(error)
            return True
        if decision is None:
            return False
        file = decision.before[0]
        if file.path not in self._state.open_paths():
            self._state.filter = ReviewFilter()
        shown = list(self._state.shown_parts(file))
        part = file.parts[decision.first_part] if file.parts else None
        self._show(file.path, shown.index(part) if part in shown else 0)
        return True

    def everything_shown(self) -> list[tuple[ChangedFile, Sequence[ChangePart]]]:
        """Return the files to review, each with its parts that pass the filter."""
        files = self._review.model.files
        return [
            (files[path], self._state.shown_parts(files[path]))
            for path in self._state.open_paths()
            if path in files
        ]

    async def revert_all(self, chosen: Sequence[tuple[ChangedFile, Sequence[ChangePart]]]) -> int:
        """Revert the `chosen` parts of files, and return the number of reverted files.

        If some files cannot be reverted, revert the others, call `failed` and return 0.
        """
        try:
            return await self._review.revert_all(
                (file, None if len(parts) == len(file.parts) else parts) for file, parts in chosen
            )
        except UserError as error:
            self._failed(error)
            return 0


class CommentActions:
    """Makes, changes and deletes comments, and updates their line numbers when the files change."""

    def __init__(self, review: ConversationReview, save: Callable[[], None]) -> None:
        self._review = review
        self._save = save
        self._draft: Comment | None = None
        self._replaced: Comment | None = None

    def begin(self, view: DiffView) -> Comment | None:
        """Start to edit the comment at the cursor, or a new comment on the chosen lines or hunk.

        Return the comment; None if there are no lines to comment on.
        """
        row = view.row
        if row is None or view.diff is None:
            return None
        self._replaced = row.comment
        if row.comment is not None:
            self._draft = row.comment
        elif view.range_start is None and row.kind != "line":  # the heading of a hunk
            rows = [view.diff.rows[at] for at in view.diff.rows_of(view.part)]
            self._draft = comment_on(str(view.diff.file.path), rows)
        else:
            self._draft = comment_on(str(view.diff.file.path), view.chosen_rows)
        return self._draft

    def finish(self, text: str | None) -> None:
        """Save the comment. An empty string deletes the comment; None (cancelled) changes nothing."""
        draft, replaced = self._draft, self._replaced
        self._draft = self._replaced = None
        if text is None or draft is None:
            return
        comments = [one for one in self._review.comments if one != replaced]
        if text:
            comments.append(replace(draft, text=text))
        self._review.comments = comments
        self._save()

    def follow_lines(self) -> None:
        """Update the line numbers of comments. Mark a comment as outdated if its lines have changed.

        Comments on files that are not loaded or are completely reviewed stay as they are.
        """
        review = self._review
        lines: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
        for path in {comment.path for comment in review.comments}:
            file = review.model.files.get(Path(path))
            if file is None or (file.done and file.path in review.model.verdicts()):
                continue
            if file.text is not None:
                lines[path] = (display_lines(file.text.old), display_lines(file.text.new))
            else:  # the file no longer differs, or is not a text file
                data = file.now.data if file.now.is_text else None
                lines[path] = (unchanged := display_lines(split_lines(data or b"")), unchanged)
        followed = {
            comment: comment.follow(*lines[comment.path])
            for comment in review.comments
            if comment.path in lines
        }
        review.comments = [followed.get(comment, comment) for comment in review.comments]
        if self._replaced is not None:  # the comment that is being edited
            self._draft = self._replaced = followed.get(self._replaced, self._replaced)


def comment_on(path: str, rows: Sequence[ReviewRow]) -> Comment | None:
    """Return a comment, still without text, on the lines of these rows; None if the rows have no lines."""
    lines = list(_in_unified_order([line for row in rows for line in row.rows]))
    numbers = [line.new for line in lines if line.new is not None]
    numbers = numbers or [line.old for line in lines if line.old is not None]
    if not numbers:
        return None
    excerpt = tuple(f"{SIGNS[line.kind]}{line.text}" for line in lines)
    return Comment(path, numbers[0], numbers[-1], excerpt, "")


def _in_unified_order(lines: Sequence[Row]) -> list[Row]:
    """Return the lines as in a unified diff, with the removed lines of each change before the added ones."""
    found: list[Row] = []
    for _, group in groupby(lines, key=lambda line: id(line.change) if line.change is not None else None):
        found += sorted(group, key=lambda line: line.kind != "removed")
    return found


class CommentLine(Horizontal):
    """A labelled input for a comment, which grows with the text. Hidden until `open` is called."""

    BINDINGS: ClassVar = keys.bindings("comment")
    DEFAULT_CSS = """
    CommentLine { height: auto; background: $surface; display: none; padding: 0 1; }
    CommentLine.shown { display: block; }
    CommentLine Static { width: auto; color: $text-muted; }
    CommentLine TextEditor { width: 1fr; height: auto; max-height: 8; background: $surface; }
    """

    class Closed(Message):
        """The user finished the comment; `text` is None if they cancelled."""

        def __init__(self, text: str | None) -> None:
            super().__init__()
            self.text = text

    def open(self, label: str, text: str) -> None:
        """Show and focus the input, which contains this text at first."""
        self.remove_children()
        line = TextEditor(text, multiline=True)
        self.mount(Static(f"{label}: ", markup=False), line)
        self.add_class("shown")
        self.screen.set_focus(line)

    def take_focus(self) -> None:
        """Pass the focus on to the input."""
        self.screen.set_focus(self.query_one(TextEditor))

    @property
    def shown(self) -> bool:
        """True while the line is visible."""
        return self.has_class("shown")

    def action_save(self) -> None:
        """Close the line and save the comment."""
        self._close(self.query_one(TextEditor).text.strip())

    def action_newline(self) -> None:
        """Insert a line break."""
        self.query_one(TextEditor).newline()

    def action_row(self, step: int) -> None:
        """Move the cursor a row up (-1) or down (1)."""
        self.query_one(TextEditor).move_rows(step)

    def action_cancel(self) -> None:
        """Close the line without a change to the comment."""
        self._close(None)

    def _close(self, text: str | None) -> None:
        self.remove_class("shown")
        self.post_message(self.Closed(text))


async def confirm_revert(screen: Screen[None], shown: Chosen) -> Chosen:
    """Ask which of the shown changes to revert; return them, none if the user cancelled.

    Changes that the user has edited are reverted only if the user says so. Call this in a worker.
    """
    possible: Chosen = [(file, parts) for file, parts in shown if file.revert_obstacle() is None]
    agents: Chosen = [
        (file, mine)
        for file, parts in possible
        if (mine := [part for part in parts if not is_by_others(file.authors_of(part))])
    ]
    total, edited = _count(possible), _count(possible) - _count(agents)
    facts = [f"{edited:,} edited by you"] if edited else []
    if stays := _count(shown) - total:
        facts.append(f"{stays:,} cannot be reverted")
    undo = keys.bound_keys(screen, "review.undo").partition(" ")[0]
    question = f"Revert {pluralize(_count(shown), 'change')} in {pluralize(len(shown), 'file')} on disk?"
    choices = [Choice("", "Cancel")]
    if edited and agents:
        words = f"Revert {pluralize(_count(agents), 'change')}, and leave your own edits"
        choices.append(Choice("agents", words))
    if total:
        words = f"Revert {pluralize(total, 'change')}" if edited or stays else "Revert everything shown"
        choices.append(Choice("all", f"{words}, also your own edits" if edited else words))
    note = f"{'; '.join(facts).capitalize()}. " if facts else ""
    dialog = ChooseScreen(question, choices, note=f"{note}You can undo this with {undo}.")
    answer = await screen.app.push_screen_wait(dialog)
    return {"agents": agents, "all": possible}[answer] if answer else []


def _count(chosen: Chosen) -> int:
    return sum(len(parts) for _, parts in chosen)


async def choose_filter(
    screen: Screen[None],
    state: ReviewState,
    review: ConversationReview,
    prompts: Sequence[str],
) -> ReviewFilter | None:
    """Let the user choose a filter, and return it; None if they cancelled. Call this in a worker."""
    choices = filter_choices(review.model.files.values(), prompts, state.commented)
    rows = [choice for _, choice in choices.values()]
    dialog = ChooseScreen("Show which changes?", rows, current=state.filter.value)
    answer = await screen.app.push_screen_wait(dialog)
    return choices[answer][0] if answer in choices else None
