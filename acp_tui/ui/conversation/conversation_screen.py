"""The screen of a conversation: connects the runner with the widgets and the dialogs."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work

from acp_tui.connection.errors import AgentGone
from acp_tui.errors import UserError
from acp_tui.session.state import AuthMethod, Entry, Session, Terminal, ToolCall
from acp_tui.text_format import folder_label
from acp_tui.ui import keys
from acp_tui.ui.conversation.agent_settings import AgentSettings
from acp_tui.ui.conversation.attention import Attention
from acp_tui.ui.conversation.mcp_servers import ConversationMcp
from acp_tui.ui.conversation.own_tools import OwnTools
from acp_tui.ui.conversation.prompt_messages import PromptFiller, PromptMessageHandler
from acp_tui.ui.conversation.question_dialogs import PendingQuestions, QuestionDialogs
from acp_tui.ui.conversation.reopening import AgentReadiness, Continuation
from acp_tui.ui.conversation.review_opener import ReviewOpener
from acp_tui.ui.conversation.rewind import RewindActions
from acp_tui.ui.conversation.runner import ConversationRunner, PreparedConversation
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.conversation.sign_in_dialogs import SignInDialogs
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.conversation.subagent_screen import SubagentViews
from acp_tui.ui.conversation.worktree_finish import WorktreeFinish
from acp_tui.ui.dialogs.base_screen import TextPlace, app_of, conversation_state
from acp_tui.ui.dialogs.toasts import notify_problems
from acp_tui.ui.entries import renderers
from acp_tui.ui.keys.commands import PaletteCommand
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.terminal import gc_control
from acp_tui.ui.widgets.status_line import StatusLine
from acp_tui.ui.widgets.strips import QuestionStrip, QueueStrip

if TYPE_CHECKING:
    from textual.widget import Widget

    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation, QuestionHandler
    from acp_tui.guarded_question import GuardedQuestion, StartAnswer
    from acp_tui.session.events import Event
    from acp_tui.session.record import Change, Record
    from acp_tui.ui.conversation.earlier_conversation import NewSession, PromptDraft
    from acp_tui.ui.screens.wire.message_screen import MessageDraft
    from acp_tui.wire.entry_frames import EntryPlace
    from acp_tui.workspace.git.worktree_finishing import WorktreeStatus


REPEAT_SECONDS = 1.0
"""The maximum number of seconds between two presses of Esc that open the rewind dialog."""


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
            first_prompt: Sent as soon as the session is open.
            draft: A prompt that continues an earlier conversation. Put into the input, but not sent.
            new_session: Creates a screen for a new session with the same agent in the same folder.
            place: The text to scroll to in a reopened session.
        """
        super().__init__(Session(), StatusTracker(agent))  # empty until a session is opened
        self._first_prompt = first_prompt
        self._start_question = ""  # the title of a question that is asked before the agent starts
        self._may_start = asyncio.Event()  # these questions are answered
        self._draft = draft
        self._place = place
        self.prompt = Prompt(agent_title=agent)
        self._questions = PendingQuestions(self._update_questions)
        self.runner = ConversationRunner(make, self._questions, self)
        self._attention = Attention(self)
        self._readiness = AgentReadiness(self, self.runner)
        self._filler = PromptFiller(self, self.prompt, self.runner)
        self._user_commands = UserCommandActions(self, self.prompt, self.runner)
        self._sign_in = SignInDialogs(self, self.runner, self._readiness)
        self._subagents = SubagentViews(self)
        self._settings = AgentSettings(self, self.runner)
        self._review = ReviewOpener(self, self.runner)
        self._mcp = ConversationMcp(self, self.prompt, self.runner)
        self._rewind = RewindActions(self, self.runner, new_session)
        self._worktree = WorktreeFinish(self, self.runner)
        self._stop_key = StopKey(self, self.prompt, self.runner, self._user_commands, self._rewind)
        self._session_commands = SessionCommands(self, self.runner, new_session)
        self._own_tools = OwnTools(self, self.prompt, self._questions, self._attention)
        self._dialogs = QuestionDialogs(self, self.prompt, self.runner, self._questions)
        self._prompt_messages = PromptMessageHandler(
            self, self.prompt, self.runner, self._filler, self._mcp, self._dialogs
        )
        self._queue_strip = self._prompt_messages.queue_strip
        self._continuation = Continuation(
            self, self.prompt, self._queue_strip, self.runner, self._session_commands.open_new_session
        )

    def compose_bottom(self) -> Iterable[Widget]:
        """Return the widgets below the transcript: the strip for an open question, the queue, the prompt."""
        return self._dialogs.strip, self._queue_strip, self.prompt

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

    # ------------------------------------------------------------------------- called by the runner

    def session_created(self, session: Session) -> None:
        """Show the session, the draft and the queue, open the panes, and queue the first prompt."""
        assert self.runner.prepared is not None
        conversation, shared = self.runner.prepared.conversation, self.runner.prepared.app_context
        self.context.conversation = conversation
        conversation.own_server.connect_screen(self._own_tools)
        conversation.bridges.fill_form = self._questions.fill_form
        self.show_session(session, str(conversation.cwd))
        notify_problems(self.app, [*shared.settings.problems, *self._attention.configure(shared.settings)])
        self._fill_status(conversation, shared)
        self._fill_prompt(conversation, shared)
        self.panes.open_initially(shared.settings.panes)
        self.transcript.forwards_typing = shared.settings.type_to_prompt
        if self._place is not None:
            self.call_after_refresh(self.show_place, self._place)
        for notice in shared.notices:
            self.notify(notice, severity="warning", timeout=10, markup=False)
        if self._first_prompt:
            self.prompt.add_to_history(self._first_prompt)
            self.runner.prompts.submit(self._first_prompt, self.prompt.attachments_in(self._first_prompt))
        self._prompt_messages.show_queue()
        self.update_status()

    def _fill_status(self, conversation: Conversation, shared: AppContext) -> None:
        status = self.status
        status.use_settings(shared.settings)
        status.agent = conversation.launch.title
        project = folder_label(str(conversation.project_folder))
        status.project = project if conversation.options.worktree is None else f"{project} (worktree)"
        status.branch = shared.branch(conversation.cwd) or ""
        status.policy = conversation.options.policy

    def _fill_prompt(self, conversation: Conversation, shared: AppContext) -> None:
        prompt = self.prompt
        prompt.agent_title = conversation.launch.title
        prompt.set_files(str(conversation.cwd), conversation.listing.current)
        prompt.history = shared.history(conversation.project_folder)
        prompt.load_draft(shared.draft(conversation))
        if self._draft is not None:
            self._filler.continue_earlier(self._draft, conversation)

    def start_failed(self, error: UserError) -> None:
        """Tell the app that the agent did not start, so that the app closes this screen."""
        self.failure = str(error)
        self._may_start.set()
        self.post_message(self.Failed(self, error))

    def opening_started(self) -> None:
        """Let the status line show what is in progress, instead of why no session is open."""
        self._may_start.set()
        self._readiness.work_started()

    def session_opened(self) -> None:
        """Show the prompt input again if the session was read-only."""
        self._continuation.show_prompt()

    def open_failed(self) -> None:
        """Show in the status line that no session was opened, and which key restarts the agent."""
        self._readiness.open_failed()

    def not_reopened(self, reason: str) -> None:
        """Make the session read-only, and offer to continue in a new one."""
        self._readiness.not_reopened()
        self._continuation.show_read_only(reason)

    def sign_in_required(self, methods: list[AuthMethod], reason: str) -> None:
        """Let the user choose a sign-in method."""
        self.sign_in_abandoned()
        self._sign_in.offer(methods, reason)

    def sign_in_abandoned(self) -> None:
        """Show in the status line that the user has to sign in first."""
        self._readiness.sign_in_required()

    def record_applied(self, _record: Record, _events: Sequence[Event], changes: Sequence[Change]) -> None:
        """Draw the changes in the next frame."""
        self.frames.add(changes)

    def turn_failed(self, error: UserError, text: str) -> None:
        """Put the prompt back into the input, unless the user has typed something since.

        A prompt that was sent over a connection that broke is not put back: the agent may have it. Show the
        error in a toast, unless the transcript shows the error already.
        """
        conversation = self.runner.conversation
        is_remote = conversation is not None and conversation.launch.address is not None
        if not (is_remote and isinstance(error, AgentGone) and self._filler.was_sent(text)):
            self._filler.restore_failed(text)
        if self.session.last_error is None and self.session.phase != "dead":
            self.show_error(error)

    def send_failed(self, error: UserError, text: str) -> None:
        """Put the prompt back into the input, unless the user has typed something since. Show the error."""
        self._filler.restore_unsent(error, text)

    def reconnection_changed(self) -> None:
        """Show in the status line when acp-tui connects again."""
        if self.is_attached:
            self.update_status()

    def show_error(self, error: UserError) -> None:
        """Show an error in a toast."""
        if self.is_attached:
            self.notify_error(error)
            self.update_status()

    async def ask_before_start(self, question: GuardedQuestion[StartAnswer]) -> StartAnswer:
        """Ask the user a question before the agent starts, and return the answer."""
        self._start_question = question.title
        self.update_status()
        try:
            return await self._dialogs.ask_before_start(question)
        finally:
            self._start_question = ""

    async def questions_answered(self) -> None:
        """Wait until the user has answered the questions that are asked before the agent starts."""
        await self._may_start.wait()

    async def confirm(self, question: str, *, yes: str, no: str) -> bool:
        """Ask the user a question whose answers have the labels `yes` and `no`. Return True for yes."""
        return await self._dialogs.confirm(question, yes=yes, no=no)

    # ------------------------------------------------------------------------- drawing

    def show_changes(self, changes: list[Change]) -> None:
        """Draw the changes since the last frame, or keep them while another tab is in front."""
        session = self.session
        facts = {change.fact for change in changes if change.kind == "fact"}
        if "phase" in facts and session.phase == "idle":
            gc_control.collect_and_freeze()
        self._prompt_messages.show_facts(facts)
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
        self.status.retry_at = self.runner.reconnection.due_at
        super().update_status()
        for line in self.query(StatusLine):  # none while the screen closes
            self._attention.update(line.facts, self._questions.title)
            title, conversation = self._questions.title or self._start_question, self.context.conversation
            earlier = self.tab_state
            self.report_state(conversation_state(line.facts, self.session, conversation, title, earlier))

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""
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
            self._queue_strip.tab_is_taken = self._questions.shown is not None
            self.update_status()

    # ------------------------------------------------------------------------- messages of the widgets

    def type_text(self, text: str) -> None:
        """Focus the prompt and type text into it.

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
        self._prompt_messages.carry_out(event)

    @on(QueueStrip.PromptAction)
    def _carry_out_queued(self, event: QueueStrip.PromptAction) -> None:
        self._prompt_messages.carry_out_queued(event)

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
                return self._filler.can_send_again
            case "next_mode":
                return len(self.session.modes) > 1
        return super().check_action(action, parameters)

    def label_of(self, key_id: str) -> str | None:
        """Return the footer's label of the stop key, according to what it does now; None for other keys."""
        return self._stop_key.label if key_id == "turn.stop" else None

    def run_entry_action(self, action: str, entry: Entry) -> None:
        """Run an action, such as "copy", on an entry of the transcript."""
        if action == "edit" and self._filler.edit_sent(entry):
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
        queue = self._queue_strip
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
        self._filler.send_again()

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
        self._session_commands.export()

    @property
    def message_composer(self) -> Callable[[], None] | None:
        """Opens the page on which the user writes a message to the agent; None before the agent starts."""
        conversation = self.runner.conversation
        started = conversation is not None and conversation.was_started
        return self._session_commands.write_message if started else None

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

    @property
    def wire_log(self) -> Path | None:
        """The log of the conversation; None before it is created, and if nothing is recorded."""
        conversation = self.context.conversation
        path = conversation.log_path if conversation is not None else None
        return Path(path) if path is not None else None

    def show_entry_at(self, place: EntryPlace) -> None:
        """Show an entry of the transcript, or of that of a subagent."""
        self._subagents.show_entry_at(place)

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

    def discard_worktree(self, status: WorktreeStatus, *, merged: str = "") -> None:
        """Remove the worktree when the screen is closed, if the worktree still has this status."""
        self._worktree.discard(status, merged)

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


