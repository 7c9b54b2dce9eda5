"""Base class of the screens that fill the terminal: a conversation, a replay, the launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.message import Message

from acp_tui.ui.app_interface import app_of
from acp_tui.ui.tabs.tab_state import TabState
from acp_tui.ui.terminal.responsive_screen import ResponsiveScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.screen import Screen

    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.ui.keys.palette_command import PaletteCommand
    from acp_tui.ui.screens.overview.conversation_facts import ConversationFacts
    from acp_tui.ui.screens.session.text_place import TextPlace
    from acp_tui.ui.theme.palette import Palette

Result = TypeVar("Result")


class BaseScreen(ResponsiveScreen[None]):
    """The lowest screen of a Textual mode. Dialogs open above it, in the same mode."""

    BLANK: ClassVar[bool] = True  # the widgets cover the screen: Textual need not paint it below them

    is_launcher: ClassVar[bool] = False
    """Whether this is the launcher, from which the user opens conversations."""

    lists_sessions: ClassVar[bool] = False
    """Whether this is the screen with the recorded sessions."""

    is_placeholder: ClassVar[bool] = False
    """Whether another screen replaces this one as soon as it is shown."""

    closing_note: str = ""
    """A sentence to print when acp-tui ends. Those of a conversation are in its setup."""

    mode: str | None = None
    """The Textual mode of this screen, set by the app. None stands for the app's current mode."""

    class Failed(Message):
        """The screen cannot be used; the app closes it and shows the error."""

        def __init__(self, screen: BaseScreen, error: UserError) -> None:
            super().__init__()
            self.screen = screen
            self.error = error

    class SwitchRequested(Message):
        """The user wants another screen in place of this one."""

        def __init__(self, before: BaseScreen, screen: BaseScreen) -> None:
            super().__init__()
            self.before = before
            self.screen = screen

    class TabRequested(Message):
        """The user wants another screen in a new tab."""

        def __init__(self, screen: BaseScreen) -> None:
            super().__init__()
            self.screen = screen

    class CloseRequested(Message):
        """The user wants to close this screen."""

        def __init__(self, screen: BaseScreen) -> None:
            super().__init__()
            self.screen = screen

    class StateChanged(Message):
        """The screen has a new `tab_state`."""

        def __init__(self, screen: BaseScreen) -> None:
            super().__init__()
            self.screen = screen

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self.tab_state = TabState()
        """What the tab strip shows of this screen."""

    def on_mount(self) -> None:
        """Handle the keys that the user typed before the screen was mounted."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self.use_palette(app_of(self).palette))
        if self.palette is not app_of(self).palette:  # the terminal has reported its background meanwhile
            self.use_palette(app_of(self).palette)
        self.app.call_later(app_of(self).key_sequencer.deliver_early_keys)

    def on_unmount(self) -> None:
        """Unsubscribe from the app's signals."""
        for signal in (self.app.theme_changed_signal, self.app.mode_change_signal):
            signal.unsubscribe(self)

    def use_palette(self, palette: Palette) -> None:
        """Apply the colours of a new theme."""
        self.palette = palette

    def report_state(self, state: TabState) -> None:
        """Report to the tab strip what this screen shows and does."""
        if state != self.tab_state:
            self.tab_state = state
            self.post_message(self.StateChanged(self))

    # ------------------------------------------------------------------------- dialogs

    @property
    def is_in_front(self) -> bool:
        """True if this screen is in the tab in front, perhaps below other screens."""
        return self in self.app.screen_stack

    def open_dialog(
        self, dialog: Screen[Result], callback: Callable[[Result | None], None] | None = None
    ) -> None:
        """Open a dialog above this screen, even while another tab is in front. `callback` gets the result."""
        self.app.push_screen(dialog, callback, mode=self.mode)

    async def ask(self, dialog: Screen[Result]) -> Result | None:
        """Open a dialog and return its result. Call this in a worker."""
        return await self.app.push_screen_wait(dialog, mode=self.mode)

    def notify_error(self, error: UserError) -> None:
        """Show an error in a toast."""
        self.notify(str(error), severity="error", timeout=10, markup=False)

    # ------------------------------------------------------------------------- called by the app

    async def leave(self, *, close_session: bool = False) -> None:
        """Shut down what the screen owns. Called when the screen is closed or the app ends.

        If `close_session` is true, the user closed the screen, and the agent is told that its session is no
        longer needed.
        """

    @property
    def asks_before_close(self) -> bool:
        """Whether `may_close` might ask the user something."""
        return False

    async def may_close(self) -> bool:
        """Ask the user the questions that must be answered before the screen is closed.

        Return False to keep the screen open. Call this in a worker.
        """
        return True

    def stay_open(self) -> None:
        """Forget what the user decided in `may_close`, because the screen is not closed after all."""

    def busy_reason(self) -> str | None:
        """Return, as a sentence, why the screen should not be left now; None if the screen can be left."""
        return None

    def shows_session(self, session: str) -> bool:  # noqa: ARG002  # used by subclasses
        """Return True if this screen shows the recorded session with the id `session`."""
        return False

    def answer_question(self) -> None:
        """If a question waits for an answer, open the question's dialog."""

    def show_others_asking(self, count: int) -> None:
        """Show the number of other tabs in which an agent waits for an answer."""

    @property
    def open_conversation(self) -> Conversation | None:
        """The conversation on this screen; None if there is none, or until the conversation is created."""
        return None

    @property
    def folder(self) -> str:
        """The project folder of the conversation on this screen; empty if there is no conversation."""
        return ""

    def show_place(self, place: TextPlace) -> None:
        """Scroll to a text in the conversation, and mark the text. Without a conversation, do nothing."""

    def conversation_facts(self) -> ConversationFacts | None:
        """Return what the overview shows about the conversation; None if the screen has no conversation."""
        return None

    @property
    def can_be_renamed(self) -> bool:
        """True if the user can name what this screen shows."""
        return False

    def rename(self, name: str) -> None:
        """Rename what this screen shows. An empty name restores the original name."""

    def commands(self) -> Iterable[PaletteCommand]:
        """Return the commands of this screen that have no key, for the command palette."""
        return ()
