"""Continues a conversation in a new session, whose prompt is prefilled with a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from acp_tui.session.safe_text import escape_line
from acp_tui.ui import keys
from acp_tui.ui.conversation.earlier_conversation import PromptDraft
from acp_tui.ui.drawing.text_layout import hanging_lines
from acp_tui.ui.drawing.wrap import shorten_spans
from acp_tui.ui.keys.commands import PaletteCommand
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from textual import events
    from textual.geometry import Size

    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.widgets.strips import QueueStrip


MAX_REASON_LINES = 4


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
        open_new_session: Callable[[PromptDraft], None],
    ) -> None:
        """`open_new_session` opens another screen, with a draft in its prompt."""
        self._screen = screen
        self._prompt = prompt
        self._queue_strip = queue_strip
        self._runner = runner
        self._context = screen.context
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

        if self._line is not None:
            self._line.show(reason)
            return
        self._enable_prompt(False)
        self._line = ReadOnlyLine(reason, self.run)
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

    # ------------------------------------------------------------------------- continuing

    def run(self) -> None:
        """Put a summary of this session into the prompt of a new session.

        If this session is read-only, the new session opens on this screen. Otherwise, if the agent has
        forgotten the conversation and no prompt was sent since then, no new session is needed: the summary
        goes into the prompt of this session.
        """
        if self._runner.opening:
            return  # the key was pressed twice
        from acp_tui.ui.conversation.earlier_conversation import summary_prompt

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


class ReadOnlyLine(Widget, can_focus=True):
    """Says why nothing can be sent, and which keys the user can press."""

    DEFAULT_CSS = """
    ReadOnlyLine { height: auto; border-top: solid $foreground 20%; padding: 0 1; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar = keys.bindings("read_only")

    def __init__(self, reason: str, on_continue: Callable[[], None]) -> None:
        super().__init__()
        self._on_continue = on_continue
        self._reason = reason

    def show(self, reason: str) -> None:
        """Say why nothing can be sent, in place of the earlier reason. `reason` is a sentence."""
        self._reason = reason
        self.refresh(layout=True)

    def get_content_height(self, _container: Size, _viewport: Size, width: int) -> int:
        """Return the number of lines of the reason, plus one for the keys."""
        return len(self._reason_lines(width)) + 1

    def _reason_lines(self, width: int) -> list[Strip]:
        palette = current_palette()
        lead, reason = (
            Segment("⊘ Read-only. ", palette.warning),
            Segment(escape_line(self._reason), palette.text),
        )
        return hanging_lines([], [lead, reason], width, 0)[:MAX_REASON_LINES]

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._reason_lines(width)
        line = lines[y] if y < len(lines) else Strip(shorten_spans(self._keys(), width))
        return line.crop_extend(0, width, self.rich_style).apply_style(self.rich_style)

    def _keys(self) -> list[Segment]:
        palette = current_palette()
        return [
            Segment(f"{keys.bound_keys(self, 'session.continue')} ", palette.key),
            Segment("continue in a new session · ", palette.dim),
            Segment(f"{keys.bound_keys(self.screen, 'agent.restart')} ", palette.key),
            Segment("try again", palette.dim),
        ]

    def action_continue(self) -> None:
        """Continue in a new session."""
        self._on_continue()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.focus()


class AgentReadiness:
    """Tells the status line why the agent accepts no prompt, for example that the agent has ended."""

    def __init__(self, screen: SessionScreen, runner: ConversationRunner) -> None:
        self._screen = screen
        self._runner = runner

    @property
    def _restart_key(self) -> str:
        return keys.bound_keys(self._screen, "agent.restart")

    def open_failed(self) -> None:
        """Show that no session was opened, and which key restarts the agent."""
        self._screen.status.stuck = f"not ready · {self._restart_key} tries again"
        self._update()

    def not_reopened(self) -> None:
        """Show that the session can only be read."""
        self._screen.status.stuck = "read-only"
        self._update()

    def sign_in_required(self) -> None:
        """Show that the user has to sign in first."""
        self._screen.status.stuck = f"not signed in · {self._restart_key} to sign in"
        self._update()

    def work_started(self) -> None:
        """Clear the text in the status line: a sign-in or the opening of a session has begun."""
        self._screen.status.stuck = ""
        self._update()

    def _update(self) -> None:
        if self._screen.is_attached:
            self._screen.update_status()

    def awaited(self) -> str:
        """Return a status text: what the session waits for, or what the user can do; "" if there is none."""
        session = self._screen.session
        if self._runner.reconnection.due_at is not None:
            return f"{self._restart_key} now"
        if self._runner.sign_in.waiting:
            return f"signing in · {keys.bound_keys(self._screen, 'turn.stop')} cancels"
        if session.phase == "dead":
            prepared = self._runner.prepared
            is_connected = prepared is not None and prepared.conversation.launch.address is not None
            if self._runner.opening:
                return "connecting again" if is_connected else "starting"
            ended = "disconnected" if is_connected else "ended"
            again = "connects again" if is_connected else "restarts it"
            return f"{ended} · {self._restart_key} {again}"
        if session.cancelling:
            return f"not responding · {self._restart_key} restarts the agent"
        return ""
