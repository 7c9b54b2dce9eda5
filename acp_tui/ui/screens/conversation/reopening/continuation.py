"""Continues a conversation in a new session, whose prompt is prefilled with a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.ui.keys.palette_command import PaletteCommand
from acp_tui.ui.screens.conversation.reopening.earlier_conversation import PromptDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.conversation.reopening.read_only_line import ReadOnlyLine
    from acp_tui.ui.screens.session.context import SessionContext
    from acp_tui.ui.screens.session.session_screen import SessionScreen
    from acp_tui.ui.theme.palette import Palette
    from acp_tui.ui.widgets.queue_strip import QueueStrip


class Continuation:
    """Continues a session in a new one. Shows a line in place of the prompt while a session is read-only.

    The prompt of the new session is prefilled with a summary of the old one.
    """

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        queue_strip: QueueStrip,
        runner: ConversationRunner,
        context: SessionContext,
        open_new_session: Callable[[PromptDraft], None],
    ) -> None:
        """`open_new_session` opens another screen, with a draft in its prompt."""
        self._screen = screen
        self._prompt = prompt
        self._queue_strip = queue_strip
        self._runner = runner
        self._context = context
        self._open_new_session = open_new_session
        self._line: ReadOnlyLine | None = None

    def commands(self) -> Iterator[PaletteCommand]:
        """Yield the command "Continue in a new session" if the session can be continued now.

        The command is omitted while the read-only line has the focus: the line has a key for the command.
        """
        session, line = self._context.session, self._line
        is_offered = session.prompts and not session.working if line is None else not line.has_focus
        if is_offered:
            word = "summary summarize memory read-only handover"
            yield PaletteCommand("Continue in a new session", self.run, "Session", word=word)

    # ------------------------------------------------------------------------- read-only

    def show_read_only(self, reason: str) -> None:
        """Replace the prompt with a line that says why nothing can be sent. `reason` is a sentence."""
        from acp_tui.ui.screens.conversation.reopening.read_only_line import ReadOnlyLine

        if self._line is not None:
            self._line.show(reason)
            return
        self._enable_prompt(False)
        self._line = ReadOnlyLine(reason, self._context.palette, self.run)
        self._screen.mount(self._line, after=self._prompt)
        self._screen.call_after_refresh(self.focus_line)

    def focus_line(self) -> bool:
        """Focus the line that is shown instead of the prompt. Return False if there is no such line."""
        if self._line is not None:
            self._line.focus()
        return self._line is not None

    def show_prompt(self) -> None:
        """Show the prompt again, in place of the read-only line."""
        if self._line is not None:
            line, self._line = self._line, None
            line.remove()
            self._enable_prompt(True)
            self._prompt.focus()

    def _enable_prompt(self, enabled: bool) -> None:
        self._prompt.display = enabled
        self._prompt.disabled = self._queue_strip.disabled = not enabled
        self._screen.refresh_bindings()

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        if self._line is not None:
            self._line.palette = palette
            self._line.refresh()

    # ------------------------------------------------------------------------- continuing

    def run(self) -> None:
        """Put a summary of this session into the prompt of a new session.

        If this session is read-only, the new session opens on this screen. Otherwise, if the agent has
        forgotten the conversation and no prompt was sent since then, no new session is needed: the summary
        goes into the prompt of this session.
        """
        if self._runner.opening:
            return  # the key was pressed twice
        from acp_tui.export.summary import summary_prompt

        session = self._context.session
        summary = summary_prompt(session)
        if self._line is not None:
            self._screen.run_worker(self._continue_here(summary), group="continue", exclusive=True)
        elif session.forgotten and not session.prompts_since_forgotten:
            self._insert(summary)
        else:
            self._open_new_session(PromptDraft(summary, []))

    async def _continue_here(self, summary: str) -> None:
        await self._runner.open_new()
        if self._line is None:  # the session is open
            self._insert(summary)

    def _insert(self, summary: str) -> None:
        """Insert the summary at the beginning of the prompt."""
        self._prompt.load(f"{summary}{self._prompt.text}")
        self._prompt.focus()
