"""What the agent does on the screen with acp-tui's own tools: show files, alert, ask, read the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui import web_browser
from acp_tui.entry_kinds.kind_table import kind_of
from acp_tui.session.safe_text import escape_line
from acp_tui.ui import keys
from acp_tui.ui.drawing.wrap import shorten

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.config.settings import Settings
    from acp_tui.schema_form.values import FormAnswer
    from acp_tui.ui.conversation.attention import Attention
    from acp_tui.ui.conversation.question_dialogs import PendingQuestions
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.prompt import Prompt


NOTICE_SECONDS = 15
MAX_NOTICE_WIDTH = 300


class OwnTools:
    """Carries out the agent's calls to acp-tui's own tools on the screen. Implements `UserInterface`."""

    def __init__(
        self, screen: SessionScreen, prompt: Prompt, questions: PendingQuestions, attention: Attention
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._questions = questions
        self._context = screen.context
        self._attention = attention

    def toggle(self, launch: Launch, settings: Settings) -> None:
        """Turn the tools on or off for the next sessions of an agent, until acp-tui exits."""
        is_on = settings.own_server.toggle(launch.name)
        verb = "gets" if is_on else "does not get"
        restart = keys.bound_keys(self._screen, "agent.restart")
        sentence = (
            f"From the next session until acp-tui exits, {launch.title} {verb} acp-tui's own tools. "
            f"{restart} restarts the agent and reopens this session with the change."
        )
        self._screen.notify(sentence, timeout=NOTICE_SECONDS, markup=False)

    def show(self, call_id: str, text: str | None) -> bool:
        """Open a view of the file or the diff that a tool call wants to show.

        `text` is the content of the file; None for a diff. Return False if the user is busy, or if the
        call is unknown.
        """
        entry = self._context.session.own_tool_calls.get(call_id)
        if entry is None:
            return False
        if self._is_busy:
            what = "a diff" if text is None else "a file"
            self._toast(f"{self._prompt.agent_title} wants to show you {what}. See the transcript.")
            return False
        if text is None:
            from acp_tui.ui.dialogs.detail import FullEntryScreen

            context = self._context
            self._screen.open_dialog(FullEntryScreen(entry, session=context.session, cwd=context.cwd))
        else:
            from acp_tui.ui.dialogs.detail import FileViewScreen

            path, line = kind_of(entry).location(entry) or ("", None)
            title = entry.call.title or path
            self._screen.open_dialog(FileViewScreen(title, path, text, line=line))
        return True

    @property
    def _is_busy(self) -> bool:
        """Whether the user is in a dialog, in another conversation, or writing a prompt."""
        is_top = self._screen.app.screen is self._screen
        return not is_top or bool(self._prompt.text.strip())

    def alert(self, message: str) -> None:
        """Show a message in a toast. If the terminal is not focused, also alert the user as configured."""
        self._toast(f"{self._prompt.agent_title}: {message}")
        self._attention.send_message(self._prompt.agent_title, message)

    def _toast(self, text: str) -> None:
        self._screen.notify(
            shorten(escape_line(text), MAX_NOTICE_WIDTH), timeout=NOTICE_SECONDS, markup=False
        )

    async def ask(self, message: str, schema: dict[str, Any]) -> FormAnswer:
        """Ask the user to fill in a form made from a JSON schema, and return the answer."""
        from acp_tui.controller import FormRequest

        return await self._questions.fill_form(FormRequest(message, schema))

    def open_url(self, url: str) -> bool:
        """Open a page in the browser. Blocks: call it in a thread."""
        return web_browser.open_page(url)

    def selection(self) -> str:
        """Return the text that is selected in the conversation, or else in the prompt."""
        return self._screen.get_selected_text() or self._prompt.selected_text
