"""The screen of a conversation: connects the runner with the widgets and the dialogs."""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from textual import on, work

from acp_tui.session.state import Session
from acp_tui.ui import keys
from acp_tui.ui.app_interface import app_of
from acp_tui.ui.conversation import gc_control
from acp_tui.ui.conversation.attention import Attention
from acp_tui.ui.conversation.pending_questions import PendingQuestions
from acp_tui.ui.conversation.runner import ConversationRunner
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.entries import renderers
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.screens.conversation.agent_settings import AgentSettings
from acp_tui.ui.screens.conversation.conversation_loader import ConversationLoader
from acp_tui.ui.screens.conversation.export_dialog import ExportDialog
from acp_tui.ui.screens.conversation.mcp_servers import ConversationMcp
from acp_tui.ui.screens.conversation.own_tools import OwnTools
from acp_tui.ui.screens.conversation.prompts.prompt_actions import PromptActions
from acp_tui.ui.screens.conversation.prompts.prompt_requests import PromptRequests
from acp_tui.ui.screens.conversation.question_dialogs import QuestionDialogs
from acp_tui.ui.screens.conversation.reopening.continuation import Continuation
from acp_tui.ui.screens.conversation.reopening.readiness import AgentReadiness
from acp_tui.ui.screens.conversation.review import ReviewOpener
from acp_tui.ui.screens.conversation.rewind import Rewind
from acp_tui.ui.screens.conversation.runner_reports import RunnerReports
from acp_tui.ui.screens.conversation.session_commands import SessionCommands
from acp_tui.ui.screens.conversation.stop_key import StopKey
from acp_tui.ui.screens.conversation.user_commands import UserCommands
from acp_tui.ui.screens.session.session_screen import SessionScreen
from acp_tui.ui.screens.session.subagent_views import SubagentViews
from acp_tui.ui.screens.sign_in.sign_in_dialogs import SignInDialogs
from acp_tui.ui.screens.worktree.worktree_finish import WorktreeFinish
from acp_tui.ui.tabs.tab_state import conversation_state
from acp_tui.ui.widgets.question_strip import QuestionStrip
from acp_tui.ui.widgets.queue_strip import QueueStrip
from acp_tui.ui.widgets.status.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.widget import Widget

    from acp_tui.controller import QuestionHandler
    from acp_tui.session.change import Change
    from acp_tui.session.state import Entry
    from acp_tui.ui.conversation.interfaces import PreparedConversation
    from acp_tui.ui.keys.palette_command import PaletteCommand
    from acp_tui.ui.screens.conversation.reopening.earlier_conversation import NewSession, PromptDraft
    from acp_tui.ui.screens.session.text_place import TextPlace
    from acp_tui.ui.theme.palette import Palette


