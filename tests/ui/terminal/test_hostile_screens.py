"""Hostile text in everything that screens show must not become an escape sequence."""

from __future__ import annotations

import asyncio
import importlib
import os
import pkgutil
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import AsyncMock, Mock

import pytest
from textual.app import App
from textual.screen import Screen

import acp_tui.ui
from acp_tui.agent_registry.registry import update
from acp_tui.cli.commands import run
from acp_tui.cli.recordings import read_recording
from acp_tui.config import early_settings
from acp_tui.config.mcp import ResolvedServer, Server
from acp_tui.config.paths import paths
from acp_tui.config.settings import load
from acp_tui.controller.comparison import ComparedAgent
from acp_tui.controller.permission_gate import PermissionGate
from acp_tui.controller.player import INSTANT, Player
from acp_tui.controller.rewind import FileTexts
from acp_tui.controller.rule_book import RuleBook
from acp_tui.controller.user_questions import RuleOffer
from acp_tui.guarded_question import GuardedQuestion, StartAnswer
from acp_tui.mcp.sign_in.interaction import AuthorizationUrl
from acp_tui.permissions.decision import PartVerdict
from acp_tui.permissions.rules import AgentIdentity, Rule
from acp_tui.processes.piped_process import LineRing
from acp_tui.review.comments import Comment
from acp_tui.session.growing_text import GrowingText
from acp_tui.session.state import (
    AgentMessage,
    Choice,
    ConfigOption,
    Cost,
    PermissionOption,
    Quota,
    Session,
    Subagent,
    Terminal,
    TurnUsage,
    Usage,
)
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.conversation.replay import ReplayScreen
from acp_tui.ui.conversation.rewind import RewindDialog
from acp_tui.ui.conversation.sign_in_dialogs import SignInProgress
from acp_tui.ui.conversation.subagent_screen import SubagentScreen
from acp_tui.ui.conversation.usage_screen import UsageScreen
from acp_tui.ui.dialogs.base_screen import ConversationFacts, SessionContext, TabState
from acp_tui.ui.dialogs.choose import ChooseScreen
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.detail import DetailScreen, FileViewScreen, FullEntryScreen, OutputScreen
from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen
from acp_tui.ui.dialogs.help import HelpScreen
from acp_tui.ui.dialogs.palette import PaletteScreen
from acp_tui.ui.dialogs.rename_dialog import RenameDialog
from acp_tui.ui.keys import KEYS
from acp_tui.ui.keys.commands import PaletteCommand
from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.permission.rules_screen import RuleEditDialog, RulesScreen
from acp_tui.ui.schema_form.dialog import FormReviewDialog, SchemaFormDialog
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.screens.mcp.live_servers import KnownServer, LiveServers, McpContext
from acp_tui.ui.screens.mcp.mcp_screen import McpScreen
from acp_tui.ui.screens.mcp.server_dialogs import SignInScreen
from acp_tui.ui.screens.mcp.tool_call_screen import ToolCallScreen
from acp_tui.ui.screens.more_agents import MoreAgentsScreen
from acp_tui.ui.screens.options import OptionChanges, OptionsScreen
from acp_tui.ui.screens.review.review_screen import ReviewScreen
from acp_tui.ui.screens.sessions.sessions_screen import SessionsScreen
from acp_tui.ui.screens.wire.message_screen import MessageDraft, MessageScreen, MethodChooser
from acp_tui.ui.screens.wire.wire_screen import WireContext, WireScreen
from acp_tui.ui.screens.worktree import CommitMessageDialog
from acp_tui.ui.tabs.comparison import ComparisonScreen
from acp_tui.ui.tabs.overview import OverviewScreen
from acp_tui.ui.tabs.tabs import Tabs
from acp_tui.ui.terminal.frame_diff import FrameDiff
from acp_tui.ui.widgets.status_line import StatusFacts
from acp_tui.workspace.baseline.turn_history import RewindStep
from tests.support.conversation_ui import agent, app_of
from tests.support.hostile_world import MARKER, NAME, TEXT, UNSAFE, World, assert_no_control, make_world
from tests.support.looks import DARK_ONLY, shown_colours
from tests.support.stored_sessions import record_session
from tests.support.terminal import ESCAPES, PreloadedTerminal
from tests.support.waiting import until
from tests.ui.screens.questions import permission
from tests.ui.screens.review.sample_review import SampleReview, changed, sample_screen, text
from tests.ui.tabs.test_tab_looks import Conversation
from tests.ui.terminal.test_terminal_escapes import assert_harmless

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot


