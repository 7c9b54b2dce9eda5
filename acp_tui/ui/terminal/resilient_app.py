"""The app's base class, which survives unexpected errors and shuts down cleanly.

This module uses private parts of `textual.app.App`, which ends at the first unhandled error.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.css.query import NoMatches

from acp_tui.ui.terminal import error_containment
from acp_tui.ui.terminal.frame_diff import FrameDiff, diffed
from acp_tui.ui.terminal.passthrough import TerminalModes, write_to_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.driver import Driver
    from textual.screen import Screen


class ResilientApp(App[int]):
    """An app that reports an unexpected error and continues if possible.

    It ends after an error in these cases: before the first frame is complete; while it is exiting anyway; if
    an essential screen could not be composed or laid out; if errors come so fast that one seems to cause the
    next.
    """

    def __init__(self, *, ansi_color: bool = False) -> None:
        error_containment.install()
        super().__init__(ansi_color=ansi_color)
        self.terminal_modes = TerminalModes(partial(write_to_terminal, self))
        self.frame_diff = FrameDiff()
        self.failure: Exception | None = None
        """The error that ended the app; None if none did."""
        self.has_drawn = False
        """True once the first frame is complete."""
        self._error_counts: Counter[tuple[str, int, str]] = Counter()
        self._error_limit = error_containment.ErrorLimit()

    def get_driver_class(self) -> type[Driver]:
        """Return the driver for the user's terminal."""
        from acp_tui.ui.terminal.driver import TerminalDriver

        return TerminalDriver

    def is_essential(self, screen: Screen[Any]) -> bool:
        """Return True if the app cannot continue without this screen."""
        return screen is self.screen_stack[0]

    # ------------------------------------------------------------------------- drawing

    # Textual 8.2.8: writes each update of the screen here. There is no public hook.
    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, diffed(renderable, self.frame_diff, *self.size))

    def on_resize(self) -> None:
        """Draw everything again: terminals move or cut text when their size changes."""
        self.redraw()

    def redraw(self) -> None:
        """Draw the whole screen again, whatever the terminal shows now."""
        self.frame_diff.forget()
        self.refresh()

    # ------------------------------------------------------------------------- unexpected errors

    # Textual 8.2.8: calls this with every unhandled error, and ends the app. There is no public hook.
    def _handle_exception(self, error: Exception) -> None:
        error = getattr(error, "error", error)  # `WorkerFailed` wraps the worker's error
        broken = error_containment.broken_screen(error)
        # Textual 8.2.8: no public property says that the app is exiting; `is_running` is still true then.
        is_open = self.has_drawn and self._running and not self._exit
        if self.has_drawn and not is_open and isinstance(error, NoMatches):
            return  # widgets are removed before the workers that look for them are cancelled
        if not is_open or self._error_limit.exceeded() or (broken is not None and self.is_essential(broken)):
            super()._handle_exception(error)
            return
        self.report(error)
        if broken is not None:
            self.call_later(self.close_broken, broken)

    def report(self, error: BaseException | None, doing: str = "on the screen") -> None:
        """Log an unexpected error as `error_containment.record` does, and show the error in a toast.

        The toast names the path of the log, if there is a log.

        `doing` says when the error happened, in words that follow "Unexpected error" in the log. If `error`
        is None, `doing` describes the error instead.
        """
        from acp_tui.store.log_file import log_to_file

        error = error if error is not None else RuntimeError(doing)
        path = log_to_file()
        error_containment.record(error, self._error_counts, doing)
        where = f" Details are in {path}." if path is not None else ""
        sentence = f"Unexpected error: {error_containment.describe(error)}.{where}"
        self.call_later(self.notify, sentence, severity="error", timeout=10, markup=False)

    async def close_broken(self, screen: Screen[Any]) -> None:
        """Close a dialog that cannot be drawn. Its caller gets None, as if the user had closed the dialog."""
        while screen in self.screen_stack and self.screen is not screen:
            await self.pop_screen()
        if screen in self.screen_stack:
            screen.dismiss(None)

    def panic(self, *_: object) -> None:
        """End the app after an error. Store the error in `failure` instead of printing a traceback."""
        self._fatal_error()

    # Textual 8.2.8: collects the traceback here, to print it after the app has ended.
    def _fatal_error(self) -> None:
        self.failure = getattr(self._exception, "error", self._exception)  # see `_handle_exception`
        self._close_messages_no_wait()

    # ------------------------------------------------------------------------- the end

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Exit. While the app starts, wait for the first frame: partly mounted screens cannot be removed."""
        leave = partial(super().exit, result, return_code, message)
        if self.has_drawn or self._driver is None:  # Textual 8.2.8: None until the app has been started
            leave()
        else:
            self.call_after_refresh(leave)

    def discard_blocked_output(self) -> None:
        """From now on, drop output that the terminal does not accept. Safe to call in a signal handler."""
        from acp_tui.ui.terminal.driver import TerminalDriver

        if isinstance(self._driver, TerminalDriver):  # Textual 8.2.8: has no public access to the driver
            self._driver.discard_blocked_output()
