"""Pictures of the table of a comparison."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from textual.app import App

from acp_tui.controller.comparison import ComparedAgent
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    AgentMessage,
    Cost,
    Session,
    Terminal,
    ToolCall,
    TurnEnd,
    Usage,
    UserMessage,
)
from acp_tui.ui.app import AcpTui
from acp_tui.ui.dialogs.base_screen import BaseScreen, TabState
from acp_tui.ui.tabs.comparison import ComparisonScreen
from acp_tui.ui.tabs.tabs import Tabs
from acp_tui.workspace.git.worktree import Worktree
from tests.support.looks import look

if TYPE_CHECKING:
    from acp_tui.controller import Conversation
    from acp_tui.ui.dialogs.base_screen import Activity

NOW = 10_000.0
FOLDER = Path("/home/ada/.local/share/acp-tui/worktrees/shop-1a2b3c")
ANSWER = "The total was summed before the discount.\nI have moved the call and added a test."
OUTPUT = (
    "..F.....\r\nFAILED test_basket.py::test_discount - assert 90 == 100\r\n1 failed, 7 passed in 0.31s\r\n"
)


class Agent(BaseScreen):
    """The screen of a conversation with a fixed state."""

    def __init__(self, state: TabState, conversation: Conversation) -> None:
        super().__init__()
        self.tab_state = state
        self._conversation = conversation

    @property
    def open_conversation(self) -> Conversation:
        """The conversation, which has only a session."""
        return self._conversation


class Checked(ComparedAgent):
    """An agent whose check has ended."""

    @property
    def check_result(self) -> Terminal | None:
        """The check of the one agent that is done."""
        assert self.conversation is not None
        return self.conversation.session.terminals.get("check")


def session(seconds: float, calls: int, *, check: int | None = None, usage: Usage | None = None) -> Session:
    """Return the session of an agent that works, or that has ended its turn if it was checked."""
    entries: list[Any] = [UserMessage(id=0, at=NOW - seconds, turn=1)]
    entries += [ToolCall(id=0, at=NOW, call_id="") for _ in range(calls)]
    made = Session(
        entries=entries, turn=1, phase="prompting", turn_started=NOW - seconds, usage=usage or Usage()
    )
    if check is not None:
        made.phase, made.turn_started, made.stop_reason = "idle", None, "end_turn"
        text = GrowingText()
        text.append(ANSWER)
        made.entries.append(AgentMessage(id=0, at=NOW, turn=1, parts=[text]))
        made.entries.append(TurnEnd(id=0, at=NOW, stop_reason="end_turn"))
        terminal = Terminal(id=0, at=NOW, terminal_id="check", exit_code=check, ended_at=NOW)
        terminal.output.append(OUTPUT if check else "8 passed in 0.29s\r\n")
        made.terminals["check"] = terminal
    return made


def comparison(folder: Path) -> ComparisonScreen:
    """Return the table of four agents."""
    tabs = Tabs(App(), None)
    agents: list[ComparedAgent] = []

    def add(
        name: str, made: Session, activity: Activity, question: str = "", files: int | None = None
    ) -> None:
        worktree = Worktree(folder / f"{name}-1124-0905", f"acp-tui/{name}-1124-0905", "1f", folder)
        options = SimpleNamespace(worktree=worktree)
        conversation = cast("Conversation", SimpleNamespace(session=made, options=options))
        agent = Checked(name)
        agent.conversation, agent.changed_files = conversation, files
        agents.append(agent)
        state = TabState(name, f"{name}: Fix the basket total", "", activity, question)
        tabs.add_first(Agent(state, conversation))

    used = Usage(used=84_000, size=200_000, cost=Cost(0.42, "USD"))
    add("claude-code", session(75, 12, check=1, usage=used), "idle", files=3)
    add("codex", session(190, 31, check=0, usage=Usage(used=950)), "idle", files=2)
    add("opencode-1", session(200, 4), "asking", "Run `git push --force`")
    add("a-program-with-a-very-long-name-indeed-1", session(3725, 250), "working")
    return ComparisonScreen("Fix the basket\ntotal", "pytest -q", agents, [], tabs, clock=lambda: NOW)


@look
def test_looks_of_the_table(snap_compare: Any, theme: str, size: tuple[int, int]) -> None:
    app = AcpTui(lambda: comparison(FOLDER), theme=theme)
    assert snap_compare(app, terminal_size=size)