class SessionCommands:
    """Starts a new session, exports the current one, and opens the rules, the log, and messages by hand."""

    def __init__(
        self, screen: SessionScreen, runner: ConversationRunner, new_session: NewSession | None
    ) -> None:
        """`new_session` makes a screen for a new session with the same agent in the same folder."""
        self._screen = screen
        self._runner = runner
        self._new_session = new_session
        self._message: MessageDraft | None = None

    def commands(self) -> Iterator[PaletteCommand]:
        """Return the commands that are available now, for the command palette."""
        if self._new_session is not None:
            yield PaletteCommand("New session", self.open_new_session, "Session")
        conversation = self._runner.conversation
        if conversation is not None and conversation.log_path is not None:
            yield PaletteCommand("Open log in $EDITOR", self._open_log, "Session", word="wire log")
        if conversation is not None and conversation.was_started:
            words = "wire request notification by hand json-rpc"
            yield PaletteCommand("Send a message to the agent", self.write_message, "Agent", word=words)

    def open_new_session(self, draft: PromptDraft | None = None) -> None:
        """Open a new session. If `draft` is given, put it into the prompt of that session."""
        if reason := self._screen.busy_reason():
            self._screen.notify(reason, markup=False)
        elif self._new_session is not None:
            screen = self._new_session(draft)
            self._screen.post_message(self._screen.SwitchRequested(self._screen, screen))

    def write_message(self) -> None:
        """Open the page on which the user writes a message to the agent, with the text of last time."""
        from acp_tui.app_context import SentMessages
        from acp_tui.ui.screens.wire.message_screen import MessageScreen

        if (conversation := self._runner.conversation) is not None:
            page = MessageScreen(conversation, SentMessages(), self._runner.send_by_hand, self._message)
            self._screen.open_dialog(page, self._keep_message)

    def _keep_message(self, message: MessageDraft | None) -> None:
        self._message = message

    def open_rules(self, rule_id: str | None = None) -> None:
        """Open the list of permission rules. If `rule_id` is given, select that rule."""
        from acp_tui.ui.permission.rules_screen import RulesScreen

        if (conversation := self._runner.conversation) is not None:
            policy = conversation.options.policy
            self._screen.open_dialog(RulesScreen(conversation.rules, policy=policy, rule_id=rule_id))

    def open_rules_of(self, entry: Entry) -> bool:
        """Open the rules and select the one that decided about `entry`; return False if no rule did."""
        from acp_tui.session.state import Notice, Permission

        if not (isinstance(entry, Permission | Notice) and entry.rule_ids):
            return False
        self.open_rules(entry.rule_ids[0])
        return True

    def export(self) -> None:
        """Ask for a format, and export the conversation."""
        self._screen.run_worker(self._export(), group="export", exclusive=True)

    async def _export(self) -> None:
        from acp_tui.ui.dialogs.choose import EXPORT_FORMATS, ChooseScreen
        from acp_tui.ui.theme.themes import PREFIX

        dialog = ChooseScreen("Export the conversation", EXPORT_FORMATS)
        file_format = await self._screen.ask(dialog)
        if file_format is None:
            return
        try:
            path = await self._runner.export(file_format, self._screen.app.theme.removeprefix(PREFIX))
        except UserError as error:
            self._screen.notify_error(error)
        else:
            self._screen.notify(f"Exported to {path}", timeout=10, markup=False)

    def _open_log(self) -> None:
        conversation = self._runner.conversation
        if conversation is not None and conversation.log_path is not None:
            self._screen.entry_actions.edit_file(str(conversation.log_path))


