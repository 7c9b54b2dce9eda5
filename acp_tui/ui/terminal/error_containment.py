"""Keeps an unexpected error in a handler, timer, worker or renderer from ending the app.

Textual 8.2.8 passes every such error to `App._handle_exception` and ends. `ResilientApp` overrides this
method in order to report the error and continue if possible. The override is not enough for errors in two
other methods of Textual. `install` therefore replaces these two methods:

- `MessagePump._dispatch_message`: an error would end the message loop, and the widget would handle no more
  messages. The replacement reports the error inside the loop.
- `Widget.render_lines`: an error would prevent this frame and all following frames. The replacement draws a
  note in place of the widget that fails, and tries to draw the widget again after a pause.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from textwrap import shorten
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rich.segment import Segment
from rich.style import Style
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    from collections import Counter

    from textual.app import App
    from textual.geometry import Region
    from textual.message import Message

    Render = Callable[[Any, Region], list[Strip]]

log = logging.getLogger(__name__)

MAX_ERROR_CHARACTERS = 200
"""The maximum length of an error's description, which may quote text of any length from the agent."""
MAX_TRACEBACKS = 3
"""The number of errors from one line of code to log with a traceback. Most later ones are only counted."""
RETRY_SECONDS = 1.0
"""Seconds to wait before a widget that could not be drawn is drawn again."""
MAX_ERRORS, ERROR_WINDOW = 1000, 10.0
"""After more than `MAX_ERRORS` errors in `ERROR_WINDOW` seconds the app ends, because they seem endless."""

_failed: WeakKeyDictionary[Widget, float] = WeakKeyDictionary()


def describe(error: BaseException) -> str:
    """Return the type and message of an error, in one line without control characters."""
    return shorten(escape_line(f"{type(error).__name__}: {error}"), MAX_ERROR_CHARACTERS, placeholder=" …")


def record(error: BaseException, counts: Counter[tuple[str, int, str]], doing: str) -> None:
    """Log an error: the first few from one line of code with a traceback, then the 10th, 100th and 1000th.

    Args:
        error: The error.
        counts: The number of errors so far, by their origin; updated by this function.
        doing: Says when the error happened, in words that follow "Unexpected error".
    """
    key = _origin(error)
    counts[key] += 1
    if counts[key] <= MAX_TRACEBACKS:
        log.error("Unexpected error %s", doing, exc_info=error)
    elif counts[key] in (10, 100, 1000):
        log.error("Unexpected error %s, %d times so far: %s", doing, counts[key], describe(error))


def _origin(error: BaseException) -> tuple[str, int, str]:
    """Return the file and the line where an error was raised, and the error's type."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return "", 0, type(error).__name__
    return traceback.tb_frame.f_code.co_filename, traceback.tb_lineno, type(error).__name__


def broken_screen(error: BaseException) -> Screen[Any] | None:
    """Return the screen whose composition or layout raised an error; None if something else raised it."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        owner = frame.f_locals.get("self")
        if isinstance(owner, Screen) and frame.f_code.co_name in ("_compose", "_refresh_layout"):
            return owner
        traceback = traceback.tb_next
    return None


class ErrorLimit:
    """Detects that errors occur faster than a user or an agent could cause them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()
        self._count = 0

    def exceeded(self) -> bool:
        """Count one more error. Return True if there have been too many in the current time window."""
        now = self._clock()
        if now - self._since > ERROR_WINDOW:
            self._since, self._count = now, 0
        self._count += 1
        return self._count > MAX_ERRORS


@contextmanager
def contain_errors(app: App[Any]) -> Iterator[None]:
    """Report an error of the block, instead of propagating the error."""
    try:
        yield
    except Exception as error:
        report_error(app, error)


def report_error(app: App[Any], error: Exception) -> None:
    """Report an error as if no handler had caught it."""
    app._handle_exception(error)  # Textual 8.2.8: the only place that sees every unhandled error


def guard(render: Render) -> Render:
    """Wrap `Widget.render_lines` so that, if the widget raises an error, a note is drawn instead."""

    @wraps(render)
    def render_lines(self: Widget, crop: Region) -> list[Strip]:
        if _failed and (failed_at := _failed.get(self)) is not None:
            if time.monotonic() - failed_at < RETRY_SECONDS:
                return _note(crop)
            del _failed[self]
        try:
            return render(self, crop)
        except Exception as error:
            _failed[self] = time.monotonic()
            report_error(self.app, error)
            return _note(crop)

    return render_lines


def _note(crop: Region) -> list[Strip]:
    note = Strip([Segment("This part could not be drawn.", Style(reverse=True))])
    lines = [note if y == 0 else Strip([]) for y in crop.line_range]
    return [line.crop_extend(crop.x, crop.right, Style()) for line in lines]


def install() -> None:
    """Replace Textual's methods for dispatching messages and rendering lines. Further calls do nothing."""
    dispatch = MessagePump._dispatch_message  # Textual 8.2.8: see the module's docstring
    if getattr(dispatch, "__wrapped__", None) is not None:
        return

    @wraps(dispatch)
    async def dispatch_message(self: MessagePump, message: Message) -> None:
        try:
            await dispatch(self, message)
        except Exception as error:
            report_error(self.app, error)

    MessagePump._dispatch_message = dispatch_message  # type: ignore[method-assign]
    Widget.render_lines = guard(Widget.render_lines)  # type: ignore[method-assign, assignment]
