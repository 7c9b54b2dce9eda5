"""The screen with the agents of the registry, opened from the launcher."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.agent_registry import registry
from acp_tui.agent_registry.registry import parse
from acp_tui.config.installed_agents import InstalledAgent, agent_folder, installed_agents
from acp_tui.config.settings import RegistrySettings, Settings
from acp_tui.ui.dialogs import dialog
from acp_tui.ui.dialogs.confirm import ConfirmScreen
from acp_tui.ui.dialogs.guarded_question import GuardedQuestionScreen
from acp_tui.ui.screens.launcher import LauncherScreen
from acp_tui.ui.screens.more_agents import MoreAgentsScreen
from tests.support.agent_registry import BROKEN_AGENT, binary, binary_entry, entry, serve_site
from tests.support.conversation_ui import ConversationUi, open_conversation_ui
from tests.support.looks import Show, look, two_looks
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.screen import Screen

    from tests.support.agent_registry import Site


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve a registry with one agent. Dialogs accept keys at once."""
    monkeypatch.setattr(dialog, "PAUSE_SECONDS", 0.0)
    with serve_site() as served:
        monkeypatch.setenv("ACP_TUI_REGISTRY_URL", served.registry)
        served.list_agents(binary_entry(served))
        yield served


async def open_screen(one: ConversationUi) -> MoreAgentsScreen:
    await one.until(lambda: isinstance(one.app.screen, LauncherScreen) and one.app.screen._shown)
    await one.press("f3")
    await one.until(lambda: isinstance(one.app.screen, MoreAgentsScreen) and one.app.screen._settings)
    screen = one.app.screen
    assert isinstance(screen, MoreAgentsScreen)
    return screen


async def install(one: ConversationUi, screen: MoreAgentsScreen) -> None:
    """Choose the selected agent and agree."""
    await one.press("enter")
    await one.until(lambda: isinstance(one.app.screen, GuardedQuestionScreen))
    await one.press("down", "enter")
    await one.until(lambda: one.app.screen is screen and not screen._is_working)


async def test_nothing_is_fetched_until_the_user_says_so(site: Site, tmp_path: Path) -> None:
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await open_screen(one)
        await one.sees("No list of agents yet. F5 fetches it from 127.0.0.1.")
        assert site.requests == []
        await one.press("f5")
        await one.sees("❯ Tiny", "1 agent · list of", "tiny · version 1.0.0 · binary · MIT · by Somebody")
        assert site.requests == ["/registry.json"]


async def test_an_agent_is_installed_and_started(site: Site, tmp_path: Path) -> None:
    await registry.update(site.registry)
    async with open_conversation_ui(tmp_path, wait=False) as one:
        screen = await open_screen(one)
        await one.press("enter")
        await one.sees("Install Tiny 1.0.0", f"{site.address}/tiny-1.0.0.tar.gz", "states no checksum")
        await one.press("enter")  # the first answer is to cancel
        await one.until(lambda: one.app.screen is screen and not screen._is_working)
        assert installed_agents() == {}
        await install(one, screen)
        await one.sees("installed 1.0.0", "Tiny 1.0.0 is installed. Enter starts it.")
        await one.press("enter")
        await one.ready()
        assert one.made[0].conversation.launch.name == "tiny"


async def test_an_agent_is_upgraded_and_removed(site: Site, tmp_path: Path) -> None:
    await registry.update(site.registry)
    async with open_conversation_ui(tmp_path, wait=False) as one:
        screen = await open_screen(one)
        await install(one, screen)
        site.list_agents(binary_entry(site, "1.1.0"))
        await one.press("f5")
        await one.sees("1.0.0 → 1.1.0", "Enter upgrade")
        await install(one, screen)
        await one.sees("installed 1.1.0", "Enter start")
        await one.press("delete")
        await one.until(lambda: isinstance(one.app.screen, ConfirmScreen))
        await one.press("down", "enter")
        await one.sees("Tiny 1.1.0 was removed.")
        await one.until(lambda: not screen._is_working)
        assert installed_agents() == {}
        await one.press("escape")
        await one.until(lambda: isinstance(one.app.screen, LauncherScreen))