PARTS = {
    "AgentSettings",
    "BaseScreen",
    "ResponsiveScreen",
    "SeeThroughScreen",
    "Dialog",
    "BoxDialog",
    "GuardedDialog",
    "TranscriptScreen",
    "Exporting",
    "PaneHost",
    "Prompting",
    "RestoredScreen",
    "SessionScreen",
}
"""Classes that screens are made of, and none by themselves. `RestoredScreen` draws nothing."""
STYLE_OR_PLACE = re.compile(rb"\x1b\[[0-9;]*[mH]|\x1b\]8;[^;\x07\x1b]*;[\x20-\x7e]*\x1b\\")
EVIL = f"{TEXT} {NAME}"

FORM = {
    "description": EVIL,
    "properties": {
        EVIL: {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL, "pattern": EVIL},
        "choice": {"oneOf": [{"const": EVIL, "title": EVIL, "description": EVIL}]},
        "many": {"enum": [EVIL] * 20, "default": EVIL},
        "list": {"type": "array", "items": {"type": "string"}, "default": [NAME]},
        "json": {},
    },
}
"""A schema whose texts are hostile."""


def question() -> Any:
    options = [PermissionOption(EVIL, EVIL, kind) for kind in ("allow_once", "reject_once", EVIL)]
    raw = {"command": EVIL, "cwd": EVIL, "env": {EVIL: EVIL}}
    asked = permission(EVIL, "execute", options=options, why=EVIL, raw_input=raw)
    rule = Rule(decision="allow", kind="execute", command=(EVIL,))
    asked.offer = RuleOffer(AgentIdentity(EVIL, EVIL, EVIL), EVIL, {"allow_always": [(rule,)]})
    asked.own_options.append(PermissionOption("", EVIL, "allow_always"))
    asked.parts = (PartVerdict(asked.subject.evolve(part_text=EVIL), "ask", EVIL),)
    return asked


RULE = Rule(decision="allow", kind="execute", command=(EVIL,), agent=EVIL, agent_line=EVIL, origin=EVIL)
IDENTITY = AgentIdentity(EVIL, EVIL, EVIL)


def rules() -> RuleBook:
    """Return a book with one rule of the run."""
    return RuleBook(
        PermissionGate("ask", lambda: IDENTITY, EVIL, lambda _: None, time.time, run_rules=[RULE])
    )


def review() -> ReviewScreen:
    """Return the review of a file with a comment."""
    file = changed(NAME, text("old\n"), text(f"{TEXT}\n"), 1)
    sample = SampleReview(file)
    sample.comments = [Comment(str(file.path), 1, 1, (EVIL,), EVIL)]
    return sample_screen(sample, NAME)


def terminal() -> Terminal:
    ran = Terminal(id=1, at=0, terminal_id=EVIL, command=EVIL, cwd=EVIL, signal=EVIL)
    ran.output.append(f"{EVIL}\r\n")
    return ran


def mcp_screen() -> McpScreen:
    """Return the screen of a hostile MCP server that is not connected."""
    server = Server(NAME, Path(EVIL), 1, command=EVIL, args=[EVIL], env={EVIL: EVIL}, faults=[("", EVIL)])
    known = KnownServer(server, withheld=EVIL, not_sent=EVIL)
    return McpScreen(McpContext(lambda: [known], Path(EVIL), LiveServers(Path(EVIL)), Session(), agent=EVIL))


def tool_call() -> ToolCallScreen:
    """Return the screen of a call that reports progress and does not end."""

    async def call(*_: object, progress_callback: Any, **__: object) -> None:
        await progress_callback(1, 2, EVIL)
        await asyncio.Event().wait()

    client = SimpleNamespace(call_tool=call)
    connection: Any = SimpleNamespace(server=ResolvedServer(NAME, "stdio", command=EVIL), client=client)
    return ToolCallScreen(connection, EVIL, {EVIL: EVIL}, lambda _: None)


