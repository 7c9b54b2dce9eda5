"""The screen on which the changes of a conversation are accepted, reverted and commented on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.containers import Horizontal, Vertical

from acp_tui.console import pluralize
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.drawing.body import DrawContext
from acp_tui.ui.entries.diff import MIN_SPLIT_WIDTH
from acp_tui.ui.screens.review.decisions_and_comments import CommentActions, CommentLine, DecisionActions
from acp_tui.ui.screens.review.diff_view import DiffView
from acp_tui.ui.screens.review.file_diff import FileDiff, lines_label
from acp_tui.ui.screens.review.file_list import ReviewFileList
from acp_tui.ui.screens.review.review_state import ReviewState, author_label
from acp_tui.ui.widgets.bar import Bar, KeyBar
from acp_tui.ui.widgets.coalescing_worker import CoalescingWorker

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.controller.review import ConversationReview
    from acp_tui.errors import UserError
    from acp_tui.review.changed_file import ChangedFile
    from acp_tui.review.comments import Comment
    from acp_tui.session.state import Session


MAX_LINES_TO_PREPARE = 2_000
"""The maximum number of changed lines in a diff that is prepared. A larger one takes more than 10 ms."""
MIN_LIST_CELLS, MAX_LIST_CELLS = 26, 48
PAGE_MARGIN = 4
"""The cells beside the list that the text of a diff cannot use: margin, marks and scrollbar."""


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """The session whose changes are reviewed, and functions that act on its conversation."""

    session: Session
    cwd: str
    prompts: Callable[[], Sequence[str]]
    edit_file: Callable[[str, int | None], None]
    save_comments: Callable[[], None]
    send: Callable[[str], None]


class ReviewScreen(Dialog[None]):
    """Shows the changed files on the left, and the hunks of the chosen file on the right."""

    CSS = """
    ReviewScreen { background: $background; layout: vertical; }
    ReviewScreen Bar { padding: 0 1; }
    ReviewScreen #head { background: $surface; }
    ReviewScreen ReviewFileList { background: $surface; padding: 1 0 0 0; height: 1fr; }
    ReviewScreen #page { width: 1fr; }
    ReviewScreen #title { margin: 1 0 0 1; }
    ReviewScreen DiffView { height: 1fr; margin: 1 0 0 1; }
    """
    BINDINGS: ClassVar = keys.bindings("review")
    AUTO_FOCUS = "DiffView"

    def __init__(self, review: ConversationReview, context: ReviewContext, first: Path | None = None) -> None:
        """`first` is the file to show first."""
        super().__init__()
        self.review = review
        self.context = context
        self.state = ReviewState(review, first)
        self._refreshing = CoalescingWorker(self, self._refresh, self.show_error)
        self._compared = False  # with the disk
        self._commenting = CommentActions(review, context.save_comments)
        self._deciding = DecisionActions(review, self.state, self._show_decided, self._decision_failed)
        self._diffs = DiffPreparation(self.state)
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield Bar([], id="head")
        with Horizontal():
            yield ReviewFileList()
            with Vertical(id="page"):
                yield Bar([], id="title")
                yield DiffView()
        yield CommentLine()
        yield KeyBar()

    def on_mount(self) -> None:
        """Draw the screen. Update the review from the disk, now and whenever the app gets the focus."""
        self.app.app_resume_signal.subscribe(self, lambda _: self.request_refresh())
        self.watch(self.app, "app_focus", self._focus_changed, init=False)
        self._fit()
        self.update()
        self.request_refresh()

    def on_resize(self) -> None:
        """Draw the file at the new width."""
        self._fit()
        self.call_after_refresh(self.update)

    def _fit(self) -> bool:
        """Set the width of the list: wide enough for the names, if two columns of text fit beside it.

        Return True if the width has changed.
        """
        room = self.app.size.width
        usual = max(MIN_LIST_CELLS, min(MAX_LIST_CELLS, room // 4))
        width = max(usual, min(self.files.wanted_width, room - MIN_SPLIT_WIDTH - PAGE_MARGIN))
        before = self.files.styles.width
        self.files.styles.width = width
        return before is None or before.value != width

    @property
    def files(self) -> ReviewFileList:
        """The list on the left."""
        return self.query_one(ReviewFileList)

    @property
    def view(self) -> DiffView:
        """The diff on the right."""
        return self.query_one(DiffView)

    @property
    def _on_page(self) -> bool:
        """Whether the diff has the focus.

        The diff's `has_focus` is not used: it can still be out of date when the next key is handled.
        """
        return self.focused is self.view

    def apply_theme(self) -> None:
        self._shown = ()
        self._diffs.forget()
        self.update()

    # ------------------------------------------------------------------------- the disk

    def request_refresh(self) -> None:
        """Schedule an update of the review from the files on disk."""
        self._refreshing.request()

    async def _refresh(self) -> None:
        try:
            await self.review.refresh(self._loaded, self.state.path)
        finally:
            self._compared = True
            self._loaded()

    def _focus_changed(self, focused: bool) -> None:
        if focused:  # the user may have edited files elsewhere
            self.request_refresh()

    def _loaded(self) -> None:
        if self.is_attached:
            self._commenting.follow_lines()
            self.update()

    def show_error(self, error: UserError) -> None:
        """Show an error in a toast."""
        self.notify(str(error), severity="error", timeout=10, markup=False)

    # ------------------------------------------------------------------------- what is shown

    def update(self) -> None:
        """Show the current state of the review."""
        if not self.view.size.width:
            return  # before the first layout
        listed = self.state.listed_files()
        paths = [file.path for file in listed]
        is_gone = self.state.path is not None and self.state.path not in paths
        if self.state.path not in paths:
            self.state.path = paths[0] if paths else None
        note = "" if self.review.finds_all else "Only files reported by the agent are listed."
        if not self.review.has_baseline:
            note = "The files are on another machine."
        self.files.show_files(listed, note)
        if self._fit():
            self.call_after_refresh(self.update)  # the diff has another width now
        if self.state.path is not None:
            self.files.choose(str(self.state.path))
        self._show_file()
        self.view.part_is_gone |= is_gone
        self.show_head()
        self.refresh_bindings()

    def _show_file(self) -> None:
        """Draw the chosen file again if anything shown about it has changed."""
        file, drawing = self.state.file, self._drawing
        undo_key = keys.bound_keys(self, "review.undo").partition(" ")[0]
        message = self.state.message(undo_key, compared=self._compared)
        shown = (*self._diffs.inputs(file, drawing.width), message)
        if shown == self._shown:
            return
        on_page = self.view.diff.file.path if self.view.diff is not None else None
        moved = not self._shown or self._shown[0] is None or self.state.path != on_page
        self._shown = shown
        if file is None or not (self.state.shown_parts(file) or self._diffs.comments(file)):
            self.view.show(None, message)
            return
        self.view.show(self._diffs.diff(file, drawing))
        if moved:
            self.view.go_to_part(0)
            self.call_after_refresh(self._prepare_next)

    @property
    def _drawing(self) -> DrawContext:
        width = self.view.scrollable_content_region.width
        return DrawContext(width, self.context.session, cwd=self.context.cwd, full=True)

    def _prepare_next(self) -> None:
        if self.state.path is not None and self.is_attached:
            self._diffs.prepare_next(self.state.path, self._drawing, self.view.size.height)

    def show_head(self) -> None:
        """Show the filter and the progress at the top, and the position in the file above the diff."""
        self.query_one("#head", Bar).show(*self.state.head(self.context.prompts()))
        self._show_title()

    @on(DiffView.Moved)
    def _show_title(self) -> None:
        self.query_one("#title", Bar).show(*self.state.title(self.view.part))

    # ------------------------------------------------------------------------- moving

    @on(ReviewFileList.Chosen)
    def _choose_from_list(self) -> None:
        if self.files.chosen is not None:
            self._choose(Path(self.files.chosen))

    def _choose(self, path: Path, part: int = 0) -> None:
        """Choose a file and show it, with the cursor on the part with the index `part`."""
        self.state.path = path
        self.update()
        self.view.go_to_part(part)
        if self.state.file is None:
            self.request_refresh()

    def action_hunk(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hunk, which can be in another file."""
        count = len(self.view.diff.parts) if self.view.diff is not None else 0
        part = self.view.part + step
        if 0 <= part < count:
            self.view.go_to_part(part)
        else:
            self._go_to_file(step, last_part=step < 0)

    def action_file(self, step: int) -> None:
        """Go to the next (1) or previous (-1) file."""
        self._go_to_file(step)

    def _go_to_file(self, step: int, *, last_part: bool = False) -> None:
        paths = [file.path for file in self.state.listed_files() if file.open]
        if not paths:
            return
        if self.state.path in paths:
            at = paths.index(self.state.path) + step
            if not 0 <= at < len(paths):
                return
        else:
            at = 0 if step > 0 else len(paths) - 1
        file = self.review.model.files.get(paths[at])
        count = len(self.state.shown_parts(file)) if file is not None else 0
        self._choose(paths[at], max(0, count - 1) if last_part else 0)

    def action_move(self, step: int) -> None:
        """Move the cursor of the diff or, if the list has the focus, choose another file."""
        if self._on_page:
            self.view.move(step)
            return
        self.files.move(step)
        if self.files.chosen not in (None, str(self.state.path)):
            self._choose_from_list()

    def action_page(self, step: int) -> None:
        """Move the cursor by a page."""
        self.view.page(step)

    def action_end(self, step: int) -> None:
        """Go to the first (-1) or last (1) row; if the list has the focus, choose the first or last file."""
        if self._on_page:
            self.view.move(step * len(self.view.diff.rows) if self.view.diff is not None else 0)
        elif paths := [file.path for file in self.state.listed_files()]:
            self._choose(paths[0 if step < 0 else -1])

    def action_switch(self) -> None:
        """Move the focus from the list to the diff, or back."""
        self.set_focus(self.files if self._on_page else self.view)
        self.refresh_bindings()

    def action_open(self) -> None:
        """Move the focus from the list to the diff."""
        self.set_focus(self.view)
        self.refresh_bindings()

    # ------------------------------------------------------------------------- decisions

    async def action_accept(self) -> None:
        """Accept the hunk; if the list has the focus, accept all shown parts of the file."""
        if not self._warn_if_gone():
            await self._deciding.accept(self.view.part, whole_file=not self._on_page)

    async def action_revert(self) -> None:
        """Revert the hunk; if the list has the focus, revert all shown parts of the file."""
        if not self._warn_if_gone():
            await self._deciding.revert(self.view.part, whole_file=not self._on_page)

    def _warn_if_gone(self) -> bool:
        """If the part that the user moved to is gone, say so and return True: the key works the next time."""
        if not (self._on_page and self.view.part_is_gone):
            return False
        self.view.go_to_part(self.view.part)
        self.notify(
            "The hunk has changed or is gone. Look at the one at the cursor, then press the key again.",
            timeout=6,
        )
        return True

    async def action_undo(self) -> None:
        """Undo the last decision, and show the change it was about."""
        if not await self._deciding.undo():
            self.notify("There is no decision to undo.", timeout=3)
        self.request_refresh()  # a decision of an earlier acp-tui does not know who changed which hunk

    def action_revert_all(self) -> None:
        """Revert everything that is shown, after a confirmation."""
        self.run_worker(self._revert_all(), group="decide", exclusive=True)

    async def _revert_all(self) -> None:
        from acp_tui.ui.screens.review.decisions_and_comments import confirm_revert

        shown = self._deciding.everything_shown()
        if shown and (chosen := await confirm_revert(self, shown)):
            if reverted := await self._deciding.revert_all(chosen):
                self.notify(f"{pluralize(reverted, 'file')} reverted.", timeout=4)
            self.request_refresh()

    def _decision_failed(self, error: UserError) -> None:
        self.show_error(error)
        self.request_refresh()

    def _show_decided(self, path: Path, part: int) -> None:
        self._commenting.follow_lines()
        self._choose(path, part)

    # ------------------------------------------------------------------------- other keys

    def action_filter(self) -> None:
        """Let the user choose which changes are shown."""
        self.run_worker(self._choose_filter(), group="filter", exclusive=True)

    async def _choose_filter(self) -> None:
        from acp_tui.ui.screens.review.decisions_and_comments import choose_filter

        answer = await choose_filter(self, self.state, self.review, self.context.prompts())
        if answer is not None:
            self.state.filter = answer
            self.update()
            self.view.go_to_part(0)

    def action_edit(self) -> None:
        """Open the file in the editor, at the line of the cursor."""
        if self.state.path is None:
            return
        row = self.view.row
        lines = [one.new for one in row.rows if one.new is not None] if row is not None else []
        self.context.edit_file(str(self.state.path), lines[0] if lines else None)

    def action_range(self) -> None:
        """Start to choose a range of lines at the cursor, or cancel the range."""
        self.view.range_start = None if self.view.range_start is not None else self.view.cursor
        self.view.refresh()

    def action_comment(self) -> None:
        """Comment on the line, the chosen lines, or the hunk."""
        comment = self._commenting.begin(self.view)
        if comment is None:
            self.notify("There are no lines to comment on here.", timeout=3)
            return
        self.view.commenting = True
        self.query_one(CommentLine).open(f"Comment on {lines_label(comment)}", comment.text)
        self.refresh_bindings()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Keep the focus in the comment line while the line is shown: other widgets then take no keys."""
        line = self.query_one(CommentLine)
        if line.shown and line not in event.widget.ancestors:
            line.take_focus()

    @on(CommentLine.Closed)
    def _comment_closed(self, event: CommentLine.Closed) -> None:
        self.view.commenting, self.view.range_start = False, None
        self.set_focus(self.view)
        self._commenting.finish(event.text)
        self.update()
        self.refresh_bindings()

    def action_send(self) -> None:
        """Send all comments as one prompt, and close the screen."""
        if not self.review.comments:
            self.notify("There are no comments to send.", timeout=3)
            return
        self._commenting.follow_lines()
        prompt = self.review.take_comments()
        self.context.save_comments()
        self.dismiss(None)
        self.context.send(prompt)

    def action_close(self) -> None:
        """Cancel the comment or the range of lines; without either, close the screen."""
        if (line := self.query_one(CommentLine)).shown:
            line.action_cancel()
        elif self.view.range_start is not None:
            self.action_range()
        else:
            self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action has an effect now. The footer omits the keys of actions without effect."""
        if self.query_one(CommentLine).shown:
            return action == "interrupt"
        match action:
            case "send":
                return bool(self.review.comments)
            case "undo":
                return bool(self.review.model.decisions)
            case "accept" | "revert":
                return self.state.file is not None and bool(self.state.shown_parts(self.state.file))
            case "comment" | "range":
                return self._on_page and self.view.row is not None
            case "open":
                return not self._on_page
        return super().check_action(action, parameters)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of accept or revert; None for other keys.

        The label depends on the focus.
        """
        what = "" if self._on_page else " file"
        return {"review.accept": f"accept{what}", "review.revert": f"revert{what}"}.get(key_id)


class DiffPreparation:
    """Makes the diffs of files. The next file's diff is prepared in advance, and used if still correct."""

    def __init__(self, state: ReviewState) -> None:
        self._state = state
        self._prepared: tuple[tuple[object, ...], FileDiff] | None = None

    def inputs(self, file: ChangedFile | None, width: int) -> tuple[object, ...]:
        """Return the values that the diff of a file depends on, except the theme."""
        parts = self._state.shown_parts(file) if file is not None else ()
        name_turns = self._state.turn_count > 1
        return file, tuple(parts), tuple(self.comments(file)), width, self._state.other_name(file), name_turns

    def comments(self, file: ChangedFile | None) -> list[Comment]:
        """Return the comments on a file."""
        return self._state.comments_on(file.path) if file is not None else []

    def diff(self, file: ChangedFile, drawing: DrawContext) -> FileDiff:
        """Return the diff of a file: the prepared diff if it is still correct, else a new diff."""
        inputs = self.inputs(file, drawing.width)
        if self._prepared is not None and self._prepared[0] == inputs:
            return self._prepared[1]
        name_authors = partial(author_label, name_turns=self._state.turn_count > 1)
        parts = self._state.shown_parts(file)
        return FileDiff(file, parts, self.comments(file), drawing, name_authors, self._state.other_name(file))

    def prepare_next(self, path: Path, drawing: DrawContext, height: int) -> None:
        """Prepare the diff of the file after `path`, and draw as many rows of the diff as fit into `height`.

        Showing that file is then as fast as moving to another hunk.
        """
        paths = self._state.open_paths()
        at = paths.index(path) + 1 if path in paths else len(paths)
        file = self._state.loaded(paths[at]) if at < len(paths) else None
        if file is None or file.text is None or file.text.added + file.text.removed > MAX_LINES_TO_PREPARE:
            return
        diff = self.diff(file, drawing)
        for index in range(min(height, len(diff.rows))):
            diff.strips(index, current=False)
        self._prepared = self.inputs(file, drawing.width), diff

    def forget(self) -> None:
        """Drop the prepared diff. Must be called when the theme changes: `inputs` lacks the palette."""
        self._prepared = None
