"""The conversation screen: status, transcript, queue, prompt, keys.

It connects the runner to the widgets: changes are drawn once a frame, the user's actions go to the runner.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import work

from acp_tui.entry_display import folder_label
from acp_tui.session.state import Session as SessionState
from acp_tui.session.state import TurnEnd, UserMessage
from acp_tui.ui import keys
from acp_tui.ui.conversation import gc_control
from acp_tui.ui.conversation.attention import Attention
from acp_tui.ui.conversation.pending_questions import PendingQuestions
from acp_tui.ui.conversation.runner import ConversationRunner
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.conversation.toasts import notify_problems
from acp_tui.ui.drawing.wrap import shorten
from acp_tui.ui.entries import renderers
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.screens.agent_settings import AgentSettings
from acp_tui.ui.screens.exporting import Exporting
from acp_tui.ui.screens.sign_in import SignIn
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.queue_strip import QueueStrip
from acp_tui.ui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.widget import Widget

    from acp_tui.controller import Conversation, QuestionHandler
    from acp_tui.errors import UserError
    from acp_tui.session.change import Change
    from acp_tui.session.events import Event
    from acp_tui.session.record import Record
    from acp_tui.session.state import AuthMethod, Entry
    from acp_tui.ui.conversation.pending_questions import PendingQuestion
    from acp_tui.ui.conversation.runner import PreparedConversation
    from acp_tui.ui.permission.dialog import PermissionAnswer, PermissionScreen
    from acp_tui.ui.screens.base import BaseScreen
    from acp_tui.ui.theme.palette import Palette

AGENT_WIDTH = 40
"""Cells for an agent's own title in a question: it must not push aside what is asked."""