def sign_in() -> SignInProgress:
    """Return the dialog of a sign-in during which the agent writes to stderr."""
    stderr = LineRing()
    dialog = SignInProgress(EVIL, EVIL, stderr)
    stderr.add(f"{EVIL}\nhttps://host/{EVIL}\n".encode("utf-8", "surrogateescape"))
    return dialog


def overview() -> OverviewScreen:
    """Return the overview of one conversation."""
    tabs = Tabs(App(), None)
    state = TabState(EVIL, EVIL, EVIL, "asking", EVIL)
    tabs.add_first(Conversation(state, ConversationFacts(StatusFacts(EVIL), EVIL)))
    return OverviewScreen(tabs)


def options() -> OptionsScreen:
    """Return the options of an agent, of which one could not be set."""
    choices = [Choice(EVIL, EVIL, EVIL, EVIL)]
    session = Session(config_options=[ConfigOption(EVIL, EVIL, "select", EVIL, EVIL, EVIL, choices)])
    changes = OptionChanges(AsyncMock(), lambda: None)
    changes.failures[EVIL] = EVIL
    return OptionsScreen(session, changes, change=Mock(), choose=Mock())


def usage() -> UsageScreen:
    """Return the usage of a session with tokens, models and costs of unknown names."""
    cost = Cost(1, EVIL)
    turn = TurnUsage(1, 0, {EVIL: 1}, {EVIL: {EVIL: 1}}, used=1, size=2, cost=cost, cost_before=0)
    session = Session(
        usage=Usage(1, 2, cost, {EVIL: 1}), turn_usages=[turn], quotas={EVIL: Quota(EVIL, EVIL, 0.5)}
    )
    return UsageScreen(session, warning=0.5, now=time.time)


def subagent() -> SubagentScreen:
    """Return the transcript of a subagent that asks."""
    session = Session(entries=[AgentMessage(id=0, at=0, parts=[GrowingText(EVIL)])])
    entry = Subagent(id=1, at=0, key=EVIL, session=session, title=EVIL, description=EVIL, state=EVIL)
    host = Mock(can_stop=lambda _: False, now=time.time)
    return SubagentScreen(entry, host, SessionContext(Session(), EVIL))


def rewind() -> RewindDialog:
    """Return the list of files of a rewind, which the agent has named."""

    async def texts(_: RewindStep) -> FileTexts:
        return FileTexts(EVIL, None, (1, 2))

    steps = [
        RewindStep(Path(f"/{NAME}"), "restore", edited_between_turns=True),
        RewindStep(Path(f"/2{NAME}"), "restore", obstacle=EVIL),
    ]
    return RewindDialog(EVIL, steps, str, texts, cwd="/")


def message() -> MessageScreen:
    """Return the page with a message to the agent that has faults."""
    conversation: Any = SimpleNamespace(session=Session(), cwd=EVIL, launch=SimpleNamespace(title=EVIL))
    history: Any = SimpleNamespace(add=lambda *_: None, entries=list)
    draft = MessageDraft(EVIL, True, EVIL)
    return MessageScreen(conversation, history, AsyncMock(), draft)


def wire() -> WireScreen:
    """Return the messages of a session, in which every text is hostile."""
    return WireScreen(WireContext(paths().data / "sessions" / "20260101-evil" / "wire.jsonl", EVIL))


def more_agents() -> MoreAgentsScreen:
    """Return the agents of a registry with hostile texts."""
    return MoreAgentsScreen(lambda: load(Path.cwd()))


def comparison() -> ComparisonScreen:
    """Return the table of two agents, without their conversations."""
    tabs = Tabs(App(), None)
    state = TabState(EVIL, EVIL, EVIL, "asking", EVIL)
    tabs.add_first(Conversation(state, ConversationFacts(StatusFacts(EVIL), EVIL)))
    return ComparisonScreen(EVIL, EVIL, [ComparedAgent(EVIL, EVIL)], [], tabs)


