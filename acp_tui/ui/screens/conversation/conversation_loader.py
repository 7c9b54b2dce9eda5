"""Shows what is known about a conversation before its agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_labels import folder_label
from acp_tui.ui.conversation.toasts import notify_problems

if TYPE_CHECKING:
    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation
    from acp_tui.session.state import Session
    from acp_tui.ui.conversation.attention import Attention
    from acp_tui.ui.conversation.pending_questions import PendingQuestions
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.conversation.own_tools import OwnTools
    from acp_tui.ui.screens.conversation.prompts.prompt_actions import PromptActions
    from acp_tui.ui.screens.conversation.prompts.prompt_requests import PromptRequests
    from acp_tui.ui.screens.conversation.reopening.earlier_conversation import PromptDraft
    from acp_tui.ui.screens.session.session_screen import SessionScreen
    from acp_tui.ui.screens.session.text_place import TextPlace


class ConversationLoader:
    """Connects a conversation with its screen, and fills the status line, the prompt and the panes."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        prompt_actions: PromptActions,
        prompt_requests: PromptRequests,
        runner: ConversationRunner,
        questions: PendingQuestions,
        own_tools: OwnTools,
        attention: Attention,
        *,
        first_prompt: str | None,
        draft: PromptDraft | None,
        place: TextPlace | None,
    ) -> None:
        """Create the loader.

        Args:
            screen: The conversation's screen.
            prompt: The screen's prompt.
            prompt_actions: Moves texts into the prompt.
            prompt_requests: Shows the queue.
            runner: Sends the first prompt.
            questions: Shows the forms that MCP servers send through the bridge.
            own_tools: The user interface of acp-tui's own tools.
            attention: Alerts the user. `load` configures it from the settings.
            first_prompt: Sent as soon as the session is open.
            draft: Replaces the saved draft if the screen continues an earlier conversation.
            place: The text to scroll to in a reopened session.
        """
        self._screen = screen
        self._prompt = prompt
        self._prompt_actions = prompt_actions
        self._prompt_requests = prompt_requests
        self._runner = runner
        self._questions = questions
        self._own_tools = own_tools
        self._attention = attention
        self._first_prompt = first_prompt
        self._draft = draft
        self._place = place

    def load(self, session: Session) -> None:
        """Show the session, the draft and the queue of the conversation that the runner has prepared."""
        prepared = self._runner.prepared
        assert prepared is not None
        screen, conversation, shared = self._screen, prepared.conversation, prepared.app_context
        screen.context.conversation = conversation
        conversation.own_server.connect_screen(self._own_tools)
        conversation.bridges.fill_form = self._questions.fill_form
        screen.show_session(session, str(conversation.cwd))
        notify_problems(screen.app, [*shared.settings.problems, *self._attention.configure(shared.settings)])
        screen.status.use_settings(shared.settings)
        self._fill(conversation, shared)
        self._prompt_requests.show_queue()
        screen.update_status()

    def _fill(self, conversation: Conversation, shared: AppContext) -> None:
        """Fill the status line and the prompt, open the panes, and queue the first prompt."""
        status, prompt = self._screen.status, self._prompt
        status.agent = prompt.agent_title = conversation.launch.title
        project = folder_label(str(conversation.project_folder))
        status.project = project if conversation.options.worktree is None else f"{project} (worktree)"
        status.branch = shared.branch(conversation.cwd) or ""
        status.policy = conversation.options.policy
        prompt.set_files(str(conversation.cwd), conversation.listing.current)
        prompt.history = shared.history(conversation.project_folder)
        prompt.load_draft(shared.draft(conversation))
        if self._draft is not None:
            self._prompt_actions.continue_earlier(self._draft, conversation)
        self._screen.panes.open_initially(shared.settings.panes)
        self._screen.transcript.forwards_typing = shared.settings.type_to_prompt
        if self._place is not None:
            self._screen.call_after_refresh(self._screen.show_place, self._place)
        for notice in shared.notices:
            self._screen.notify(notice, severity="warning", timeout=10, markup=False)
        if self._first_prompt:
            prompt.add_to_history(self._first_prompt)
            self._runner.prompts.submit(self._first_prompt, prompt.attachments_in(self._first_prompt))
