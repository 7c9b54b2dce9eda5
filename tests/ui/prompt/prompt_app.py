"""A small app with a prompt, which records the prompt's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.events import Key
from textual.keys import _character_to_key
from textual.widgets import Static

from acp_tui.session.state import QueuedPrompt, SlashCommand
from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.keys import bindings
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.editor import PromptEditor
from acp_tui.ui.theme.themes import load_theme
from acp_tui.ui.widgets.bar import KeyBar
from acp_tui.ui.widgets.strips import QueueStrip

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.message import Message
    from textual.pilot import Pilot

COMMANDS = [
    SlashCommand("edit", "Edit a file", "<path>"),
    SlashCommand("explain", "Explain how something works"),
    SlashCommand("review pr", "Review a pull request", "<number>"),
    SlashCommand("review", "Review what was changed"),
]


class MemoryHistory:
    """A prompt history in memory."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def entries(self) -> list[str]:
        return list(self.texts)

    def add(self, text: str) -> None:
        self.texts.append(text)


class PromptApp(App[None]):
    """An app with a prompt, a queue and a footer, without a conversation."""

    CSS = """
    Screen { background: $background; }
    #above { height: 1fr; }
    """
    TITLE = "acp-tui"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = bindings("app", "conversation")

    def __init__(self, *history: str, theme: str = "dark") -> None:
        super().__init__()
        loaded = load_theme(theme).theme
        self.register_theme(loaded)
        self.theme = loaded.name
        self.history = MemoryHistory(*history)
        self.messages: list[Message] = []
        self.interrupt_count = 0

    def compose(self) -> ComposeResult:
        yield Static("\n".join(f"line {number} of the conversation" for number in range(60)), id="above")
        yield QueueStrip()
        yield Prompt(history=self.history)
        yield KeyBar()

    def on_mount(self) -> None:
        self.prompt.agent_title = "Demo"
        self.prompt.commands = COMMANDS
        self.prompt.focus()

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    @property
    def editor(self) -> PromptEditor:
        return self.query_one(PromptEditor)

    @property
    def queue(self) -> QueueStrip:
        return self.query_one(QueueStrip)

    def show_queue(self, *texts: str, paused: bool = False) -> None:
        self.queue.show([QueuedPrompt(f"q{at}", text, paused=paused) for at, text in enumerate(texts, 1)])
        self.prompt.queued_count = len(texts)

    def messages_of(self, kind: type[Message]) -> list[Message]:
        return [message for message in self.messages if type(message) is kind]

    def _record(self, message: Message) -> None:
        self.messages.append(message)

    on_prompt_submitted = on_prompt_send_now = on_prompt_resume_queue = on_prompt_edit_last_queued = _record
    on_prompt_draft_changed = on_queue_strip_send_now = on_queue_strip_edit = on_queue_strip_remove = _record

    def on_queue_strip_leave(self) -> None:
        self.prompt.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action in {"interrupt", "help", "quit", "page", "focus_next"}

    def action_interrupt(self) -> None:
        self.interrupt_count += 1

    def action_help(self) -> None:
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen.for_screen(self.screen))


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Type a text, and handle each key before the next one."""
    for char in text:
        pilot.app.post_message(Key("ctrl+j" if char == "\n" else _character_to_key(char), char))
        await (
            pilot._wait_for_screen()
        )  # `press` would also wait for an idle processor, up to a second per key
    await pilot.pause()


async def type_without_pauses(pilot: Pilot[None], text: str, *keys: str) -> None:
    """Type a text and press keys so quickly that nothing else is handled in between."""
    for char in text:
        pilot.app.post_message(Key(_character_to_key(char), char))
    for key in keys:
        pilot.app.post_message(Key(key, "\r" if key == "enter" else None))
    await pilot.pause()
    await pilot.pause()
