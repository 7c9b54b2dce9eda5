"""Runs the screen of a conversation without a terminal; the agent is a real process."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from textual.events import Paste

from acp_tui.cli.commands import run
from acp_tui.session.state import AgentMessage, Notice, UserMessage
from acp_tui.ui.conversation.conversation_screen import ConversationScreen
from acp_tui.ui.permission.dialog import PermissionScreen
from acp_tui.ui.widgets.status_line import StatusLine
from acp_tui.ui.widgets.strips import QueueStrip
from tests.support.leftovers import MARK, processes_with
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from textual.pilot import Pilot

    from acp_tui.cli.conversation_setup import ConversationSetup
    from acp_tui.session.state import Session
    from acp_tui.ui.app import AcpTui
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.transcript.transcript import Transcript

REPOSITORY = Path(__file__).parents[2]


@dataclass
class ConversationUi:
    """The screen of a conversation: what a user can see and do."""

    app: AcpTui
    pilot: Pilot[int]
    made: list[ConversationSetup] = field(default_factory=list)

    # ---- what is shown

    @property
    def screen(self) -> ConversationScreen:
        (screen,) = [screen for screen in self.app.screen_stack if isinstance(screen, ConversationScreen)]
        return screen

    @property
    def session(self) -> Session:
        return self.screen.session

    @property
    def prompt(self) -> Prompt:
        return self.screen.prompt

    @property
    def transcript(self) -> Transcript:
        return self.screen.transcript

    @property
    def queue(self) -> list[str]:
        return [prompt.text for prompt in self.session.queue]

    @property
    def dialog(self) -> PermissionScreen | None:
        top = self.app.screen
        return top if isinstance(top, PermissionScreen) else None

    def lines(self) -> list[str]:
        """Return the lines of the screen as text."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self) -> str:
        return "\n".join(self.lines())

    def status(self) -> str:
        return self.screen.query_one(StatusLine).render_line(0).text

    def strip(self) -> str:
        """Return the queue strip as text."""
        strip = self.screen.query_one(QueueStrip)
        return "\n".join(strip.render_line(y).text.rstrip() for y in range(strip.size.height))

    def toasts(self) -> list[str]:
        return [toast.message for toast in self.app._notifications]

    def said(self) -> list[str]:
        """Return the agent's messages."""
        return [entry.text for entry in self.session.entries if isinstance(entry, AgentMessage)]

    def prompts(self) -> list[str]:
        """Return the user's messages."""
        return [entry.text for entry in self.session.entries if isinstance(entry, UserMessage)]

    def notices(self) -> list[str]:
        return [entry.text for entry in self.session.entries if isinstance(entry, Notice)]

    # ---- what a user does

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until the condition is true and the screen is up to date."""
        await until(condition, describe=self.text)
        await self.pilot.pause()

    async def sees(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.text() for text in texts))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause(0)

    async def paste(self, text: str) -> None:
        """Paste a text, which is faster than typing it."""
        self.app.post_message(Paste(text))
        await self.pilot.pause()

    async def ready(self) -> None:
        await self.until(lambda: self.session.phase == "idle")

    async def send(self, *steps: list[Any] | str) -> None:
        """Send a prompt: a text, or steps for `tests.fake_agents.script`."""
        text = steps[0] if isinstance(steps[0], str) else json.dumps(steps)
        self.prompt.load(text)
        self.prompt.focus()
        await self.press("enter")

    async def asked(self) -> PermissionScreen:
        """Wait until the permission dialog is shown and accepts keys."""
        await self.until(lambda: self.dialog is not None and "keys work once" not in self.text())
        assert self.dialog is not None
        return self.dialog


class Open(Protocol):
    """Opens a conversation with a module of `tests.fake_agents` and its arguments.

    `options` are those of `acp-tui run`. `settings` are lines of a file that defines the agent.
    """

    def __call__(
        self,
        module: str = "script",
        *args: str,
        options: tuple[str, ...] = (),
        settings: str = "",
        **more: Any,
    ) -> AbstractAsyncContextManager[ConversationUi]: ...


def agent(module: str, *args: str) -> str:
    """Return the command line of an agent in `tests/fake_agents`."""
    return shlex.join([sys.executable, "-m", f"tests.fake_agents.{module}", *args])


def own_agent(home: Path, settings: str, module: str, *args: str, name: str = "own") -> str:
    """Define an agent in the user's settings, which is one of `tests/fake_agents`. Return its name."""
    file = home / "config" / "agents" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", f"tests.fake_agents.{module}", *args]
    file.write_text(f"command = {json.dumps(command)}\n{settings}\n")
    return name


def offers(**given: Any) -> str:
    """Return the argument that tells `tests.fake_agents.script` what to offer."""
    return json.dumps(given)


def app_of(*words: str, made: Callable[[ConversationSetup], None] = lambda _: None) -> AcpTui:
    """Return the app for the arguments of `acp-tui run`."""
    parser = argparse.ArgumentParser()
    run.configure(parser)
    return run.app_for(parser.parse_args(words), made)


@asynccontextmanager
async def open_conversation_ui(
    folder: Path, *words: str, size: tuple[int, int] = (100, 30), wait: bool = True
) -> AsyncIterator[ConversationUi]:
    """Open the screen of a conversation in a folder."""
    made: list[ConversationSetup] = []
    app = app_of("--cwd", str(folder), *words, made=made.append)
    async with app.run_test(size=size, notifications=True) as pilot:
        ui = ConversationUi(app, pilot, made)
        if wait:
            await ui.ready()
        yield ui


def mark_processes(monkeypatch: Any) -> Callable[[], list[int]]:
    """Mark the processes that the test starts. Return a function that lists those still running."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    return lambda: processes_with(mark)
