"""What is known of the session: the agent, what can be set, servers, folders, where it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from acp_tui.session.text import visible_line
from acp_tui.ui.choosing import current_name, options_of
from acp_tui.ui.widgets.panes.pane import Pane
from acp_tui.ui.widgets.panes.pieces import fact, heading, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acp_tui.session.change import Change
    from acp_tui.session.state import Agent
    from acp_tui.ui.widgets.panes.listing import Item

CONCERNING = frozenset(
    {"agent", "config_options", "cwd", "dialect", "directories", "mode", "model", "models", "modes"}
    | {"process", "session_id", "title"}
)
"""Facts of the session that are told here."""


class SessionPane(Pane):
    """Plain facts; the agent's options can be set from here."""

    TITLE: ClassVar = "Session"
    ACTIONS: ClassVar = frozenset({"open"})

    def concerned(self, changes: Iterable[Change]) -> bool:
        """Is any of what is told here different now?"""
        return any(change.fact in CONCERNING for change in changes)

    def items(self) -> Sequence[Item]:
        """What can be set comes first."""
        return [*self._options(), *self._agent(), *self._servers(), *self._places()]

    def _options(self) -> Iterator[Item]:
        palette = self.palette
        yield heading("Options", palette, first=True)
        options = options_of(self.source.session)
        live = self.source.conversation is not None
        for option in options:
            text = visible_line(current_name(option))
            yield fact(visible_line(option.name), text, palette, key=option.id if live else None)
        for option in self.source.session.config_options:
            if option not in options:
                kind = visible_line(option.kind)
                text = f"{visible_line(str(option.current))} (of the kind {kind}: cannot be set)"
                yield fact(visible_line(option.name), text, palette)
        if not options:
            yield words("The agent offers nothing to choose.", palette.dim)

    def _agent(self) -> Iterator[Item]:
        palette, session = self.palette, self.source.session
        yield heading("Agent", palette)
        if (agent := session.agent) is not None:
            if name := visible_line(agent.title or agent.name or ""):
                yield fact("name", name, palette)
            if agent.version:
                yield fact("version", visible_line(agent.version), palette)
            yield fact("protocol", visible_line(str(agent.protocol_version or session.dialect)), palette)
            yield fact("can", ", ".join(_capabilities(agent)) or "nothing beyond prompts", palette)
        else:
            yield words("It has not introduced itself.", palette.dim)
        if (process := session.process) is not None:
            if process.command:
                yield fact("command", visible_line(" ".join(process.command)), palette)
            if process.pid is not None and session.phase != "dead":
                yield fact("process", str(process.pid), palette)

    def _servers(self) -> Iterator[Item]:
        palette, conversation = self.palette, self.source.conversation
        if conversation is None:
            return
        yield heading("MCP servers", palette)
        for server in conversation.mcp_servers:
            name = visible_line(server.name)
            if server.why_not is None:
                yield fact(name, f"given to the agent ({server.transport})", palette, style=palette.success)
            else:
                yield fact(name, f"left out: {visible_line(server.why_not)}", palette, style=palette.warning)
        if not conversation.mcp_servers:
            yield words("None are set up.", palette.dim)

    def _places(self) -> Iterator[Item]:
        palette, session, conversation = self.palette, self.source.session, self.source.conversation
        yield heading("Session", palette)
        if session.title:
            yield fact("title", visible_line(session.title), palette)
        yield fact("folder", visible_line(self.source.cwd or session.cwd or "–"), palette)
        for directory in session.directories:
            yield fact("also", visible_line(directory), palette)
        if session.session_id:
            yield fact("id", visible_line(session.session_id), palette)
        if conversation is not None:
            if conversation.folder.id:
                yield fact("here", conversation.folder.id, palette)
            yield fact("log", visible_line(conversation.log_path or "none is kept"), palette)

    def action_open(self) -> None:
        """Set the option."""
        self.want("set")


def _capabilities(agent: Agent) -> Iterator[str]:
    """What is advertised, by the protocol's names."""
    return _names(agent.capabilities)


def _names(value: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, inner in value.items():
        if name.startswith("_") or inner is None or inner is False:
            continue
        words = f"{before}{visible_line(name)}"
        deeper = list(_names(inner, f"{words}.")) if isinstance(inner, dict) else []
        yield from deeper or [words]
