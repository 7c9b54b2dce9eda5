"""The Esc key in a conversation: closes what is open, or stops what is running."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from acp_tui.ui import keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.conversation.user_commands import UserCommands
    from acp_tui.ui.screens.session.session_screen import SessionScreen

REPEAT_SECONDS = 1.0
"""The maximum number of seconds between two presses of Esc that open the rewind dialog."""


class StopKey:
    """Closes what is open in the conversation, or stops what is running."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        runner: ConversationRunner,
        user_commands: UserCommands,
        rewind: Callable[[], None],
    ) -> None:
        """`rewind` is called when Esc is pressed twice while the prompt is empty and the agent is idle."""
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._user_commands = user_commands
        self._rewind = rewind
        self._clock = time.monotonic
        self._idle_press = -math.inf  # when the key was pressed with nothing to close or stop

    @property
    def label(self) -> str:
        """What the key does now, for the footer; empty if it does nothing."""
        screen = self._screen
        if self._prompt.has_open_menu or screen.find.is_open or screen.panes.is_overlay:
            return "close"
        if screen.session.working or self._user_commands.any_running or self._runner.sign_in.waiting:
            return "stop"
        if screen.transcript.has_focus:
            return "prompt"
        return "twice: rewind" if self._can_rewind and not self._prompt.text else ""

    @property
    def _can_rewind(self) -> bool:
        conversation = self._runner.conversation
        return conversation is not None and conversation.rewind.available

    def press(self) -> None:
        """Call `close_or_stop`. If that does nothing and the transcript has the focus, focus the prompt.

        Otherwise, if the prompt is empty and a rewind is possible, two presses open the rewind dialog.
        """
        if self.close_or_stop():
            self._idle_press = -math.inf
        elif self._screen.transcript.has_focus:
            self._screen.type_text("")  # focuses the prompt, or the line in its place
        elif self._can_rewind and not self._prompt.text:
            self._press_idle()

    def _press_idle(self) -> None:
        now = self._clock()
        if now - self._idle_press < REPEAT_SECONDS:
            self._idle_press = -math.inf
            self._rewind()
        else:
            self._idle_press = now

    def close_or_stop(self) -> bool:
        """Close the menu, search or panes, or stop the sign-in, the turn or the user's shell command.

        Only the first applicable action is taken. Return False if no action applies.
        """
        if self._prompt.close_menu() or self._screen.close_find_or_overlay():
            return True
        if self._runner.sign_in.waiting:
            self._runner.sign_in.cancel()
        elif self._screen.session.working:
            self._stop_turn()
        else:
            return self._user_commands.stop_last()
        return True

    def _stop_turn(self) -> None:
        if self._screen.session.cancelling:
            key = keys.bound_keys(self._screen, "agent.restart")
            self._screen.notify(f"The agent is stopping. {key} kills and restarts it.", markup=False)
        else:
            self._runner.stop_turn()
