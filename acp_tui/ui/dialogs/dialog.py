"""Base class of the dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events, on
from textual.screen import ModalScreen

from acp_tui.ui import keys
from acp_tui.ui.dialogs.base_screen import app_of
from acp_tui.ui.widgets.bar import KeyHints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen
    from textual.timer import Timer

    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.bar import Hint


Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal screen. Ctrl+C copies the selection; without a selection, Ctrl+C does the same as Esc."""

    BINDINGS: ClassVar = keys.bindings("dialog")

    _is_obsolete = False

    @on(events.Mount)
    def _follow_theme(self) -> None:
        """Follow the theme, which can change with the terminal's background at any time."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.use_palette(app_of(self).palette))

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme. Dialogs that draw their own lines override this method."""

    def close_when_shown(self) -> None:
        """Close without a result as soon as the dialog is on the screen: its tab is not in front now."""
        self._is_obsolete = True

    @on(events.ScreenResume)
    def _close_if_obsolete(self) -> None:
        if self._is_obsolete:
            self.dismiss(None)

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def action_interrupt(self) -> None:
        """Copy the selection; call `action_close` if nothing is selected."""
        if (selected := self.get_selected_text()) is None:
            self.action_close()
        else:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()


PAUSE_SECONDS = 0.4
"""Seconds without a keystroke after which keys are accepted."""
REPLACEMENT_SECONDS = 1.0
"""Seconds until keys are accepted by a question that takes the place of one that was withdrawn."""


class TypingGuard:
    """Watches the keystrokes of a dialog, and says in its hint line when keys are ignored."""

    def __init__(
        self,
        dialog: Screen[Any],
        hints: Callable[[], Sequence[Hint]],
        clock: Callable[[], float],
        *,
        replaces_another: bool = False,
    ) -> None:
        """Create the guard.

        Args:
            dialog: The dialog, which shows `KeyHints`.
            hints: Returns the hints to show while keys are accepted.
            clock: Returns the seconds of a clock that never goes back.
            replaces_another: Whether the user was about to answer another question, which was withdrawn.
        """
        self._dialog = dialog
        self._hints = hints
        self.clock = clock
        self._last = clock()
        self._opens_at = self._last + (REPLACEMENT_SECONDS if replaces_another else 0)
        self._armed = False
        self._timer: Timer | None = None

    def restart(self) -> None:
        """Ignore keys until the next pause in typing. Call this when the dialog shows something new."""
        self._last = self.clock()
        self._armed = False
        self.update_hints()

    def filter_key(self, event: events.Key) -> None:
        """Stop a key that must not act yet, before any binding sees it.

        After an accepted arrow or other navigation key, the next key is accepted at once. After a key that
        types text, the next one is accepted only after a pause: typing `via` must not press `a` for "allow".
        """
        navigates = not event.is_printable and event.key in self._dialog.active_bindings
        accepted = self.accepts_keys
        self._armed = accepted and navigates
        self._last = self.clock()
        if not accepted:
            event.stop()
            event.prevent_default()
        self.update_hints()

    def hints(self) -> Sequence[Hint]:
        """Return the hints for the keys that work now; while keys are ignored, a hint to stop typing."""
        return self._hints() if self.accepts_keys else [("…", "keys work once you stop typing")]

    def update_hints(self) -> None:
        """Show the hints for the keys that work now. If keys are ignored, show new hints after the pause."""
        lines = self._dialog.query(KeyHints)  # none before the dialog is composed
        for line in lines:
            line.set_hints(self.hints())
        if self._timer is not None:  # without this, each ignored key would add a timer
            self._timer.stop()
            self._timer = None
        if lines and not self.accepts_keys:
            self._timer = self._dialog.set_timer(max(0.05, self._seconds_left), self.update_hints)

    @property
    def accepts_keys(self) -> bool:
        """Whether the next key is handled, not ignored."""
        return self._armed or self._seconds_left <= 0

    @property
    def _seconds_left(self) -> float:
        return max(self._last + PAUSE_SECONDS, self._opens_at) - self.clock()
