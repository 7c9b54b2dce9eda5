"""Handles what the user does in the prompt and in the queue: send, run, edit, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.session.state import Agent, Choice, Entry, QueuedPrompt, TurnEnd, UserMessage
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.widgets.strips import QueueStrip

if TYPE_CHECKING:
    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.ui.conversation.earlier_conversation import PromptDraft
    from acp_tui.ui.conversation.mcp_servers import ConversationMcp
    from acp_tui.ui.conversation.question_dialogs import QuestionDialogs
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen


QUIT_WORDS = frozenset({"exit", "quit"})
"""Prompts that end many programs of the terminal. The user is asked what such a prompt means."""


class PromptMessageHandler:
    """Carries out the requests that the prompt and the queue send as messages."""

    def __init__(
        self,
        screen: SessionScreen,
        prompt: Prompt,
        runner: ConversationRunner,
        filler: PromptFiller,
        mcp: ConversationMcp,
        dialogs: QuestionDialogs,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._filler = filler
        self._mcp = mcp
        self._dialogs = dialogs
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
                self._mcp.use_prompt(request.name, request.argument)
            case Prompt.DraftChanged():
                prompts.save_draft(request.text)
            case Prompt.ResumeQueue():
                prompts.resume()
            case Prompt.EditLastQueued():
                self._filler.edit_queued(prompts.take_back())

    def _submit(self, request: Prompt.Submitted) -> None:
        self._screen.transcript.follow()
        self._runner.prompts.submit(request.text, request.attachments)
        self._dialogs.resume()

    def _ask_to_quit(self, request: Prompt.Submitted) -> None:
        """Ask whether a prompt such as "exit" is meant for acp-tui, as in other programs of the terminal."""
        from acp_tui.ui.dialogs.choose import ChooseScreen

        text = request.text.strip()
        choices = [Choice("quit", "Quit"), Choice("send", f'Send "{text}" to the agent')]

        def on_close(answer: str | None) -> None:
            if answer == "quit":
                self._screen.app.call_later(self._screen.app.action_quit)
            elif answer == "send":
                self._submit(request)
            elif not self._prompt.text:
                self._prompt.load(request.text)

        self._screen.open_dialog(ChooseScreen("Quit acp-tui?", choices), on_close)

    def carry_out_queued(self, request: QueueStrip.PromptAction) -> None:
        """Do what the user wants with a queued prompt."""
        prompts = self._runner.prompts
        match request:
            case QueueStrip.Edit():
                self._filler.edit_queued(prompts.take_back(request.queued))
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
        self._filler.show_facts(changed)
        self.queue_strip.send_now_stops = self._prompt.send_now_stops

    def show_queue(self) -> None:
        """Show the queued prompts."""
        session = self._screen.session
        self.queue_strip.show(session.queue)
        self._prompt.queued_count = len(session.queue)


class PromptFiller:
    """Moves prompts between the input, the queue and the transcript."""

    def __init__(self, screen: SessionScreen, prompt: Prompt, runner: ConversationRunner) -> None:
        self._screen = screen
        self._prompt = prompt
        self._runner = runner
        self._context = screen.context

    # ------------------------------------------------------------------------- earlier prompts

    @property
    def can_send_again(self) -> bool:
        """True if the last turn ended early or without an answer, and a prompt can be sent now."""
        session = self._context.session
        entries = reversed(session.entries)
        last = next((entry for entry in entries if isinstance(entry, (TurnEnd, UserMessage))), None)
        ended_early = isinstance(last, TurnEnd) and bool(
            last.empty or last.unfinished or last.stop_reason != "end_turn"
        )
        waits = session.auth_required and bool(session.queue)  # the sign-in will send the prompt again
        return ended_early and not session.working and not waits and not self._prompt.disabled

    def send_again(self) -> None:
        """Send the last prompt again; put a prompt that the agent refused into the input instead."""
        text = self._sent_prompt()
        if self._context.session.stop_reason == "refusal":
            self.edit(text)
        elif text and text == self._prompt.text:  # it was put back after a failure
            self._prompt.action_send()
        elif text:
            self._runner.prompts.submit(text, self._prompt.attachments_in(text))

    def was_sent(self, text: str) -> bool:
        """Return True if this is the text of the last prompt in the transcript."""
        from acp_tui.ui.entries.messages import prompt_text

        prompts = self._context.session.prompts
        return bool(prompts) and prompt_text(prompts[-1]) == text

    def edit_sent(self, entry: Entry) -> bool:
        """Put the prompt of this entry, or of the turn that the entry ends, into the input.

        Return False for other kinds of entry, and while the session is read-only.
        """
        if self._prompt.disabled:
            return False
        if isinstance(entry, UserMessage):
            self.edit(self._text_of(entry))
        elif isinstance(entry, TurnEnd):
            self.edit(self._sent_prompt(entry.turn))
        else:
            return False
        return True

    def _sent_prompt(self, turn: int | None = None) -> str:
        """Return the text of a turn's prompt, by default of the last prompt; "" if there is no prompt."""
        prompts = reversed(self._context.session.prompts)
        prompt = next((prompt for prompt in prompts if turn in (None, prompt.turn)), None)
        return self._text_of(prompt) if prompt is not None else ""

    def _text_of(self, prompt: UserMessage) -> str:
        """Attach again what the tokens in a prompt's text stand for. Return the text with valid tokens."""
        from acp_tui.ui.entries.messages import attachment_blocks, prompt_text

        return self._prompt.restore_attachments(prompt_text(prompt), attachment_blocks(prompt))

    # ------------------------------------------------------------------------- the input

    def edit(self, text: str) -> None:
        """Put text into the input, and focus the input."""
        self._prompt.load(text)
        self._prompt.focus()

    def continue_earlier(self, draft: PromptDraft, conversation: Conversation) -> None:
        """Put a prompt of an earlier session into the input. Add a notice that the current session is new."""
        from acp_tui.session.events import Noticed
        from acp_tui.ui.conversation.earlier_conversation import CONTINUED

        self.edit(self._prompt.restore_attachments(draft.text, draft.blocks))
        conversation.rewind.replaced_earlier = draft.replaced
        conversation.note(Noticed("info", CONTINUED))

    def edit_queued(self, queued: QueuedPrompt | None) -> None:
        """Put a prompt that was taken from the queue into the input; with None, do nothing."""
        if queued is not None:
            self._prompt.load(self._prompt.restore_attachments(queued.text, queued.blocks))

    def restore_failed(self, text: str) -> None:
        """Put a failed prompt back into the input, selected, unless the input contains text."""
        if not self._prompt.text:
            self._prompt.load_selected(text)

    def restore_unsent(self, error: UserError, text: str) -> None:
        """Put a prompt that could not be sent back into the input, and show the error.

        If the input contains text, the input is left alone; the prompt is in the history.
        """
        if not self._prompt.text:
            self._prompt.load(text)
        self._screen.notify(str(error), severity="warning", timeout=10, markup=False)

    def show_facts(self, changed: set[str | None]) -> None:
        """Update the prompt widget. `changed` holds the names of the session's changed attributes."""
        session = self._context.session
        self._prompt.agent_busy = session.phase != "idle"
        can_steer = session.agent is not None and session.agent.can_steer
        self._prompt.send_now_stops = session.working and not can_steer
        if "commands" in changed:
            self._prompt.commands = session.commands
        if "agent" in changed and session.agent is not None:
            self._use_agent(session.agent)

    def _use_agent(self, agent: Agent) -> None:
        """Show the agent's title, and refuse images if the agent does not accept any."""
        self._prompt.agent_title = title = agent.title or agent.name or self._prompt.agent_title
        takes_images = agent.can("promptCapabilities", "image")
        self._prompt.refuse_images("" if takes_images else f"{title} does not accept images")
