"""The dialogs that restore the files, the conversation or both to what they were before a prompt."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from acp_tui.console import pluralize
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_invisible_line, escape_line
from acp_tui.session.state import Choice
from acp_tui.text_format import format_time
from acp_tui.ui import keys
from acp_tui.ui.dialogs.dialog import BoxDialog
from acp_tui.ui.entries.headline import line_counts
from acp_tui.ui.theme.palette import Spans, current_palette
from acp_tui.ui.widgets.select_list import SelectList, SelectRow

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from acp_tui.controller.conversation import Conversation
    from acp_tui.controller.rewind import FileTexts, RewindPoint
    from acp_tui.controller.rewind import Rewind as FileRewind
    from acp_tui.ui.conversation.earlier_conversation import NewSession
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.keys.commands import PaletteCommand
    from acp_tui.ui.widgets.bar import Hint
    from acp_tui.workspace.baseline.turn_history import RewindStep


_MAX_PROMPT_CHARACTERS = 60
_PARTS = [
    Choice("files", "Files", "the conversation continues"),
    Choice("conversation", "Conversation", "a new session starts with the earlier conversation as text"),
    Choice("both", "Files and conversation", ""),
]
_ACTIONS = 2
"""The number of rows above the files. "Cancel" is selected first, so that type-ahead restores nothing."""
_VERBS = {
    "restore": "restore",
    "create": "restore (deleted since)",
    "delete": "delete (new since)",
    "mode": "restore the file mode",
}


class RewindActions:
    """Lets the user choose a prompt and what to restore, and shows what would happen to the files."""

    def __init__(
        self, screen: SessionScreen, runner: ConversationRunner, new_session: NewSession | None
    ) -> None:
        """Without `new_session`, only files can be restored."""
        self._screen = screen
        self._runner = runner
        self._context = screen.context
        self._new_session = new_session

    def commands(self) -> Iterator[PaletteCommand]:
        """Return the rewind commands that are available now, for the command palette."""
        from acp_tui.ui.keys.commands import PaletteCommand

        conversation = self._runner.conversation
        if conversation is None or self._context.session.working:
            return
        if conversation.rewind.available:
            yield PaletteCommand("Rewind", self.open, "Session", word="restore files checkpoint go back")
        if conversation.rewind.can_undo:
            yield PaletteCommand("Undo rewind of files", self.undo, "Session", word="restore")

    def open(self) -> None:
        """Let the user choose a prompt and what to restore to the state before that prompt."""
        self._screen.run_worker(self._rewind(), group="choose", exclusive=True)

    def undo(self) -> None:
        """Undo the last rewind of files; without one, say so."""
        self._screen.run_worker(self._undo_rewind(), group="choose", exclusive=True)

    async def _rewind(self) -> None:
        conversation = self._runner.conversation
        if conversation is None or not conversation.rewind.available:
            self._screen.notify("No prompt has been sent yet.", timeout=3)
            return
        try:
            point = await self._choose_point(conversation)
            what = await self._choose_what() if point is not None else None
            if point is None or what is None:
                return
            if what != "files" and (reason := self._screen.busy_reason()):
                self._screen.notify(reason, markup=False)
                return
            restored = what == "conversation" or await self._restore(conversation, point, what)
            if restored and what != "files":
                await self._continue_before(point, conversation.rewind if what == "both" else None)
        except UserError as error:
            self._screen.notify_error(error)

    async def _choose_point(self, conversation: Conversation) -> RewindPoint | None:
        from acp_tui.ui.dialogs.choose import ChooseScreen

        points = await conversation.rewind.points()
        choices = [Choice(str(point.number), _label(point), _summary(point)) for point in points]
        title = "Go back to before which prompt?"
        if conversation.rewind.incomplete:
            title += f" (the latest {len(points)})"
        chosen = await self._screen.ask(ChooseScreen(title, choices))
        return next((point for point in points if str(point.number) == chosen), None)

    async def _choose_what(self) -> str | None:
        from acp_tui.ui.dialogs.choose import ChooseScreen

        if self._new_session is None:
            return "files"
        return await self._screen.ask(ChooseScreen("What to restore", _PARTS))

    async def _continue_before(self, point: RewindPoint, files: FileRewind | None) -> None:
        """Open a new session with the chosen prompt as its draft. Attach the conversation before that prompt.

        If `files` is given, the new session can still undo the last rewind of files, unless
        `files.replaced_files` raises `UserError`.
        """
        from acp_tui.ui.conversation.earlier_conversation import prompt_with_earlier_conversation

        assert self._new_session is not None
        if reason := self._screen.busy_reason():
            self._screen.notify(reason, markup=False)
            return
        draft = prompt_with_earlier_conversation(self._context.session, point.number)
        if files is not None:
            try:
                draft = draft._replace(replaced=await files.replaced_files())
            except UserError as error:
                self._screen.notify_error(error)
        screen = self._new_session(draft)
        self._screen.post_message(self._screen.SwitchRequested(self._screen, screen))

    async def _restore(self, conversation: Conversation, point: RewindPoint, what: str) -> bool:
        """Ask for confirmation, and restore the files to what they were before a prompt.

        Return False if the user cancelled, or if restoring a file failed. `what` is "files" or "both".
        """
        plan = await conversation.rewind.plan(point.number)
        steps = [step for step in plan if step.obstacle is None]
        if not plan:
            self._screen.notify("No file has changed since that prompt.", timeout=3)
            return True
        if not steps:
            first = f"{self._name(plan[0].path)}: {plan[0].obstacle}"
            self._screen.notify(f"No file can be restored. {first}.", severity="warning", markup=False)
            return True
        chosen = await self._choose_files(conversation, point, plan)
        if not chosen:
            self._screen.notify("No file was restored.", timeout=3)
            return chosen is not None
        keep = {step.path for step in steps} - chosen
        overwrite = chosen
        result = await conversation.rewind.restore_files(point.number, overwrite=overwrite, keep=keep)
        restored = pluralize(len(result.restored), "file")
        if result.failed:
            reason = escape_line(result.failed[0][1])
            message = f"{restored} restored, {pluralize(len(result.failed), 'file')} not restored: {reason}"
            self._screen.notify(message, severity="error", timeout=10, markup=False)
            return False
        note = " The agent is not told about the change." if what == "files" else ""
        self._screen.notify(f"{restored} restored.{note}", markup=False)
        return True

    async def _choose_files(
        self, conversation: Conversation, point: RewindPoint, plan: Sequence[RewindStep]
    ) -> frozenset[Path] | None:
        """Let the user choose which files to restore; return None if they cancelled."""

        dialog = RewindDialog(
            f"Before prompt {point.number}: restore which files?",
            plan,
            self._name,
            conversation.rewind.texts,
            cwd=self._context.cwd,
        )
        return await self._screen.ask(dialog)

    async def _undo_rewind(self) -> None:
        conversation = self._runner.conversation
        if conversation is None:
            return
        try:
            result = await conversation.rewind.undo()
        except UserError as error:
            self._screen.notify_error(error)
        else:
            self._screen.notify(
                f"Rewind undone: {pluralize(len(result.restored), 'file')} restored.", markup=False
            )

    def _name(self, path: Path) -> str:
        relative = os.path.relpath(path, self._context.cwd)
        return escape_invisible_line(str(path) if relative.startswith("..") else relative)


def _shorten(prompt: str) -> str:
    line = escape_invisible_line(" ".join(prompt.split()))
    return line if len(line) <= _MAX_PROMPT_CHARACTERS else f"{line[: _MAX_PROMPT_CHARACTERS - 1]}…"


def _label(point: RewindPoint) -> str:
    """Return a label by which prompts with the same text can be told apart."""
    return f"{point.number}  {format_time(point.at, time.time())}  {_shorten(point.prompt)}"


def _summary(point: RewindPoint) -> str:
    if not point.files:
        return "changed no files"
    return f"changed {pluralize(point.files, 'file')}  +{point.added} −{point.removed}"


class RewindDialog(BoxDialog["frozenset[Path] | None"]):
    """Returns the files to restore, or None if cancelled.

    Files that somebody else than the agent has edited are restored only if the user chooses them.
    """

    CSS = """
    RewindDialog #head { margin-bottom: 1; }
    """
    DEFAULT_CLASSES = "warning"
    WIDTH = 84
    BINDINGS: ClassVar = keys.bindings("rewind")

    def __init__(
        self,
        title: str,
        steps: Sequence[RewindStep],
        name: Callable[[Path], str],
        texts: Callable[[RewindStep], Awaitable[FileTexts]],
        *,
        cwd: str,
    ) -> None:
        """`name` returns a path for display, `texts` what a step would change."""
        super().__init__(title)
        self._steps = steps
        self._display_name = name
        self._texts = texts
        self._cwd = cwd
        self._counts: dict[Path, tuple[int, int]] = {}
        self._chosen = {
            step.path for step in steps if step.obstacle is None and not step.edited_between_turns
        }

    def content(self) -> ComposeResult:
        yield SelectList(self._rows(), id="choices")

    def hints(self) -> list[Hint]:
        actions = (
            ("take", "choose"),
            ("switch", "on / off"),
            ("all", "all"),
            ("diff", "diff"),
            ("close", "cancel"),
        )
        return [(keys.bound_keys(self, f"rewind.{name}"), label) for name, label in actions]

    def on_mount(self) -> None:
        """Count the lines of the files."""
        self.run_worker(self._count(), group="count", exclusive=True)

    def fit(self) -> None:
        rows = self.query_one(SelectList)
        rows.styles.height = max(1, min(rows.height_at(self.inner_width), self.room))

    async def _count(self) -> None:
        for step in self._steps:
            if step.obstacle is None and (counts := (await self._texts(step)).counts) is not None:
                self._counts[step.path] = counts
        self._update()

    def apply_theme(self) -> None:
        super().apply_theme()
        self._update()

    # ------------------------------------------------------------------------- the rows

    def _update(self) -> None:
        rows = self.query_one(SelectList)
        rows.show(self._rows(), rows.selected)

    def _rows(self) -> list[SelectRow]:
        count = len(self._chosen)
        words = f"Restore {pluralize(count, 'file')}" if count else "Restore no file"
        actions = [SelectRow([], [Segment(text, current_palette().text)]) for text in ("Cancel", words)]
        return [*actions, *map(self._row, self._steps)]

    def _row(self, step: RewindStep) -> SelectRow:
        palette = current_palette()
        name = self._display_name(step.path)
        if step.obstacle is not None:
            text = [Segment(f"{name}: stays", palette.dim)]
            return SelectRow(
                [Segment("    ")], text, [Segment(escape_invisible_line(step.obstacle), palette.dim)]
            )
        note: Spans | None = None
        if step.edited_between_turns:
            words = "Also edited between turns: restoring it loses these edits."
            if not step.changed_by_agent:
                words = "Changed between turns only, not by the agent."
            note = [Segment(words, palette.warning)]
        tail: Spans = []
        for count, style in line_counts(*self._counts.get(step.path, (0, 0))):
            tail += [Segment(" "), Segment(count, style)]
        mark = "[x] " if step.path in self._chosen else "[ ] "
        text = [Segment(f"{name}: {_VERBS[step.kind]}", palette.text)]
        return SelectRow([Segment(mark, palette.accent)], text, note, tail)

    @property
    def _step(self) -> RewindStep | None:
        at = self.query_one(SelectList).selected - _ACTIONS
        return self._steps[at] if at >= 0 else None

    # ------------------------------------------------------------------------- keys

    def action_end(self, step: int) -> None:
        """Select the last file, or the first row if `step` is negative."""
        self.query_one(SelectList).move_to_end(step)

    def action_choose(self) -> None:
        """Close the dialog; on a file, choose the file or not."""
        match self.query_one(SelectList).selected:
            case 0:
                self.dismiss(None)
            case 1:
                self.dismiss(frozenset(self._chosen))
            case _:
                self.action_switch()

    def action_switch(self) -> None:
        """Choose the selected file, or no longer."""
        if (step := self._step) is not None and step.obstacle is None:
            self._chosen ^= {step.path}
            self._update()

    def action_toggle_all(self) -> None:
        """Choose all files; if all are chosen, none."""
        every = {step.path for step in self._steps if step.obstacle is None}
        self._chosen = set() if self._chosen == every else every
        self._update()

    async def action_diff(self) -> None:
        """Show what restoring the selected file would change."""
        from acp_tui.session.state import Diff
        from acp_tui.ui.dialogs.detail import DetailScreen
        from acp_tui.ui.entries.diff import DiffBody

        if (step := self._step) is None:
            return
        found = await self._texts(step)
        name = self._display_name(step.path)
        if found.problem is not None:
            self.notify(f"{name}: {found.problem}", markup=False)
            return
        diff = Diff(str(step.path), found.now, found.then)
        title = f"{name}: what restoring it changes"
        page = DetailScreen(title, lambda drawing: [DiffBody(diff, drawing)], cwd=self._cwd)
        self.app.push_screen(page)
