"""The launcher."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.events import Key
from textual.widgets import Input

from acp_tui.cli import main
from acp_tui.session_list.launcher_choices import AgentChoice, LauncherChoices, SessionChoice, load_choices
from acp_tui.store.drafts_and_history import Drafts
from acp_tui.ui.app import AcpTui
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.dialogs.detail import DetailScreen
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.widgets.select_list import SelectList
from tests.cli.test_sessions_command import record
from tests.support.conversation_ui import ConversationUi, open_conversation_ui
from tests.support.looks import look, two_looks
from tests.support.stored_sessions import record_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def config(home: Path) -> Path:
    """Return the path of the user's settings. No agent is installed in PATH."""
    (home / "config").mkdir(parents=True)
    return home / "config" / "config.toml"


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No agent is installed, and npx is missing."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def names(found: LauncherChoices) -> list[str]:
    return [agent.name for agent in found.agents]


# --------------------------------------------------------------------------- what is offered


def test_the_demo_is_first_if_nothing_is_installed(config: Path, tmp_path: Path) -> None:
    config.write_text(f'[agents.mine]\ncommand = ["{sys.executable}"]\n')
    found = load_choices(tmp_path)
    assert names(found)[:2] == ["demo", "mine"]
    assert all(agent.state == "missing" for agent in found.agents[2:])
    assert found.sessions == []


def test_the_last_used_agent_is_first_and_the_demo_after_installed_ones(config: Path, tmp_path: Path) -> None:
    config.write_text(
        "".join(f'[agents.{name}]\ncommand = ["{sys.executable}"]\n' for name in ("one", "two", "three"))
    )
    record("three", at=1000.0)
    record("two", at=2000.0)
    assert names(load_choices(tmp_path))[:4] == ["two", "three", "one", "demo"]


def test_agents_to_download_come_after_installed_ones(config: Path, tmp_path: Path) -> None:
    runner = tmp_path / "bin" / "npx"
    runner.parent.mkdir()
    runner.write_text("#!/bin/sh\n")
    runner.chmod(0o755)
    config.write_text(f'[agents.mine]\ncommand = ["{sys.executable}"]\n')
    record("mine")
    found = load_choices(tmp_path)
    assert names(found)[:3] == ["mine", "demo", "claude-code"]
    assert [agent.state_label for agent in found.agents[:3]] == ["installed", "installed", "via npx"]
    assert [agent.is_ready for agent in found.agents[:3]] == [True, True, False]


def test_a_missing_agent_shows_its_install_command(tmp_path: Path) -> None:
    goose = next(agent for agent in load_choices(tmp_path).agents if agent.name == "goose")
    assert goose.state == "missing"
    assert goose.install_command is not None
    assert goose.install_command in goose.missing_reason


def test_resumable_sessions_are_listed_by_title_or_first_prompt(tmp_path: Path) -> None:
    record(at=1000.0, prompt="Fix\n the \x1b[31mbug", session_id="a")
    record(at=2000.0, title="A title", session_id="b", agent_title="Some agent")
    found = load_choices(tmp_path).sessions
    assert [one.title for one in found] == ["A title", "Fix the ␛[31mbug"]
    assert found[0].agent == "Some agent"
    assert (found[0].folder, found[0].folder_exists) == ("/home/me/shop", False)


def test_sessions_in_which_nothing_was_done_are_not_listed(home: Path, tmp_path: Path) -> None:
    data = home / "data"
    record_session(data, at=1000.0, session_id="opened only")
    record_session(data, [(" ", "What?")], at=2000.0, session_id="blank prompt")
    assert load_choices(tmp_path).sessions == []
    record_session(data, at=3000.0, session_id="", title="The agent never started")
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    update = {"sessionUpdate": "user_message_chunk", "content": image}
    record_session(data, at=4000.0, session_id="image only", updates=[update])
    unsent = record_session(data, at=5000.0, session_id="")
    Drafts(home / "state").save(unsent.id, "half a thought")
    titles = [one.title for one in load_choices(tmp_path).sessions]
    assert titles == ["half a thought", "(attachments)", "The agent never started"]


def test_sessions_of_this_folder_come_before_those_of_others(tmp_path: Path) -> None:
    record(at=1000.0, title="Here, long ago", session_id="a", cwd=str(tmp_path))
    record(at=2000.0, title="Elsewhere", session_id="b")
    record(at=3000.0, title="Elsewhere, just now", session_id="c")
    found = [one.title for one in load_choices(tmp_path).sessions]
    assert found == ["Here, long ago", "Elsewhere, just now", "Elsewhere"]


