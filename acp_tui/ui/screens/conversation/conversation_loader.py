"""Shows what is known about a conversation before its agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.entry_labels import folder_label

if TYPE_CHECKING:
    from acp_tui.app_context import AppContext
    from acp_tui.controller import Conversation
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.conversation.prompt_actions import PromptActions
    from acp_tui.ui.screens.conversation.reopening.earlier_conversation import PromptDraft
    from acp_tui.ui.screens.session.session_screen import SessionScreen
    from acp_tui.ui.screens.session.text_place import TextPlace


class ConversationLoader:
    """Fills the status line, the prompt and the panes of a conversation's screen."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        prompt_actions: PromptActions,
        runner: ConversationRunner,
        *,
        first_prompt: str | None,
        draft: PromptDraft | None,
        place: TextPlace | None,
    ) -> None:
        """Create the loader.

        Args:
            screen: The conversation's screen.
            prompt: Its prompt.
            prompt_actions: Moves texts into the prompt.
            runner: Sends the first prompt.
            first_prompt: Sent as soon as the session is open.
            draft: Replaces the saved draft if the screen continues an earlier conversation.
            place: The text of a reopened session to scroll to.
        """
        self._screen = screen
        self._prompt = prompt
        self._prompt_actions = prompt_actions
        self._runner = runner
        self._first_prompt = first_prompt
        self._draft = draft
        self._place = place

    def load(self, conversation: Conversation, shared: AppContext) -> None:
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
        if self._place is not None:
            self._screen.call_after_refresh(self._screen.show_place, self._place)
        for notice in shared.notices:
            self._screen.notify(notice, severity="warning", timeout=10, markup=False)
        if self._first_prompt:
            prompt.add_to_history(self._first_prompt)
            self._runner.prompts.submit(self._first_prompt, prompt.attachments_in(self._first_prompt))
