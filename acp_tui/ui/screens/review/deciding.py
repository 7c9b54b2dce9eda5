"""Accepts and reverts what is chosen on the review screen, and undoes the last decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.errors import UserError
from acp_tui.ui.screens.review.selection import ReviewFilter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from acp_tui.controller.changes.review import ConversationReview
    from acp_tui.review.changed_file import ChangedFile, Part
    from acp_tui.ui.screens.review.review_state import ReviewState


class Deciding:
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
        decide: Callable[[ChangedFile, Sequence[Part] | None], Awaitable[None]],
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

    def everything_shown(self) -> list[tuple[ChangedFile, Sequence[Part]]]:
        """Return the files to review, each with its parts that pass the filter."""
        files = self._review.model.files
        return [
            (files[path], self._state.shown_parts(files[path]))
            for path in self._state.open_paths()
            if path in files
        ]

    async def revert_all(self, chosen: Sequence[tuple[ChangedFile, Sequence[Part]]]) -> int:
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
