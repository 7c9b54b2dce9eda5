"""A session screen with sample data, for tests of the panes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from acp_tui.config.agent_catalogue import Launch
from acp_tui.controller import FileChange, McpServerStatus
from acp_tui.review.decisions import Review
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    Agent,
    AgentMessage,
    Choice,
    ConfigOption,
    Diff,
    Location,
    Plan,
    PlanItem,
    Process,
    Session,
    Terminal,
    ToolCall,
    UserMessage,
)
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.conversation.side_panes import PaneActions
from acp_tui.ui.conversation.status_tracker import StatusTracker
from acp_tui.ui.panes.files import Counts
from acp_tui.ui.panes.panes import Panes

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.session.state import Entry

CWD = "/home/ada/my-project"
STEPS = [
    ("Read how users log in", "completed", "medium"),
    ("Find out why an empty name is treated as a user of that name, and where else that could happen",
     "completed", "high"),
    ("Fix `login.py`", "in_progress", "high"),
    ("Write a test for it", "pending", "medium"),
    ("Mention it in the changelog", "pending", "low"),
]  # fmt: skip
CHANGES = [
    FileChange(Path(CWD, "docs/a-rather-long-name-of-a-folder/and-a-file-in-it.md"), "added"),
    FileChange(Path(CWD, "login.py"), "modified"),
    FileChange(Path(CWD, "old.py"), "deleted"),
    FileChange(Path(CWD, "run.sh"), "mode"),
    FileChange(Path("/etc/hosts"), "modified", "it was changed before acp-tui could copy it"),
]
COUNTS = {
    f"{CWD}/login.py": Counts(3, 1),
    f"{CWD}/old.py": Counts(0, 1_204),
    str(CHANGES[0].path): Counts(40, 0),
}
LOGIN = "def login(user):\n    if user = None:\n        return\n"


def sample_session() -> Session:
    """Return a session in the middle of a turn."""
    session = Session(session_id="0b7c2f5e-8a41-4d0e", cwd=CWD, phase="prompting", turn=1, turn_started=100.0)
    session.agent = Agent("claude-agent-acp", "Claude Agent", "0.100.0", 1)
    session.agent.capabilities = {"loadSession": True, "promptCapabilities": {"image": True, "audio": False}}
    session.process = Process(["claude-agent-acp", "--verbose"], CWD, 4711)
    session.directories = ["/home/ada/library"]
    session.config_options = [
        ConfigOption("mode", "Mode", "select", "ask", category="mode", choices=[Choice("ask", "Always ask")]),
        ConfigOption("model", "Model", "select", "s", category="model", choices=[Choice("s", "Sonnet")]),
        ConfigOption("think", "Think longer", "boolean", True),
    ]
    entries: list[Entry] = [UserMessage(id=0, at=100.0, turn=1, parts=[GrowingText("fix the login bug")])]
    text = "\n\n".join(f"Paragraph {number} of what the agent has to say about that." for number in range(30))
    entries.append(AgentMessage(id=1, at=101.0, turn=1, parts=[GrowingText(text)]))
    looked_at = [Location(f"{CWD}/users.py", 4), Location(f"{CWD}/README.md")]
    entries.append(
        ToolCall(id=2, at=102.0, turn=1, call_id="read", title="Read", kind="read", status="completed",
                 locations=looked_at)
    )  # fmt: skip
    fixed = LOGIN.replace("user = None", "user is None")
    edit = ToolCall(id=3, at=103.0, turn=1, call_id="edit", title="Edit login.py", kind="edit")
    edit.status, edit.locations = "in_progress", [Location(f"{CWD}/login.py", 12)]
    edit.content = [Diff(f"{CWD}/login.py", LOGIN, fixed)]
    entries.append(edit)
    session.reducer_state.open_calls[edit.call_id] = edit
    session.plan = Plan(id=4, at=104.0, turn=1, items=[PlanItem(*step) for step in STEPS])
    entries.append(session.plan)
    for number, (command, owner, code) in enumerate(
        [("pytest -q tests/test_login.py -x", "client", 1), ("npm run build -- --watch", "client", None),
         ("git status", "agent", 0)]
    ):  # fmt: skip
        terminal = Terminal(
            id=5 + number, at=105.0, turn=1, terminal_id=f"term-{number + 1}", command=command
        )
        terminal.owner = owner  # type: ignore[assignment]
        terminal.cwd = f"{CWD}/web" if code is None else CWD
        terminal.exit_code, terminal.ended_at = code, 107.4 if code is not None else None
        terminal.output.append("\x1b[32mok\x1b[0m\r\n" * 40 + "the end")
        session.terminals[terminal.terminal_id] = terminal
        entries.append(terminal)
    session.entries = entries
    session.tool_calls = {entry.call_id: entry for entry in entries if isinstance(entry, ToolCall)}
    return session


class FakeConversation:
    """The part of a conversation that the panes read."""

    class folder:  # noqa: N801
        id = "20261120-101500-claude-code-3f2a"

    launch = Launch("claude-code", "Claude Code", ["npx", "claude-code-acp"])
    finds_all_changes = True
    log_path = "/home/ada/.local/share/acp-tui/sessions/20261120-101500-claude-code-3f2a/wire.jsonl"
    mcp_servers: ClassVar = [
        McpServerStatus("files", "stdio"),
        McpServerStatus("docs", "http", "the agent does not support http servers"),
    ]

    class options:  # noqa: N801
        servers: ClassVar[list[Server]] = []

    class review:  # noqa: N801
        model = Review()

    async def changes(self) -> list[FileChange]:
        return CHANGES


class KnownChanges(PaneActions):
    """Shows the changes above instead of scanning the disk."""

    def request_scan(self) -> None:
        self._files_pane().show_changes(CHANGES, COUNTS, {f"{CWD}/run.sh"})


class SampleScreen(SessionScreen):
    """A session screen without an agent, whose clock stands still."""

    AUTO_FOCUS = "Transcript"

    def __init__(self, session: Session) -> None:
        super().__init__(session, StatusTracker("Claude Agent"))
        self.context.conversation = FakeConversation()  # type: ignore[assignment]
        self._pane_actions = KnownChanges(self, self.panes, self.context)

    def on_mount(self) -> None:
        self.show_session(self.session, CWD)

    def now(self) -> float:
        return 110.0


def sample_app(theme: str) -> AcpTui:
    """Return an app with the sample screen."""
    return AcpTui(lambda: SampleScreen(sample_session()), theme=theme)


def panes_of(app: AcpTui) -> Panes:
    """Return the panes of the app's screen."""
    return app.screen.query_one(Panes)