DIALOGS: dict[type[Screen[Any]], Callable[[], Screen[Any]]] = {
    MessageScreen: message,
    MethodChooser: lambda: MethodChooser(EVIL, [Choice(EVIL, EVIL, EVIL, EVIL)]),
    WireScreen: wire,
    MoreAgentsScreen: more_agents,
    ComparisonScreen: comparison,
    ChooseScreen: lambda: ChooseScreen(EVIL, [Choice(EVIL, EVIL, EVIL, EVIL)]),
    RewindDialog: rewind,
    RenameDialog: lambda: RenameDialog(EVIL, EVIL),
    OverviewScreen: overview,
    ConfirmScreen: lambda: ConfirmScreen(EVIL, yes=EVIL, no=EVIL),
    DetailScreen: lambda: DetailScreen(EVIL, EVIL),
    FileViewScreen: lambda: FileViewScreen(EVIL, NAME, f"{TEXT}\n", line=1),
    HelpScreen: lambda: HelpScreen((), dict.fromkeys(KEYS, EVIL)),
    OutputScreen: lambda: OutputScreen(terminal(), session=Session()),
    PaletteScreen: lambda: PaletteScreen(
        EVIL, [PaletteCommand(EVIL, str, EVIL, EVIL, EVIL)], end_preview=lambda: None
    ),
    PermissionScreen: lambda: PermissionScreen(question(), agent=EVIL, cwd=EVIL),
    GuardedQuestionScreen: lambda: GuardedQuestionScreen(
        GuardedQuestion(EVIL, EVIL, (StartAnswer(EVIL),), facts=((EVIL, EVIL),), warnings=(EVIL,))
    ),
    CommitMessageDialog: lambda: CommitMessageDialog(EVIL, EVIL, EVIL),
    SessionsScreen: lambda: SessionsScreen(Path(f"/{MARKER} {NAME}"), Mock()),
    ReviewScreen: review,
    McpScreen: mcp_screen,
    ToolCallScreen: tool_call,
    SignInScreen: lambda: SignInScreen(AuthorizationUrl(EVIL, EVIL, EVIL, (EVIL,))),
    SignInProgress: sign_in,
    OptionsScreen: options,
    UsageScreen: usage,
    SubagentScreen: subagent,
    SchemaFormDialog: lambda: SchemaFormDialog(
        EVIL, FORM, asked_by=EVIL, message=EVIL, values={"json": EVIL}, allow_decline=True
    ),
    FormReviewDialog: lambda: FormReviewDialog(EVIL, {EVIL: EVIL}),
    RuleEditDialog: lambda: RuleEditDialog(RULE, agent=IDENTITY, project=EVIL),
    RulesScreen: lambda: RulesScreen(rules(), policy=EVIL),
    FullEntryScreen: lambda: FullEntryScreen(
        AgentMessage(id=1, at=0, parts=[GrowingText(EVIL)]), session=Session(), cwd=EVIL
    ),
}
BOTTOM: dict[type[Screen[Any]], Callable[[World], AcpTui]] = {
    LauncherScreen: lambda world: app_of("--cwd", str(world.project), "--choose"),
    ConversationScreen: lambda world: app_of(
        "--cwd", str(world.project), "--command", agent("hostile"), "--mcp-config", str(world.mcp_file)
    ),
    ReplayScreen: lambda world: replayed(world),
    SessionsScreen: lambda world: sessions(world),
}


def sessions(world: World) -> AcpTui:
    """Return the app with the list of recorded sessions, one of which has hostile texts."""
    record_session(paths().data, [(EVIL, EVIL)], cwd=str(world.project), title=EVIL, agent_title=EVIL)
    args = run.default_arguments()
    args.cwd = str(world.project)
    return run.sessions_app(args)


def replayed(world: World) -> AcpTui:
    player = Player(list(read_recording(world.foreign_log)), title=EVIL, cwd=EVIL, speed=INSTANT)
    wishes = early_settings.read(world.project)
    return AcpTui(lambda: ReplayScreen(player, problems=[EVIL]), settings=wishes)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = make_world(tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.getcwd())  # noqa: PTH109  # for the agent
    return made


