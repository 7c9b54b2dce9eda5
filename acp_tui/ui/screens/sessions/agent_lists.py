"""Asks agents for their lists of sessions: agents of open conversations immediately, others on demand."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acp_tui.connection.errors import NotSupported
from acp_tui.controller.agent_sessions import AgentSessions, start_for_sessions
from acp_tui.errors import UserError
from acp_tui.session.state import Choice
from acp_tui.session_list.saved_sessions import AgentList
from acp_tui.ui.dialogs.base_screen import BaseScreen, app_of

if TYPE_CHECKING:
    from acp_tui.config.agent_catalogue import Launch
    from acp_tui.controller import Conversation


class AgentLists:
    """The lists of sessions that agents have returned, and the `AgentSessions` of connected agents."""

    def __init__(self, screen: BaseScreen, folder: Path, on_change: Callable[[], None]) -> None:
        """Create the lists.

        Args:
            screen: The screen that shows the lists.
            folder: The folder in which to start an agent that is to list its sessions.
            on_change: Called before and after each request for a list, while the screen is attached.
        """
        self._screen = screen
        self._folder = folder
        self._on_change = on_change
        self._lists: dict[str, AgentList] = {}  # by the agent's name
        self._started: asyncio.Task[None] | None = None
        self.asking = ""
        """The title of the agent that is being asked for its sessions; empty if none is."""
        self.connected_have_answered = False
        """Whether all connected agents have been asked, and have answered, failed or been stopped."""

    @property
    def lists(self) -> list[AgentList]:
        """The lists that have arrived."""
        return list(self._lists.values())

    @property
    def _conversations(self) -> list[Conversation]:
        return app_of(self._screen).open_conversations()

    def connected(self, agent: str) -> AgentSessions | None:
        """Return the `AgentSessions` of an agent; None if no open conversation is connected to the agent."""
        for conversation in self._conversations:
            if conversation.launch.name == agent and conversation.session.phase not in ("connecting", "dead"):
                return conversation.agent_sessions
        return None

    async def ask_connected(self) -> None:
        """Ask each connected agent for its sessions, if the agent can list sessions. Show errors."""
        try:
            for launch in {one.launch.name: one.launch for one in self._conversations}.values():
                sessions = self.connected(launch.name)
                if sessions is not None and sessions.can_list:
                    await self._ask(launch, sessions)
        finally:
            self.connected_have_answered = True
            self._set_asking("")

    async def choose(self, title: str) -> str | None:
        """Let the user choose an installed agent; return its name, or None if the user cancelled."""
        from acp_tui.config.agent_catalogue import known_agents
        from acp_tui.config.settings import load
        from acp_tui.ui.dialogs.choose import ChooseScreen

        settings = load(self._folder)
        known = [agent for agent in known_agents(settings).values() if agent.find_command() is not None]
        choices = [Choice(agent.name, agent.title, agent.about) for agent in known]
        dialog = ChooseScreen(title, choices, current=settings.agent)
        return await self._screen.ask(dialog)

    async def choose_and_ask(self) -> None:
        """Let the user choose an agent, start it, and ask it for its sessions."""
        from acp_tui.config.agent_catalogue import resolve_launch
        from acp_tui.config.settings import load

        name = await self.choose("Start an agent and list its sessions")
        if name is None:
            return
        settings = load(self._folder)
        launch = resolve_launch(name, settings)
        # A task of its own, so that `close` can wait until the agent has ended.
        self._started = asyncio.create_task(self._start_and_ask(launch, settings.timeouts.initialize))
        await self._started

    async def close(self) -> None:
        """If an agent was started only to ask it for its sessions, end it."""
        if self._started is not None:
            self._started.cancel()
            await asyncio.wait([self._started])

    async def _start_and_ask(self, launch: Launch, timeout: float) -> None:
        try:
            self._set_asking(launch.title)
            async with start_for_sessions(launch, self._folder, timeout) as sessions:
                if not sessions.can_list:
                    raise NotSupported(f"{launch.title} does not list its sessions.")
                await self._ask(launch, sessions)
        except UserError as error:
            self._screen.notify_error(error)
        finally:
            self._set_asking("")

    def forget(self, agent: str, session_id: str) -> None:
        """Remove a deleted session from the list of its agent."""
        with suppress(KeyError):
            known = self._lists[agent]
            kept = [one for one in known.sessions if one.session_id != session_id]
            self._lists[agent] = AgentList(known.agent, known.agent_title, known.program, kept)

    async def _ask(self, launch: Launch, sessions: AgentSessions) -> None:
        self._set_asking(launch.title)
        try:
            found = await sessions.list_all()
        except UserError as error:
            self._screen.notify_error(error)
        else:
            program = shlex.join(launch.command) if launch.ad_hoc else ""
            self._lists[launch.name] = AgentList(launch.name, launch.title, program, found)
        finally:
            self._set_asking("")

    def _set_asking(self, title: str) -> None:
        self.asking = title
        if self._screen.is_attached:
            self._on_change()
