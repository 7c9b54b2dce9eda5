"""Base class of the screens that fill the terminal: a conversation, a replay, the launcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    cast,
    runtime_checkable,
)

from textual.message import Message

from acp_tui.entry_kinds.tool_call import changed_paths
from acp_tui.session.safe_text import escape_line
from acp_tui.session.state import Session, ToolCall
from acp_tui.ui.terminal.responsive_screen import ResponsiveScreen
from acp_tui.ui.theme.palette import current_palette
from acp_tui.workspace.git.worktree import BRANCH_PREFIX

if TYPE_CHECKING:
    from pathlib import Path

    from textual.dom import DOMNode
    from textual.screen import Screen

    from acp_tui.controller import Conversation
    from acp_tui.errors import UserError
    from acp_tui.ui.keys.commands import PaletteCommand
    from acp_tui.ui.keys.key_sequencer import KeySequencer
    from acp_tui.ui.terminal.passthrough import TabProgress, WindowTitle
    from acp_tui.ui.widgets.status_line import StatusFacts
    from acp_tui.workspace.git.worktree_finishing import WorktreeStatus


@runtime_checkable
class Themed(Protocol):
    """A screen or widget that keeps drawn lines. Others draw when they are refreshed."""

    def apply_theme(self) -> None:
        """Draw again what was drawn in the colours of the old theme."""


def redraw_in_theme(screen: Screen[Any]) -> None:
    """Redraw all widgets of a screen in the colours of the current theme, and then what it drew for them."""
    for node in [*screen.query("*"), screen]:
        node.refresh()
        if isinstance(node, Themed):
            node.apply_theme()


class AppInterface(Protocol):
    """The app as screens see it."""

    @property
    def theme_name(self) -> str:
        """The name of the chosen theme, as in the settings."""

    def use_theme(self, name: str, *, preview: bool = False) -> None:
        """Switch to another theme. Problems with the theme are shown, except in a preview."""

    def redraw(self) -> None:
        """Draw the whole screen again, for example after another program wrote on the terminal."""

    keymap: dict[str, str]
    """The user's own keys, by key id."""

    exit_signal: int | None
    """The number of the signal that made the app exit, or None."""

    @property
    def window_title(self) -> WindowTitle:
        """The title of the terminal's window."""

    @property
    def tab_progress(self) -> TabProgress:
        """Shows progress in the terminal's tab or in the task bar."""

    def rename_session(self, session: str, name: str) -> bool:
        """Rename the session with the id `session`. Return False if no tab has this session open."""

    def open_conversations(self) -> list[Conversation]:
        """Return the conversations that are open in tabs."""

    @property
    def key_sequencer(self) -> KeySequencer:
        """Passes keys and pastes to the screen in order, once the screen can handle them."""

    def show_session(self, session: str, place: TextPlace | None = None) -> bool:
        """Show the tab of the recorded session with the id `session`, scrolled to `place`.

        Return False if no tab shows this session.
        """


def app_of(node: DOMNode) -> AppInterface:
    """Return the running app, given any of its widgets or screens."""
    return cast("AppInterface", node.app)


Activity = Literal["connecting", "loading", "idle", "working", "background", "asking", "cancelling", "dead"]

BUSY: frozenset[Activity] = frozenset({"working", "cancelling", "asking"})
"""The activities during which a turn is running."""
MAX_TITLE_CHARACTERS = 100
"""The maximum length of a title. A longer one, such as a whole prompt, is cut."""


@dataclass(frozen=True, slots=True)
class TabState:
    """What a tab shows of its conversation. Texts are safe to display."""

    agent: str = ""  # the agent's title
    title: str = ""  # the session's title
    name: str = ""  # chosen by the user
    activity: Activity = "idle"
    question: str = ""  # what the agent asks about; may be empty while it asks
    entries: int = 0  # the number of entries of the conversation
    session: str = ""  # the id of the recorded session
    branch: str = ""  # of the git worktree made for the session

    @property
    def label(self) -> str:
        """The name by which the user knows the conversation."""
        return self.name or self.title or self.branch or self.agent or "acp-tui"


