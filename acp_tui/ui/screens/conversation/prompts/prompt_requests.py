"""Handles what the user does in the prompt and in the queue: send, run, edit, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Choice
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.widgets.queue_strip import QueueStrip

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.screens.conversation.prompts.prompt_actions import PromptActions
    from acp_tui.ui.screens.session.session_screen import SessionScreen

QUIT_WORDS = frozenset({"exit", "quit"})
"""Prompts that end many programs of the terminal. The user is asked what such a prompt means."""


class PromptRequests:
    """Carries out the requests that the prompt and the queue send as messages."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        runner: ConversationRunner,
        actions: PromptActions,
        *,
        use_server_prompt: Callable[[str, str], None],
        resume_question: Callable[[], object],
    ) -> None:
        """Create the handler of the messages.

        Args:
            screen: The conversation's screen.
            prompt: The prompt on this screen.
            runner: Sends prompts and runs commands.
            actions: Puts queued prompts back into the input.
            use_server_prompt: Puts an MCP prompt into the input. Called with the name of the MCP
                prompt and the text that the user typed after the name.
            resume_question: Reopens the question that the user left to write a prompt.
        """
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._actions = actions
        self._use_server_prompt = use_server_prompt
        self._resume_question = resume_question
        self.queue_strip = QueueStrip()

    def carry_out(self, request: Prompt.Request) -> None:
        """Do what the user wants with the text of the prompt, or with the queue."""
        prompts = self._runner.prompts
        match request:
            case Prompt.Submitted() if request.text.strip().lower() in QUIT_WORDS and not request.attachments:
                self._ask_to_quit(request)
            case Prompt.Submitted():
                self._submit(request)
            case Prompt.SendNow():
                self._screen.transcript.follow()
                prompts.send_now(request.text, request.attachments)
            case Prompt.CommandLine():
                self._screen.transcript.follow()
                self._runner.run_command(request.line)
            case Prompt.ServerPrompt():
                self._use_server_prompt(request.name, request.argument)
            case Prompt.DraftChanged():
                prompts.save_draft(request.text)
            case Prompt.ResumeQueue():
                prompts.resume()
            case Prompt.EditLastQueued():
                self._actions.edit_queued(prompts.take_back())

    def _submit(self, request: Prompt.Submitted) -> None:
        self._screen.transcript.follow()
        self._runner.prompts.submit(request.text, request.attachments)
        self._resume_question()

    def _ask_to_quit(self, request: Prompt.Submitted) -> None:
        """Ask whether a prompt such as "exit" is meant for acp-tui, as in other programs of the terminal."""
        from acp_tui.ui.screens.dialogs.choose import ChooseScreen

        text = request.text.strip()
        choices = [Choice("quit", "Quit"), Choice("send", f'Send "{text}" to the agent')]

        def on_close(answer: str | None) -> None:
            if answer == "quit":
                self._screen.app.call_later(self._screen.app.action_quit)
            elif answer == "send":
                self._submit(request)
            elif not self._prompt.text:
                self._prompt.load(request.text)

        self._screen.open_dialog(ChooseScreen("Quit acp-tui?", choices, self._screen.palette), on_close)

    def carry_out_queued(self, request: QueueStrip.PromptAction) -> None:
        """Do what the user wants with a queued prompt."""
        prompts = self._runner.prompts
        match request:
            case QueueStrip.Edit():
                self._actions.edit_queued(prompts.take_back(request.queued))
                self._prompt.focus()
            case QueueStrip.SendNow():
                prompts.send_queued_now(request.queued)
            case QueueStrip.Remove():
                prompts.remove_queued(request.queued)

    # ------------------------------------------------------------------------- drawing

    def show_facts(self, changed: set[str | None]) -> None:
        """Update the prompt and the queue. `changed` names the session's changed attributes."""
        if changed & {"queue", "queue_paused"}:
            self.show_queue()
        self._actions.show_facts(changed)
        self.queue_strip.send_now_stops = self._prompt.send_now_stops

    def show_queue(self) -> None:
        """Show the queued prompts."""
        session = self._screen.session
        self.queue_strip.show(session.queue)
        self._prompt.queued_count = len(session.queue)