class ConversationScreen(SignIn, AgentSettings, Exporting):
    """One conversation."""

    BINDINGS: ClassVar = keys.bindings("conversation")
    AUTO_FOCUS = "Prompt PromptEditor"

    def __init__(
        self,
        make: Callable[[QuestionHandler], PreparedConversation],
        agent: str,
        palette: Palette,
        *,
        first_prompt: str | None = None,
        new_session: Callable[[Palette], BaseScreen] | None = None,
    ) -> None:
        # A session of its own until the runner has made the real one.
        super().__init__(SessionState(), StatusTracker(agent), palette, Prompt(agent_title=agent))
        self.questions = PendingQuestions(self._question_changed)
        self.runner = ConversationRunner(make, self.questions, self)
        self.attention = Attention.of(self)
        self._first_prompt = first_prompt
        self.new_session = new_session
        self._asked: PendingQuestion | None = None  # the question that is on the screen
        self._dialog: PermissionScreen | None = None  # … and what shows it

    def below(self) -> Iterable[Widget]:
        """What waits, and where the user writes."""
        return QueueStrip(), self.prompt

    def on_mount(self) -> None:
        """The first frame comes first; then the agent is started."""
        if (early := getattr(self.app, "early_text", None)) is not None and (text := early()):
            self.typed(text)
        self.call_after_refresh(self._after_first_frame)

    def _after_first_frame(self) -> None:
        gc_control.pause()
        self._start()

    @work
    async def _start(self) -> None:
        try:
            await self.runner.start()
            await asyncio.to_thread(renderers.import_renderers)
        finally:
            gc_control.resume()

    # ------------------------------------------------------------------------- the widgets

    @property
    def conversation(self) -> Conversation | None:
        """The conversation, or None before it exists."""
        return self.runner.conversation

    def typed(self, text: str) -> None:
        """What is typed in the transcript belongs into the prompt."""
        self.prompt.focus()
        self.prompt.insert(text)

    # ------------------------------------------------------------------------- reports of the runner

    def session_created(self, session: SessionState) -> None:
        """The real state is there; what was recorded of it before is shown at once."""
        self.session = session
        prepared = self.runner.prepared
        assert prepared is not None
        conversation = prepared.conversation
        self._status.agent = conversation.launch.title
        self._status.project = folder_label(str(conversation.cwd))
        self._status.branch = prepared.app_context.branch(conversation.cwd) or ""
        self._status.policy = conversation.options.policy
        self._use_workspace()
        self.prompt.agent_title = conversation.launch.title
        self.prompt.history = prepared.app_context.history(conversation.cwd)
        self.prompt.load_draft(prepared.app_context.draft(conversation))
        self.transcript.use_session(session, str(conversation.cwd))
        self.begin_with_pane(prepared.app_context.settings.panes)
        self._show_queue()
        self._update_status()
        settings = prepared.app_context.settings
        notify_problems(self.app, [*settings.problems, *self.attention.follow(settings)])
        for notice in prepared.app_context.notices:
            self.notify(notice, severity="warning", timeout=10, markup=False)
        if self._first_prompt:
            self.prompt.remember(self._first_prompt)
            self.runner.submit(self._first_prompt, self.prompt.attachments_in(self._first_prompt))

    def record_applied(self, _record: Record, _events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Something happened: it is shown with the next frame."""
        self.frames.add(changes)

    def start_failed(self, error: UserError) -> None:
        """There can be no conversation: whoever started us is told why."""
        self.app.give_up(error)  # type: ignore[attr-defined]  # the only app there is

    def open_failed(self, *, session_lost: bool) -> None:
        """There is no session, and the user has to do something about it."""
        key = self._restart_key
        lost = f"session not resumed · {key} starts a new one"
        self._status.stuck = lost if session_lost else f"not ready · {key} tries again"
        if self.is_attached:
            self._update_status()

    def sign_in_required(self, methods: list[AuthMethod]) -> None:
        """The agent wants the user to sign in first."""
        self._status.stuck = f"sign in first · {self._restart_key} asks again"
        self._update_status()
        super().sign_in_required(methods)

    def turn_failed(self, error: UserError, text: str) -> None:
        """The prompt comes back, selected. What the agent answered stands in the transcript already."""
        if not self.prompt.text:
            self.prompt.load_selected(text)
        if self.session.last_error is None and self.session.phase != "dead":
            self.show_error(error)

    def show_error(self, error: UserError) -> None:
        """Something failed."""
        if self.is_attached:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            self._update_status()

    def _show(self, changes: list[Change]) -> None:
        facts = {change.fact for change in changes if change.kind == "fact"}
        if facts & {"process", "session_id"}:
            self._status.stuck = ""
        if "commands" in facts:
            self.prompt.commands = self.session.commands
        if facts & {"queue", "queue_paused"}:
            self._show_queue()
        if "agent" in facts and self.session.agent is not None:
            agent = self.session.agent
            self.prompt.agent_title = agent.title or agent.name or self._status.agent
            self._use_agent(agent)
        if "phase" in facts and self.session.phase == "idle":
            gc_control.collect_and_freeze()
        self.prompt.agent_busy = self.session.phase != "idle"
        if facts & {"phase", "stop_reason", "modes", "config_options", "models"}:
            self.refresh_bindings()
        self._follow_commands(changes)
        if self._dialog is not None:
            self._dialog.follow(changes)
        super()._show(changes)

    def _show_queue(self) -> None:
        self.query_one(QueueStrip).show(self.session.queue, paused=self.session.queue_paused)
        self.prompt.queued = len(self.session.queue)

    def _update_status(self) -> None:
        self._status.starting = self.runner.opening
        super()._update_status()
        shown = self.questions.shown
        call = shown.question.call if shown is not None else None
        self.attention.see(self.query_one(StatusLine).facts, call.title if call is not None else "")

    @property
    def _restart_key(self) -> str:
        return keys.bound_keys(self, "agent.restart")

    def _asking(self) -> bool:
        return self.questions.shown is not None

    def _awaited(self) -> str:
        if self.runner.signing_in:
            return f"signing in · {keys.bound_keys(self, 'turn.stop')} cancels"
        if self.session.phase == "dead" and not self.runner.opening:
            return f"ended · {self._restart_key} restarts it"
        if self.session.phase == "dead":
            return "starting"
        if self.session.cancelling:
            return f"not responding · {self._restart_key} restarts the agent"
        return super()._awaited()

    # ------------------------------------------------------------------------- questions

    def _question_changed(self) -> None:
        """Another question is the first now, or there is none, or more wait behind it."""
        if not self.is_attached:
            return  # the app ends, and answers them all
        shown = self.questions.shown
        if self._dialog is not None:
            if shown is self._asked:
                self._dialog.show_position(self.questions.position)
            elif self._dialog in self.app.screen_stack:  # its question was taken back
                while self.app.screen is not self._dialog:
                    self.app.pop_screen()
                self._dialog.dismiss(None)
        elif shown is not None:
            self._put(shown)
        self._update_status()

    def _put(self, waiting: PendingQuestion) -> None:
        from acp_tui.ui.permission.dialog import PermissionScreen

        self._asked = waiting
        self._dialog = PermissionScreen(
            waiting.question,
            self._palette,
            agent=shorten(self.prompt.agent_title, AGENT_WIDTH),
            position=self.questions.position,
            remember_words=waiting.question.rule_words,
            session=self.session,
            cwd=self.transcript.entry_layout.cwd,
        )
        self.app.push_screen(self._dialog, lambda taken: self._answered(waiting, taken))

    def _answered(self, waiting: PendingQuestion, taken: PermissionAnswer | None) -> None:
        from acp_tui.controller import Answer

        self._dialog = self._asked = None
        if waiting.answer.done():  # it was taken back meanwhile
            self._question_changed()
        elif taken is None:
            self.questions.give(waiting, Answer(None))
            self.runner.stop_turn()
        else:
            self.questions.give(waiting, Answer(taken.option, remember=taken.remember))

    # ------------------------------------------------------------------------- prompts and turns

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what makes sense now."""
        match action:
            case "stop":
                return bool(self._escape())
            case "send_again":
                return not self.session.working and self._worth_repeating()
            case "next_mode":
                return len(self.session.modes) > 1
        return super().check_action(action, parameters)

    def label_of(self, key_id: str) -> str | None:
        """For the footer: Esc does one thing after the other."""
        return self._escape() if key_id == "turn.stop" else None

    def _escape(self) -> str:
        """What Esc does now, in a word."""
        if self._finding or self.covered:
            return "close"
        if self.session.working or self._own or self.runner.signing_in:
            return "stop"
        return "prompt" if isinstance(self.focused, Transcript) else ""

    def _worth_repeating(self) -> bool:
        """Did the last turn end without what it was for?"""
        entries = reversed(self.session.entries)
        last = next((entry for entry in entries if isinstance(entry, (TurnEnd, UserMessage))), None)
        return isinstance(last, TurnEnd) and (last.empty or last.stop_reason != "end_turn")

    def action_send_again(self) -> None:
        """Send the last prompt again; one that was refused is to be edited first."""
        text = self._last_prompt()
        if self.session.stop_reason == "refusal":
            self._edit_prompt(text)
        elif text and text == self.prompt.text:  # it came back
            self.prompt.action_send()
        elif text:
            self.runner.submit(text, self.prompt.attachments_in(text))

    def _with_entry(self, what: str, entry: Entry) -> None:
        if what == "edit" and isinstance(entry, (UserMessage, TurnEnd)):
            self._edit_prompt(self._last_prompt(entry.turn))
        else:
            super()._with_entry(what, entry)

    def _edit_prompt(self, text: str) -> None:
        self.prompt.load(text)
        self.prompt.focus()

    def _last_prompt(self, turn: int | None = None) -> str:
        """The last one, or that of a turn."""
        from acp_tui.ui.entries.user_message import attachment_blocks, prompt_text

        entries = reversed(self.session.entries)
        prompts = (entry for entry in entries if isinstance(entry, UserMessage))
        prompt = next((entry for entry in prompts if turn in (None, entry.turn)), None)
        return (
            self.prompt.with_attached(prompt_text(prompt), attachment_blocks(prompt))
            if prompt is not None
            else ""
        )

    def action_stop(self) -> None:
        """Close what is open, else stop what runs, else back to the prompt."""
        if not self._close_or_stop() and isinstance(self.focused, Transcript):
            self.prompt.focus()

    def _close_or_stop(self) -> bool:
        """The innermost thing that can be closed or stopped; False: there is none."""
        if self.prompt.close_open() or self._close_find():
            return True
        if self.runner.signing_in:
            self.runner.give_up_sign_in()
        elif self.session.working:
            self._stop()
        else:
            return self._kill_last()
        return True

    def _stop(self) -> None:
        if self.session.cancelling:
            words = f"The agent is stopping. {self._restart_key} kills and restarts it."
            self.notify(words, markup=False)
        else:
            self.runner.stop_turn()

    def action_interrupt(self) -> None:
        """Copy what is selected, else what Esc does; twice when there is nothing to stop: quit."""
        if not (self._copy_selection() or self._close_or_stop()):
            self._quit_on_second()

    def action_restart_agent(self) -> None:
        """Start the agent again and open the session again."""
        self.run_worker(self.runner.restart(), group="restart", exclusive=True)

    # ------------------------------------------------------------------------- leaving

    def busy_reason(self) -> str | None:
        """Nobody wants to end a turn by looking for another agent."""
        stop = keys.bound_keys(self, "turn.stop")
        return f"The agent is working: stop it first ({stop})." if self.session.working else None

    def shows_session(self, session: str) -> bool:
        """Return True if this conversation is recorded under that id."""
        return self.conversation is not None and self.conversation.folder.id == session

    async def leave(self) -> None:
        """End what runs; what was being written is kept."""
        try:
            self.runner.save_draft(self.prompt.text)
            self.attention.leave()
        finally:
            await self.runner.close()