# --------------------------------------------------------------------------- on the screen


async def launched(one: ConversationUi) -> LauncherScreen:
    await one.until(lambda: isinstance(one.app.screen, LauncherScreen) and one.app.screen._shown)
    screen = one.app.screen
    assert isinstance(screen, LauncherScreen)
    return screen


async def test_enter_starts_the_demo(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        launcher = await launched(one)
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, ConversationScreen))
        await one.ready()
        assert one.made[0].conversation.launch.name == "demo"
        assert not launcher.is_attached
        assert one.prompt._editor.has_focus


async def test_a_click_selects_an_item_and_a_double_click_starts_it(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        launcher = await launched(one)
        row = next(at for at, line in enumerate(one.lines()) if "Demo agent" in line)
        await one.pilot.click(offset=(8, row))
        await one.pilot.pause()
        assert one.app.screen is launcher
        await one.pilot.click(offset=(8, row), times=2)
        await one.ready()
        assert one.made[0].conversation.launch.name == "demo"


async def test_a_digit_chooses_an_item_while_the_filter_is_empty(config: Path, tmp_path: Path) -> None:
    config.write_text(f'[agents.mine7]\ncommand = ["{sys.executable}", "-m", "tests.fake_agents.script"]\n')
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await launched(one)
        for key in "e7":  # at once, as a fast typist's keys are read
            one.app.post_message(Key(key, key))
        await one.sees("mine7")
        assert one.app.screen.query_one(Input).value == "e7"
        await one.press("escape")
        assert one.app.screen.query_one(Input).value == ""
        await one.press("2")
        await one.ready()
        assert one.made[0].conversation.launch.name == "mine7"


async def test_a_session_is_resumed_in_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "else").mkdir()
    async with open_conversation_ui(tmp_path / "shop", "demo") as one:
        await one.send("tell me more")
        await one.until(lambda: one.session.turn and one.session.phase == "idle")
        folder = one.made[0].conversation.folder.id
    async with open_conversation_ui(tmp_path / "else", wait=False) as one:
        launcher = await launched(one)
        launcher.query_one(Input).value = "tell me"
        await one.until(lambda: len(launcher._shown) == 2)  # and "Find …"
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, ConversationScreen))
        await one.ready()
        assert one.made[0].conversation.folder.id == folder
        assert one.made[0].conversation.cwd == tmp_path / "shop"
        assert "tell me more" in one.prompts()