def test_there_is_a_case_for_every_screen() -> None:
    for module in pkgutil.walk_packages(acp_tui.ui.__path__, "acp_tui.ui."):
        importlib.import_module(module.name)
    ours = {one for one in _below(Screen) if one.__module__.startswith("acp_tui.")}
    assert {one for one in ours if one.__name__ not in PARTS} == {*DIALOGS, *BOTTOM}


def _below(kind: type[Any]) -> set[type[Any]]:
    return {one for below in kind.__subclasses__() for one in (below, *_below(below))}


async def test_dialogs_draw_no_escape_sequences_and_follow_the_theme(world: World) -> None:
    await update(str(world.registry))
    app = BOTTOM[LauncherScreen](world)
    async with app.run_test(size=(100, 90)) as pilot:
        for kind, make in DIALOGS.items():
            app.use_theme("dark")
            await app.push_screen(make())
            await shown(app, pilot, kind)
            app.use_theme("light")
            await until(
                lambda: not shown_colours(app) & DARK_ONLY,
                between=pilot.pause,
                describe=lambda: str(app.screen),
            )
            await app.pop_screen()


@pytest.mark.parametrize("kind", BOTTOM, ids=lambda kind: kind.__name__)
async def test_base_screens_draw_no_escape_sequences_from_their_texts(
    kind: type[Screen[Any]], world: World
) -> None:
    app = BOTTOM[kind](world)
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        app.notify(EVIL, title=EVIL)
        app.screen.notify(EVIL, title=EVIL)  # Textual would take it for markup
        await shown(app, pilot, kind)


async def shown(app: AcpTui, pilot: Pilot[int], kind: type[Screen[Any]]) -> None:
    """Wait until the screen shows the hostile text, and check every frame until then."""

    def is_shown() -> bool:
        frame = drawn(app)
        assert_frame(frame)
        return isinstance(app.screen, kind) and MARKER.encode() in frame

    await until(is_shown, between=lambda: pilot.pause(0.01), describe=lambda: repr(drawn(app)))


def drawn(app: AcpTui) -> bytes:
    """Return what the terminal receives for the whole screen."""
    update: Any = app.screen._compositor.render_update(full=True)
    return FrameDiff().encode(update, *app.size, app.console).encode()  # strict: lone surrogates are refused


def assert_frame(raw: bytes) -> None:
    foreign = [found for found in ESCAPES.findall(raw) if not STYLE_OR_PLACE.fullmatch(found)]
    assert foreign == []
    assert UNSAFE.findall(ESCAPES.sub(b"", raw).decode()) == []
    assert b"\t" not in raw
    assert b"6666" not in b"".join(ESCAPES.findall(raw))


LOOKS: dict[str, tuple[str, ...]] = {
    "launcher": ("--choose",),
    "replay": ("replay", "LOG", "--speed", "max"),
    "conversation": ("--command", agent("hostile"), "show-all"),
    "an agent that cannot be started": (),
}
HELP, PALETTE, PANES, ESC = "\x1bOP", "\x10", "\x02", "\x1b[27u"


@pytest.mark.parametrize("look", LOOKS)
def test_a_real_terminal_gets_no_escape_sequences_from_a_hostile_folder(look: str, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    words = [str(world.foreign_log) if word == "LOG" else word for word in LOOKS[look]]
    with PreloadedTerminal(*words, cwd=world.project, **world.environment) as real:
        real.until(lambda: MARKER in real.new_text(), "hostile text")
        for keys in (HELP, HELP, PALETTE, ESC, PANES, PANES):
            press(real, keys)
        if look == "conversation":
            real.sees("idle")  # otherwise quitting asks, below the notices of the hostile folder
        real.quit()
    on_screen, _, after = real.raw.rpartition(b"\x1b[?1049l")
    assert_harmless(on_screen)
    assert_no_control(ESCAPES.sub(b"", after))


def press(real: PreloadedTerminal, keys: str) -> None:
    """Press keys and wait for the next frame."""
    before = len(real.raw)
    real.type(keys)
    real.until(lambda: len(real.raw) > before or real.process.poll() is not None, "another frame")
