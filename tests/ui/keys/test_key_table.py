"""The key table and the footer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.conversation.reopening import ReadOnlyLine
from acp_tui.ui.conversation.replay import ReplayScreen
from acp_tui.ui.conversation.rewind import RewindDialog
from acp_tui.ui.conversation.session_screen import SessionScreen
from acp_tui.ui.conversation.subagent_screen import SubagentScreen
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.dialogs.dialog import Dialog
from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.dialogs.rename_dialog import RenameDialog
from acp_tui.ui.keys import SCOPES, TABLE, ScopeName, bindings, key_name
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.permission.rule_editor import RuleEditor
from acp_tui.ui.permission.rules_screen import RulesScreen
from acp_tui.ui.prompt import Prompt
from acp_tui.ui.prompt.editor import PromptEditor
from acp_tui.ui.prompt.history import HistoryInput
from acp_tui.ui.schema_form.dialog import SchemaFormDialog
from acp_tui.ui.schema_form.editors import ChoiceList
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
from acp_tui.ui.screens.mcp.server_dialogs import SignInScreen
from acp_tui.ui.screens.more_agents import MoreAgentsScreen
from acp_tui.ui.screens.options import OptionsScreen
from acp_tui.ui.screens.review.decisions_and_comments import CommentLine
from acp_tui.ui.screens.review.review_screen import ReviewScreen
from acp_tui.ui.screens.sessions.sessions_screen import SessionsScreen
from acp_tui.ui.screens.wire.filter_line import FilterLine
from acp_tui.ui.screens.wire.message_screen import MessageScreen
from acp_tui.ui.screens.wire.wire_screen import WireScreen
from acp_tui.ui.screens.worktree import CommitMessageDialog
from acp_tui.ui.tabs.comparison import ComparisonScreen
from acp_tui.ui.tabs.overview import OverviewScreen
from acp_tui.ui.transcript.transcript import Transcript
from acp_tui.ui.widgets.bar import KeyBar
from acp_tui.ui.widgets.input_line import FindLine
from acp_tui.ui.widgets.strips import QueueStrip
from tests.ui.prompt.prompt_app import PromptApp, type_text

if TYPE_CHECKING:
    from textual.dom import DOMNode

OWNERS: dict[ScopeName, type[DOMNode]] = {
    "app": AcpTui,
    "launcher": LauncherScreen,
    "anywhere": SessionScreen,
    "conversation": ConversationScreen,
    "replay": ReplayScreen,
    "subagent": SubagentScreen,
    "prompt": Prompt,
    "menu": PromptEditor,
    "edit": PromptEditor,
    "history": HistoryInput,
    "queue": QueueStrip,
    "read_only": ReadOnlyLine,
    "transcript": Transcript,
    "pane": Pane,
    "review": ReviewScreen,
    "comment": CommentLine,
    "commit": CommitMessageDialog,
    "mcp": McpScreen,
    "wire": WireScreen,
    "wire_filter": FilterLine,
    "signin": SignInScreen,
    "rename": RenameDialog,
    "overview": OverviewScreen,
    "comparison": ComparisonScreen,
    "find": FindLine,
    "dialog": Dialog,
    "permission": PermissionScreen,
    "rule": RuleEditor,
    "registry": MoreAgentsScreen,
    "sessions": SessionsScreen,
    "rules": RulesScreen,
    "form": SchemaFormDialog,
    "form_choice": ChoiceList,
    "choose": ChooseScreen,
    "rewind": RewindDialog,
    "options": OptionsScreen,
    "detail": DetailScreen,
    "message": MessageScreen,
    "help": HelpScreen,
}


def keys_of(*places: ScopeName) -> list[str]:
    return [key for entry in TABLE if entry.scope in places for key in entry.keys.split(",")]


def test_ids_are_unique() -> None:
    assert [name for name, count in Counter(key.id for key in TABLE).items() if count > 1] == []


def test_each_key_is_used_once_in_a_scope() -> None:
    uses = Counter((scope, key) for scope in SCOPES for key in keys_of(scope))
    assert [use for use, count in uses.items() if count > 1] == []


def test_editing_keys_hide_no_key_of_the_screen() -> None:
    near, far = set(keys_of("edit", "prompt")), set(keys_of("conversation", "anywhere", "app"))
    # They go on to the screen when nothing is selected, and when there is no edit to undo.
    assert near & far == {"ctrl+c", "ctrl+underscore"}


def test_no_key_is_sent_by_terminals_as_another() -> None:
    assert {"ctrl+m", "ctrl+i", "ctrl+h", "ctrl+left_square_bracket"} & set(keys_of(*SCOPES)) == set()


def test_letters_are_bound_only_where_no_text_is_typed() -> None:
    letters = {
        entry.scope for entry in TABLE for key in entry.keys.split(",") if len(key) == 1 and key.isalpha()
    }
    assert letters <= {
        "replay",  # except in the search line
        "transcript",
        "pane",
        "permission",
        "queue",
        "choose",
        "detail",
        "help",
        "review",
        "mcp",
        "overview",
        "comparison",
        "rewind",
        "wire",
    }


def test_every_key_is_bound_to_an_existing_action() -> None:
    bound = {scope: {binding.id for _, binding in owner._merge_bindings()} for scope, owner in OWNERS.items()}
    namespaces: dict[str, type[DOMNode]] = {"app": AcpTui, "screen": SessionScreen}
    for key in TABLE:
        assert key.id in bound[key.scope]
        *elsewhere, name = key.action.split("(")[0].split(".")
        target = namespaces[elsewhere[0]] if elsewhere else OWNERS[key.scope]
        assert hasattr(target, f"action_{name}"), key.id


def test_every_scope_is_bound_and_described() -> None:
    assert set(OWNERS) == set(SCOPES) == {key.scope for key in TABLE}
    assert all(key.title for key in TABLE)
    assert all(key.label for key in TABLE if key.rank)


def test_bindings_are_those_of_the_given_scopes() -> None:
    ids = {binding.id for binding in bindings("queue", "help") if not isinstance(binding, tuple)}
    assert ids == {key.id for key in TABLE if key.scope in ("queue", "help")}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("ctrl+j", "Ctrl+J"),
        ("shift+tab", "Shift+Tab"),
        ("alt+up", "Alt+↑"),
        ("escape", "Esc"),
        ("slash", "/"),
        ("C", "C"),
        ("c", "c"),
        ("f1", "F1"),
        ("left_curly_bracket", "{"),
    ],
)
def test_keys_have_display_names(key: str, name: str) -> None:
    assert key_name(key) == name


async def shown(app: PromptApp) -> str:
    return app.query_one(KeyBar).render_line(0).text.strip()


async def test_the_footer_follows_the_focus_and_open_menus() -> None:
    app = PromptApp()
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.pause()
        assert (await shown(app)).startswith("Enter send  Ctrl+J newline  / commands  F1 help")
        await type_text(pilot, "/")
        assert (await shown(app)).startswith("Tab complete  Enter accept")
        await pilot.press("backspace")
        app.show_queue("one")
        await pilot.pause()
        app.queue.focus()
        await pilot.pause()
        assert (await shown(app)).startswith("s send now  Enter edit  Del remove  Esc back  F1 help")


async def test_the_footer_shows_rebound_keys() -> None:
    app = PromptApp()
    async with app.run_test(size=(100, 24)) as pilot:
        app.set_keymap({"prompt.send": "f9", "app.help": "f2"})
        await pilot.pause()
        footer = await shown(app)
        assert "F9 send" in footer
        assert "F2 help" in footer


async def test_the_footer_cuts_no_key() -> None:
    app = PromptApp()
    async with app.run_test(size=(30, 24)) as pilot:
        await pilot.pause()
        assert await shown(app) == "Enter send  Ctrl+J newline"


async def test_a_click_on_the_footer_runs_the_action() -> None:
    app = PromptApp()
    async with app.run_test(size=(100, 24)) as pilot:
        await type_text(pilot, "hello")
        await pilot.click(KeyBar, offset=(2, 0))
        await pilot.pause()
        assert len(app.messages_of(Prompt.Submitted)) == 1