def conversation_state(
    facts: StatusFacts,
    session: Session,
    conversation: Conversation | None,
    question: str,
    earlier: TabState,
) -> TabState:
    """Return the state of a conversation. `conversation` is None until it has been created.

    `earlier` is the tab's state until now. Its title is kept until the session has one.
    """
    title = " ".join(escape_line(session.title or "").split())[:MAX_TITLE_CHARACTERS]
    if conversation is None:
        return replace(earlier, agent=facts.agent or earlier.agent, activity=facts.phase)
    worktree = conversation.options.worktree
    return TabState(
        facts.agent,
        title or earlier.title,
        conversation.name,
        facts.phase,
        escape_line(question),
        len(session.entries),
        conversation.folder.id or "",
        escape_line(worktree.branch.removeprefix(BRANCH_PREFIX)) if worktree is not None else "",
    )


Result = TypeVar("Result")


class BaseScreen(ResponsiveScreen[None]):
    """The lowest screen of a Textual mode. Dialogs open above it, in the same mode."""

    BLANK: ClassVar[bool] = True  # the widgets cover the screen: Textual need not paint it below them

    is_launcher: ClassVar[bool] = False
    """Whether this is the launcher, from which the user opens conversations."""

    lists_sessions: ClassVar[bool] = False
    """Whether this is the screen with the recorded sessions."""

    shows_other_tabs: ClassVar[bool] = False
    """Whether this screen shows what the agents in the other tabs do, so that no toast has to tell."""

    is_placeholder: ClassVar[bool] = False
    """Whether another screen replaces this one as soon as it is shown."""

    closing_note: str = ""
    """A sentence to print when acp-tui ends. Those of a conversation are in its setup."""

    failure: str = ""
    """Why the conversation could not be started, in a sentence; empty if it could, or was not yet."""

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

    def __init__(self) -> None:
        super().__init__()
        self._first_palette = current_palette()
        self.tab_state = TabState()
        """What the tab strip shows of this screen."""

    def on_mount(self) -> None:
        """Handle the keys that the user typed before the screen was mounted."""
        self.app.theme_changed_signal.subscribe(self, lambda _: redraw_in_theme(self))
        if self._first_palette is not current_palette():  # the terminal has reported its background meanwhile
            redraw_in_theme(self)
        self.app.call_later(app_of(self).key_sequencer.deliver_early_keys)

    def on_unmount(self) -> None:
        """Unsubscribe from the app's signals."""
        for signal in (self.app.theme_changed_signal, self.app.mode_change_signal):
            signal.unsubscribe(self)

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

    @property
    def is_visible_page(self) -> bool:
        """True if this screen is in the tab in front, and only dialogs are above it."""
        stack = self.app.screen_stack
        return self in stack and all(above.is_modal for above in stack[stack.index(self) + 1 :])

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

    async def questions_answered(self) -> None:
        """Wait until the user has answered the questions that are asked before the agent starts."""

    def discard_worktree(self, status: WorktreeStatus, *, merged: str = "") -> None:
        """Remove the worktree when the screen is closed, if the worktree still has this status.

        `merged` says what was merged before.
        """

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

    @property
    def wire_log(self) -> Path | None:
        """The log of the session on this screen; None if nothing is recorded, or not yet."""
        return None

    def show_place(self, place: TextPlace) -> None:
        """Scroll to text in the conversation, and mark the text. Without a conversation, do nothing."""

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


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """A conversation's status and work so far. Texts are safe to display."""

    status: StatusFacts
    activity: str = ""  # the tool call that runs
    changed_files: int = 0


def running_call(session: Session) -> str:
    """Return the title of the newest tool call that is running; empty if there is none.

    Considers only the tool calls at the end of the transcript.
    """
    for entry in reversed(session.entries):
        if isinstance(entry, ToolCall) and entry.status in ("pending", "in_progress"):
            return entry.title
        if not isinstance(entry, ToolCall):
            break
    return ""


def changed_files(session: Session) -> int:
    """Return the number of files that the completed tool calls of a session and its subagents changed."""
    subagents = (subagent.session for subagent in session.subagents.values())
    calls = (entry for each in (session, *subagents) for entry in each.entries if isinstance(entry, ToolCall))
    return len({path for call in calls for path in changed_paths(call)})


class TextPlace(NamedTuple):
    """Where some text is: the entry that contains it, and the text itself."""

    entry: int  # the entry's id
    text: str  # empty for the beginning of the entry


@dataclass(slots=True)
class SessionContext:
    """The session on the screen. The screen keeps the attributes up to date."""

    session: Session
    cwd: str = ""
    conversation: Conversation | None = None  # None for a recording, and before it has been created