class StopKey:
    """Closes what is open in the conversation, or stops what is running."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        runner: ConversationRunner,
        user_commands: UserCommandActions,
        rewind: RewindActions,
    ) -> None:
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
            self._rewind.open()
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


class UserCommandActions:
    """Keeps track of the running commands, stops them, and attaches their output to the prompt."""

    def __init__(self, screen: SessionScreen, prompt: Prompt, runner: ConversationRunner) -> None:
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._running: list[Terminal] = []

    @property
    def any_running(self) -> bool:
        """True while a command runs."""
        return bool(self._running)

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Note which commands have started, and offer to attach the output of those that have ended."""
        for change in changes:
            entry = change.entry
            if not isinstance(entry, Terminal) or entry.owner != "user":
                continue
            if change.kind == "added":
                self._running.append(entry)
                self._screen.refresh_bindings()  # Esc now stops the command
            if entry.ended_at is not None and any(each is entry for each in self._running):
                self._running = [each for each in self._running if each is not entry]
                self._screen.refresh_bindings()
                self._prompt.offer_output(entry.command or "", partial(_output, entry))

    def stop_last(self) -> bool:
        """Stop the running command that was started last; return False if no command is running."""
        if self._running:
            self._runner.kill_command(self._running[-1].terminal_id)
        return bool(self._running)

    def run_entry_action(self, action: str, entry: Entry) -> bool:
        """Run "kill" or "attach" on an entry of the transcript. For other actions, return False."""
        match action:
            case "kill":
                self._stop(entry)
            case "attach":
                self._attach_output(entry)
            case _:
                return False
        return True

    def _stop(self, entry: Entry) -> None:
        if isinstance(entry, Terminal) and entry.owner == "user" and entry.ended_at is None:
            self._runner.kill_command(entry.terminal_id)
        elif isinstance(entry, ToolCall | Terminal) and entry.can_cancel and entry.ended_at is None:
            self._runner.cancel_work(entry)
        else:
            self._screen.notify("Neither a command of yours nor one that the agent can stop.", timeout=3)

    def _attach_output(self, entry: Entry) -> None:
        if isinstance(entry, Terminal):
            self._prompt.attach_output(entry.command or "", _output(entry))
            self._prompt.focus()
        else:
            self._screen.notify("Only command output can be attached.", timeout=3)


def _output(terminal: Terminal) -> str:
    from acp_tui.ui.entries.terminal import command_output

    return command_output(terminal)