class ConversationScreen(SessionScreen):
    """The screen of one open conversation; owns everything that belongs to this conversation.

    Actions and message handlers are here because Textual looks for them on the screen; the screen's
    collaborators do the work.
    """

    BINDINGS: ClassVar = keys.bindings("conversation")
    AUTO_FOCUS = "Prompt PromptEditor"

    def __init__(
        self,
        make: Callable[[QuestionHandler], PreparedConversation],
        agent: str,
        palette: Palette,
        *,
        first_prompt: str | None = None,
        draft: PromptDraft | None = None,
        new_session: NewSession | None = None,
        place: TextPlace | None = None,
    ) -> None:
        """Create the screen; the agent is started after the first frame.

        Args:
            make: Creates the conversation; called in a thread.
            agent: The agent's name until its title is known.
            palette: The colours of the current theme.
            first_prompt: Sent as soon as the session is open.
            draft: A prompt that continues an earlier conversation. Put into the input, but not sent.
            new_session: Creates a screen for a new session with the same agent in the same folder.
            place: The text to scroll to in a reopened session.
        """
        super().__init__(Session(), StatusTracker(agent), palette)  # empty until a session is opened
        self.prompt = Prompt(agent_title=agent)
        self._questions = PendingQuestions(self._update_questions)
        self._reports = RunnerReports(self)
        self.runner = ConversationRunner(make, self._questions, self._reports)
        self._attention = Attention.for_screen(self)
        self._readiness = AgentReadiness(self, self.status, self.runner)
        self._prompt_actions = PromptActions(self, self.prompt, self.runner, self.context)
        self._user_commands = UserCommands(self, self.prompt, self.runner)
        self._sign_in = SignInDialogs(self, self.runner, self.context, self._readiness)
        self._subagents = SubagentViews(self, self.context, self.now)
        self._settings = AgentSettings(self, self.runner, self.context, self.status, self.update_status)
        self._export = ExportDialog(self, self.runner, self.context)
        self._review = ReviewOpener(
            self, self.runner, self.context, self.entry_actions.edit_file, self.panes.reload
        )
        self._mcp = ConversationMcp(
            self, self.prompt, self.runner, self.context, self.entry_actions.edit_file, self.panes.reload
        )
        self._rewind = Rewind(self, self.runner, self.context, new_session)
        self._worktree = WorktreeFinish(self, self.runner, self.context)
        self._stop_key = StopKey(self, self.prompt, self.runner, self._user_commands, self._rewind.open)
        self._session_commands = SessionCommands(self, self.runner, self.entry_actions, new_session)
        self._own_tools = OwnTools(self, self.prompt, self._questions, self.context, self._attention)
        self._dialogs = QuestionDialogs(
            self,
            self._questions,
            self.context,
            agent_title=lambda: self.prompt.agent_title,
            cancel_turn=self.runner.stop_turn,
            tell_agent=self.runner.prompts.submit_first,
            focus_prompt=lambda: self.type_text(""),
        )
        self._prompt_requests = PromptRequests(
            self,
            self.prompt,
            self.runner,
            self._prompt_actions,
            use_server_prompt=self._mcp.use_prompt,
            resume_question=self._dialogs.resume,
        )
        queue, open_new = self._prompt_requests.queue_strip, self._session_commands.open_new_session
        self._continuation = Continuation(self, self.prompt, queue, self.runner, self.context, open_new)
        loader = ConversationLoader(
            self,
            self.prompt,
            self._prompt_actions,
            self._prompt_requests,
            self.runner,
            self._questions,
            self._own_tools,
            self._attention,
            first_prompt=first_prompt,
            draft=draft,
            place=place,
        )
        self._reports.connect(
            loader=loader,
            readiness=self._readiness,
            continuation=self._continuation,
            sign_in=self._sign_in,
            prompt_actions=self._prompt_actions,
            dialogs=self._dialogs,
        )

    def compose_bottom(self) -> Iterable[Widget]:
        """Return the widgets below the transcript: the strip for an open question, the queue, the prompt."""
        return self._dialogs.strip, self._prompt_requests.queue_strip, self.prompt

    def on_mount(self) -> None:
        """Start the agent once the first frame is complete."""
        if text := app_of(self).key_sequencer.take_early_text():
            self.type_text(text)
        self.call_after_refresh(self._start)

    @work
    async def _start(self) -> None:
        gc_control.pause()
        try:
            await self.runner.start()
            await asyncio.to_thread(renderers.import_renderers)
        finally:
            gc_control.resume(all_imported=True)

    # ------------------------------------------------------------------------- drawing

    def show_changes(self, changes: list[Change]) -> None:
        """Draw the changes since the last frame, or keep them while another tab is in front."""
        session = self.session
        facts = {change.fact for change in changes if change.kind == "fact"}
        if "phase" in facts and session.phase == "idle":
            gc_control.collect_and_freeze()
        self._prompt_requests.show_facts(facts)
        if facts & {"phase", "stop_reason", "modes", "config_options", "models"}:
            self.refresh_bindings()
            self._settings.refresh_options()
        self._user_commands.show_changes(changes)
        self._dialogs.show_changes(changes)
        self._review.show_changes(changes)
        self._mcp.show_changes(changes)
        self._sign_in.show_changes(changes)
        super().show_changes(changes)
        self._subagents.show_changes(changes)

    def update_status(self) -> None:
        """Show the current state in the status line and the window title."""
        self.status.starting = self.runner.opening
        super().update_status()
        for line in self.query(StatusLine):  # none while the screen closes
            self._attention.update(line.facts, self._questions.title)
            title, conversation = self._questions.title, self.context.conversation
            earlier = self.tab_state
            self.report_state(conversation_state(line.facts, self.session, conversation, title, earlier))

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        super().use_palette(palette)
        self._continuation.use_palette(palette)
        self._dialogs.update()

    def is_asking(self) -> bool:
        """Return True while a question of the agent or of an MCP server waits for the user."""
        return self._questions.shown is not None

    def awaited(self) -> str:
        """Return a status text, or "". The text says what the session waits for, or what the user can do."""
        return self._readiness.awaited() or super().awaited()

    def came_to_front(self) -> None:
        """Draw what happened while another tab was in front, and open the dialog of a waiting question.

        The dialog stays closed if the user left it to write a prompt.
        """
        super().came_to_front()
        self.call_later(self._update_questions)

    def _update_questions(self) -> None:
        if self.is_attached:  # once the screen is closed, all questions are withdrawn
            self._dialogs.update()
            self._prompt_requests.queue_strip.tab_is_taken = self._questions.shown is not None
            self.update_status()

    # ------------------------------------------------------------------------- messages of the widgets

    def type_text(self, text: str) -> None:
        """Focus the prompt and type a text into it.

        If a read-only line replaces the prompt, only focus this line.
        """
        if not self._continuation.focus_line():
            self.prompt.focus()
            self.prompt.insert(text)

    def choose_option(self, option: str) -> None:
        """Let the user choose a value for an agent option."""
        self._settings.choose_option(option)

    def show_server(self, name: str) -> None:
        """Show the MCP servers, with the server `name` selected."""
        self._mcp.open(name)

    @on(Prompt.Request)
    def _carry_out(self, event: Prompt.Request) -> None:
        self._prompt_requests.carry_out(event)

    @on(QueueStrip.PromptAction)
    def _carry_out_queued(self, event: QueueStrip.PromptAction) -> None:
        self._prompt_requests.carry_out_queued(event)

    @on(QueueStrip.Leave)
    def _leave_queue(self) -> None:
        self.prompt.focus()

    @on(StatusLine.SettingClicked)
    def _choose_setting(self, event: StatusLine.SettingClicked) -> None:
        self._settings.choose(event.setting)

    # ------------------------------------------------------------------------- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is available now. The footer omits the keys of unavailable actions."""
        match action:
            case "stop":
                return bool(self._stop_key.label)
            case "send_again":
                return self._prompt_actions.can_send_again
            case "next_mode":
                return len(self.session.modes) > 1
        return super().check_action(action, parameters)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of the stop key, according to what it does now; None for other keys."""
        return self._stop_key.label if key_id == "turn.stop" else None

    def run_entry_action(self, action: str, entry: Entry) -> None:
        """Run an action, such as "copy", on an entry of the transcript."""
        if action == "edit" and self._prompt_actions.edit_sent(entry):
            return
        if action == "open" and self._session_commands.open_rules_of(entry):
            return
        if self._subagents.run_entry_action(action, entry):
            return
        if not self._user_commands.run_entry_action(action, entry):
            super().run_entry_action(action, entry)

    def action_focus_part(self) -> None:
        """If a question waits for an answer, reopen it; otherwise focus the next part of the screen.

        The queue follows the prompt, and is followed by the conversation.
        """
        if self._dialogs.resume():
            return
        queue = self._prompt_requests.queue_strip
        if queue.has_focus:
            self.transcript.focus()
        elif queue.display and not queue.disabled and self.prompt.has_focus_within:
            queue.focus()
        else:
            super().action_focus_part()
            if self.focused is queue:
                super().action_focus_part()

    @on(QuestionStrip.Clicked)
    def answer_question(self) -> None:
        """If a question waits for an answer, open its dialog."""
        self._dialogs.resume()

    def action_stop(self) -> None:
        """Close what is open, stop what is running, or focus the prompt (see `StopKey.press`)."""
        self._stop_key.press()

    def action_interrupt(self) -> None:
        """Copy the selection; if nothing is selected, do what `StopKey.close_or_stop` does.

        While a question waits, only a second press does that. If there is nothing to copy, close or stop, two
        presses quit the app.
        """
        if self.copy_selection():
            return
        if self.is_asking() and self.session.working and not self.is_second_interrupt("stop the turn"):
            return
        if not self._stop_key.close_or_stop():
            self.quit_if_repeated()

    def action_send_again(self) -> None:
        """Send the last prompt again."""
        self._prompt_actions.send_again()

    def action_options(self) -> None:
        """Let the user choose an agent option and its value."""
        self._settings.choose_option()

    def action_next_mode(self) -> None:
        """Switch to the agent's next mode."""
        self._settings.use_next_mode()

    def action_policy(self) -> None:
        """Let the user choose the permission policy."""
        self._settings.choose_policy()

    def action_rules(self, rule_id: str | None = None) -> None:
        """Open the list of permission rules. If `rule_id` is given, select that rule."""
        self._session_commands.open_rules(rule_id)

    def action_own_tools(self) -> None:
        """Turn acp-tui's own tools on or off for the next sessions of the agent."""
        if (prepared := self.runner.prepared) is not None:
            self._own_tools.toggle(prepared.conversation.launch, prepared.app_context.settings)

    def action_export(self) -> None:
        self._export.open()

    def action_undo_rewind(self) -> None:
        """Undo the last rewind of files."""
        self._rewind.undo()

    def action_review(self) -> None:
        """Open the review of the changed files."""
        self._review.open()

    def action_mcp_servers(self) -> None:
        """Show the MCP servers."""
        self._mcp.open()

    def action_restart_agent(self) -> None:
        """Restart the agent and reopen the session."""
        self.run_worker(self.runner.restart(), group="restart", exclusive=True)

    def commands(self) -> Iterable[PaletteCommand]:
        """Return the commands of this screen that have no key, for the command palette."""
        of_session = (self._session_commands, self._worktree, self._continuation, self._sign_in, self._rewind)
        of = (*of_session, self._settings)
        return chain.from_iterable(collaborator.commands() for collaborator in of)

    # ------------------------------------------------------------------------- called by the app

    def busy_reason(self) -> str | None:
        """Return a sentence that asks the user to stop the running turn; None if no turn is running."""
        stop = keys.bound_keys(self, "turn.stop")
        return f"The agent is working: stop it first ({stop})." if self.session.working else None

    def shows_session(self, session: str) -> bool:
        """Return True if this conversation is recorded under the id `session`."""
        conversation = self.runner.conversation
        return conversation is not None and conversation.folder.id == session

    @property
    def can_be_renamed(self) -> bool:
        """True once the conversation exists."""
        return self.runner.conversation is not None

    def rename(self, name: str) -> None:
        """Name the session; an empty name restores the agent's title for the session."""
        if (conversation := self.runner.conversation) is not None:
            conversation.rename(name)
            self.update_status()

    @property
    def asks_before_close(self) -> bool:
        """True if the conversation works in a worktree."""
        return self._worktree.exists

    async def may_close(self) -> bool:
        """Ask whether to keep, merge or discard the worktree. Return False to keep the screen open."""
        return await self._worktree.may_close()

    def stay_open(self) -> None:
        """Forget what the user decided about the worktree, because the screen is not closed after all."""
        self._worktree.forget_decision()

    async def leave(self, *, close_session: bool = False) -> None:
        """Save the draft and close the conversation; with `close_session`, also the agent's session."""
        try:
            self.runner.prompts.save_draft(self.prompt.text)
            self._attention.stop()
        finally:
            await self._mcp.close()
            await self.runner.close(close_session=close_session)
            await self._worktree.after_close(notify=close_session)
