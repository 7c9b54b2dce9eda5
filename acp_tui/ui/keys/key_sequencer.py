"""Dispatches input in the order in which it was typed, even if an app key changes the screen."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.events import Key, Paste

from acp_tui.ui.keys.key_bindings import is_bound

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.widget import Widget
    from textual.worker import WorkType


if TYPE_CHECKING:
    Input = Key | Paste

MAX_WAIT_SECONDS = 1.0
"""How long input is held back at most, so that a widget that hangs does not block the program's keys."""


class KeySequencer:
    """Keeps input in order around app keys that can change the screen, such as Alt+1.

    Such a key waits until earlier input has been handled. Later input waits until the new screen is ready.
    Without this class, such a key would act at once, while characters still wait in the message queue
    of a widget, and keys that arrive together would act on the wrong tab. Each wait ends after
    `MAX_WAIT_SECONDS`.

    Keys pressed before the first screen is mounted are held back until then.
    """

    def __init__(
        self,
        app: App[Any],
        dispatch: Callable[[Input], Awaitable[None]],
        is_ready: Callable[[Screen[Any]], bool],
    ) -> None:
        """Create the sequencer.

        Args:
            app: The app that receives the input.
            dispatch: Passes input to a binding of the app or to the focused widget.
            is_ready: Returns False for a screen that is about to be replaced by the one the user wants.
        """
        self._app = app
        self._dispatch = dispatch
        self._is_ready = is_ready
        self._early_keys: list[Key] | None = []  # None once the first screen handles keys
        self._held: list[Input] = []
        self._is_holding = False
        self._target: Widget | None = None  # may still be handling the input that it received

    async def process(self, event: Input) -> None:
        """Dispatch a key or a paste now, or hold it back."""
        if self._early_keys is not None and isinstance(event, Key):
            if self._app.focused is None or not self._app.screen.is_mounted:
                self._early_keys.append(event)
                return
            await self.deliver_early_keys()
        if self._is_holding:
            # Sort by time, because a key that a widget forwards can be older than the input held back.
            insort(self._held, event, key=lambda held: held.time)
        elif not self._changes_screen(event):
            await self._pass_on(event)
        elif self._target is None:
            self._is_holding = True
            try:
                await self._pass_on(event)
            finally:
                self._start_release(self._target)
        else:
            self._is_holding = True
            self._held.append(event)
            self._start_release()

    def take_early_text(self) -> str:
        """Remove and return the text typed before the first frame, up to the first key that types nothing."""
        text = ""
        while self._early_keys and self._early_keys[0].is_printable:
            text += self._early_keys.pop(0).character or ""
        return text

    async def deliver_early_keys(self) -> None:
        """Process the keys pressed before the first screen was mounted, and collect no more of them."""
        early, self._early_keys = self._early_keys, None
        for event in early or ():
            await self.process(event)

    def _changes_screen(self, event: Input) -> bool:
        return isinstance(event, Key) and not event.is_printable and is_bound(self._app, "app", event.key)

    async def _pass_on(self, event: Input) -> None:
        self._target = self._app.focused or self._app.screen
        await self._dispatch(event)

    def _start_release(self, changing: Widget | None = None) -> None:
        # As a function, because the app may be closing, and then a coroutine would never be awaited.
        release: WorkType[None] = partial(self._release, changing)
        self._app.run_worker(release, group="keys")

    async def _release(self, changing: Widget | None = None) -> None:
        """Dispatch the input that is held back.

        If `changing` is given, first wait until this widget has handled its key and the new screen is ready,
        but at most `MAX_WAIT_SECONDS`.
        """
        try:
            if changing is not None:
                await self._screen_ready(changing)
            while self._held:
                await self._release_next()
        finally:
            self._is_holding = False

    async def _release_next(self) -> None:
        changes_screen = self._changes_screen(self._held[0])
        if changes_screen and self._target is not None:
            target, self._target = self._target, None
            await self._within_limit(self._handled(target))
            return  # what `target` has forwarded comes first
        await self._pass_on(self._held.pop(0))
        if changes_screen and self._target is not None:
            await self._screen_ready(self._target)

    async def _screen_ready(self, changing: Widget) -> None:
        await self._within_limit(self._wait_for_screen(changing))
        self._target = None

    async def _wait_for_screen(self, changing: Widget) -> None:
        """Wait until `changing` has handled its input; then wait until the screen in front is ready."""
        await self._handled(changing)
        while True:
            screen = self._app.screen
            await self._handled(screen)
            if screen is self._app.screen and self._is_ready(screen):
                return

    async def _handled(self, widget: Widget) -> None:
        """Wait until a widget and its parents have handled the widget's keys."""
        for node in [*(node for node in widget.ancestors_with_self if node is not self._app), self._app]:
            handled = asyncio.Event()
            if node.call_later(handled.set):
                await handled.wait()

    async def _within_limit(self, waiting: Awaitable[None]) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(waiting, MAX_WAIT_SECONDS)


def forward_typeahead(widget: Widget, event: Key) -> bool:
    """Pass a key to the widget that has the focus now. Return False if `widget` itself should handle the key.

    When a key is pressed, Textual queues it with the widget that has the focus. By the time the key is
    handled, an earlier one may have moved the focus. `widget` keeps the key if it still has the focus,
    if nothing has the focus because a dialog came up, or if the user has switched to another tab since
    pressing the key.
    """
    app = widget.app
    if app.focused in (widget, None) or widget.screen not in app.screen_stack:
        return False
    event.stop()
    event.prevent_default()
    forwarded = Key(event.key, event.character)
    forwarded.time = event.time  # the app sorts the keys that it holds back by time
    widget.app.post_message(forwarded)
    return True


_OPTION = dict(zip("∑π¡™£¢∞§¶•ª", ("w", "p", "1", "2", "3", "4", "5", "6", "7", "8", "9"), strict=True))
"""The keys of the characters on the Option layer of an American keyboard."""


def alt_keys_of(character: str) -> tuple[str, ...]:
    """Return the keys for which a terminal can have typed this character, in Textual's spelling."""
    keys = [_OPTION[character]] if character in _OPTION else []
    if len(character) == 1 and 0xA0 < ord(character) <= 0xFF and not character.isalpha():
        keys.append(chr(ord(character) - 0x80))
    return tuple(f"alt+{key}" for key in keys if key.isalnum())