async def test_choosing_a_missing_agent_shows_how_to_install_it(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await launched(one)
        one.app.screen.query_one(Input).value = "vibe"
        await one.press("enter")
        await one.sees("Mistral Vibe is not installed", "uv tool install mistral-vibe", "F5 in the launcher")
        assert isinstance(one.app.screen, DetailScreen)
        await one.press("y")
        await one.until(lambda: one.app.clipboard == "uv tool install mistral-vibe")
        await one.press("escape")
        assert isinstance(one.app.screen, LauncherScreen)
        assert one.made == []


async def test_choosing_the_agent_for_any_model_shows_how_to_set_it_up(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await launched(one)
        one.app.screen.query_one(Input).value = "local"
        await one.press("enter")
        await one.sees("Local agent is not set up", "run `acp-tui local` in a terminal")
        assert "registry" not in one.text()


async def test_f5_finds_newly_installed_agents(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        launcher = await launched(one)
        assert [
            shown.name for shown in launcher._shown if isinstance(shown, AgentChoice) and shown.is_ready
        ] == ["demo"]
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "goose").write_text("#!/bin/sh\n")
        (tmp_path / "bin" / "goose").chmod(0o755)
        await one.press("f5")
        await one.until(
            lambda: any(
                isinstance(it, AgentChoice) and it.name == "goose" and it.is_ready for it in launcher._shown
            )
        )


async def test_a_conversation_that_fails_leads_back_to_the_launcher(tmp_path: Path) -> None:
    record("nobody-knows-me", session_id="s", title="Old", command=[])
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await launched(one)
        await one.press(*"Old", "enter")
        await one.until(lambda: one.toasts())
        await launched(one)
        assert len(one.toasts()) == 1


async def test_the_default_agent_starts_at_once_without_choose(config: Path, tmp_path: Path) -> None:
    config.write_text('agent = "demo"\n')
    async with open_conversation_ui(tmp_path) as one:
        assert one.made[0].conversation.launch.name == "demo"
    async with open_conversation_ui(tmp_path, "--choose", wait=False) as one:
        await launched(one)


async def test_agents_servers_and_problems_of_the_settings_are_shown(config: Path, tmp_path: Path) -> None:
    agent = f'[agents.mine]\ncommand = ["{sys.executable}"]\n'
    config.write_text(f'polciy = 1\n{agent}[mcp_servers.files]\ncommand = "/bin/true"\n')
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await launched(one)
        await one.until(lambda: one.toasts())
        assert f"{config}:1: polciy: unknown key; did you mean 'policy'?" in one.toasts()
        (line,) = [line for line in one.lines() if "mine" in line]
        assert "installed" in line
        assert "tried" not in line  # which marks agents that nobody tried
        await one.press("ctrl+n")
        await one.sees("MCP servers", "files", "● configured", "to no agent yet")
        await one.press("escape")
        await launched(one)


async def test_escape_clears_the_filter_and_then_quits(tmp_path: Path) -> None:
    record(title="Fix it", session_id="a", cwd="/home/elena/lab/loop")
    async with open_conversation_ui(tmp_path, wait=False) as one:
        launcher = await launched(one)
        one.app.screen.query_one(Input).value = "HELLO"  # the letters are scattered over the path
        await one.sees('No matches for "HELLO". Esc shows all.')
        assert launcher._shown == [None]
        await one.press("escape")
        await one.sees("Demo agent")
        assert one.app.is_running
        await one.press("escape")
        await one.until(lambda: not one.app.is_running)


async def test_ctrl_c_quits(tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await launched(one)
        await one.press("x", "ctrl+c")
        assert one.app.is_running
        assert one.toasts() == []
        await one.press("ctrl+c")
        await one.until(lambda: not one.app.is_running)


def test_without_a_terminal_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: acp-tui" in capsys.readouterr().out


# --------------------------------------------------------------------------- looks

AGENTS = [
    AgentChoice(
        "claude-code",
        "Claude Code",
        "Anthropic's coding agent",
        "installed",
        "installed",
        "x",
        "",
        True,
        True,
    ),
    AgentChoice("demo", "Demo agent", "scripted and offline", "installed", "installed", None, "", True, True),
    AgentChoice(
        "gemini", "Gemini CLI", "Google's coding agent", "downloaded", "via npx", "x", "", False, False
    ),
    AgentChoice(
        "goose",
        "goose",
        "Block's agent " * 9,
        "missing",
        "missing",
        "curl -fsSL https://e.org | bash",
        "No",
        False,
        False,
    ),
]
SESSIONS = [
    SessionChoice("a", "Fix the login bug", "Claude Code", "/srv/shop", True, "10:30"),
    SessionChoice(
        "b", "Explain how the parser recovers from errors " * 4, "Gemini CLI", "/srv/gone", False, "Mar 4"
    ),
]


def app(theme: str, found: LauncherChoices) -> AcpTui:
    def start(*_: object) -> LauncherScreen:
        raise AssertionError("nothing is started here")

    make: Callable[[], LauncherScreen] = lambda: LauncherScreen(  # noqa: E731
        lambda: found, start, Path("/srv/shop"), lambda: ([], [])
    )
    return AcpTui(make, theme=theme)


@look
def test_looks(theme: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    async def wait(pilot: object) -> None:
        await until(lambda: shown.screen.query_one(SelectList).virtual_size.height)

    shown = app(theme, LauncherChoices(AGENTS, SESSIONS))
    assert snap_compare(shown, terminal_size=size, run_before=wait)


@two_looks
@pytest.mark.parametrize("keys", [["ctrl+p"], [*"goo", "enter"]], ids=["commands", "install"])
def test_looks_of_the_install_help(
    theme: str, size: tuple[int, int], keys: list[str], snap_compare: Callable[..., bool]
) -> None:
    async def wait(pilot: object) -> None:
        one = ConversationUi(shown, pilot)  # type: ignore[arg-type]
        await one.until(lambda: shown.screen.query_one(SelectList).virtual_size.height)
        await one.press(*keys)
        await one.until(lambda: not isinstance(shown.screen, LauncherScreen))

    shown = app(theme, LauncherChoices(AGENTS, SESSIONS))
    assert snap_compare(shown, terminal_size=size, run_before=wait)