async def test_another_version_can_be_chosen(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("npm", "node"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    site.list_agents(entry("tiny", npx={"package": "tiny@1.0.0"}))
    await registry.update(site.registry)
    async with open_conversation_ui(tmp_path, wait=False) as one:
        screen = await open_screen(one)
        await one.press("f2")
        await one.sees("Version of Tiny")
        await one.press(*"latest", "enter")
        await one.until(lambda: "latest is not an exact version." in one.toasts())
        await one.until(lambda: one.app.screen is screen and not screen._is_working)
        await one.press("f2")
        await one.sees("Version of Tiny")
        await one.press(*"0.9.0", "enter")
        await one.sees("Install Tiny 0.9.0", "tiny@0.9.0 with its dependencies, by npm")


async def test_a_failed_update_and_a_failed_installation_are_shown(site: Site, tmp_path: Path) -> None:
    site.list_agents(binary_entry(site, program=BROKEN_AGENT))
    await registry.update(site.registry)
    async with open_conversation_ui(tmp_path, wait=False) as one:
        screen = await open_screen(one)
        await install(one, screen)
        await one.until(lambda: "needs a newer system" in " ".join(one.toasts()))
        site.files.clear()
        await one.press("f5")
        await one.until(lambda: "answered with status 404." in " ".join(one.toasts()))
        await one.sees("❯ Tiny")


async def test_escape_cancels_an_installation(site: Site, tmp_path: Path) -> None:
    await registry.update(site.registry)
    site.release = threading.Event()
    async with open_conversation_ui(tmp_path, wait=False) as one:
        screen = await open_screen(one)
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, GuardedQuestionScreen))
        await one.press("down", "enter")
        await one.sees("Downloading from 127.0.0.1", "Esc cancel")
        await one.press("escape")
        await one.until(lambda: not screen._is_working)
        assert one.app.screen is screen
        assert list(agent_folder("tiny").glob("*")) == []
        await one.sees("Enter install")


async def test_the_filter_of_the_launcher_is_used(site: Site, tmp_path: Path) -> None:
    site.list_agents(binary_entry(site), entry("other", npx={"package": "other@1.0.0"}))
    await registry.update(site.registry)
    async with open_conversation_ui(tmp_path, wait=False) as one:
        await one.until(lambda: isinstance(one.app.screen, LauncherScreen) and one.app.screen._shown)
        await one.press(*"tiny")
        await one.sees('No matches for "tiny". Esc shows all.', 'Find "tiny" in the ACP registry …')
        await one.press("enter")
        await one.sees("More agents", "❯ Tiny")
        assert "Other" not in one.text()
        await one.press("escape")
        await one.sees("Other")


# --------------------------------------------------------------------------- looks

CHECKED = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
ENTRIES = [
    entry("codex-acp", "0.9.2", binary=binary("https://github.com/o/codex/r/0.9.2/codex-linux.tar.gz")),
    entry("gemini", "0.61.0", npx={"package": "@google/gemini-cli@0.61.0", "args": ["--acp"]}),
    entry("goose", "1.4.0", binary={"plan9-mips": {}}),
    entry(
        "tiny",
        "1.0.1",
        binary=binary(
            "https://example.com/t.zip", args=["--acp"], env={"TINY_UPDATES": "off"}, sha256=CHECKED
        ),
    ),
    entry("fast-agent", "0.10.1", uvx={"package": "fast-agent-acp==0.10.1", "args": ["-x"]}),
]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the screen show a list of agents, two of which are installed."""
    noon = 43_200.0  # of the same day in all time zones
    content = parse({"agents": ENTRIES}, "https://example.com/agents.json", noon)
    monkeypatch.setattr(registry, "load", lambda _: content)
    source = "https://example.com/t-1.0.0.zip"
    for name, version in (("tiny", "1.0.0"), ("gemini", "0.61.0")):
        InstalledAgent(name, name.capitalize(), version, "binary", source, "f", "agent").save()


def shown(theme: str) -> Show:
    settings = Settings(registry=RegistrySettings("https://example.com/agents.json"))

    def screen() -> Screen[Any]:
        return MoreAgentsScreen(lambda: settings)

    return Show(theme, screen=screen)


@look
@pytest.mark.usefixtures("listed")
def test_looks(theme: str, size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    async def wait(pilot: Any) -> None:
        await until(lambda: pilot.app.screen._agents)
        await pilot.press("down")

    assert snap_compare(shown(theme), terminal_size=size, run_before=wait)


@two_looks
@pytest.mark.usefixtures("listed")
def test_looks_of_the_question(
    theme: str, size: tuple[int, int], snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialog, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(
        "acp_tui.agent_registry.installation.agent_folder", lambda name: Path("/home/me/.local/share") / name
    )

    async def wait(pilot: Any) -> None:
        await until(lambda: pilot.app.screen._agents)
        await pilot.press("down", "enter")
        await until(lambda: isinstance(pilot.app.screen, GuardedQuestionScreen))

    assert snap_compare(shown(theme), terminal_size=size, run_before=wait)
