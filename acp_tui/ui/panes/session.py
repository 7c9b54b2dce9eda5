"""The session pane: options, agent, MCP servers, folders, ids and log file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from acp_tui.session.settings import offered_settings, value_name
from acp_tui.session.text import visible_line
from acp_tui.ui.panes.pane import Pane
from acp_tui.ui.panes.pieces import column_for, fact, heading, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.style import Style

    from acp_tui.session.change import Change
    from acp_tui.session.state import Agent
    from acp_tui.ui.panes.listing import Item

SHOWN_FACTS = frozenset(
    {"agent", "config_options", "cwd", "dialect", "directories", "mode", "model", "models", "modes"}
    | {"process", "session_id", "title"}
)
"""Session facts that this pane shows."""


class SessionPane(Pane):
    """Lists facts of the session; Enter on an option opens its values."""

    TITLE: ClassVar = "Session"
    ACTIONS: ClassVar = frozenset({"open"})

    def concerned(self, changes: Iterable[Change]) -> bool:
        """Return True if a change affects what the pane shows."""
        return any(change.fact in SHOWN_FACTS for change in changes)

    def items(self) -> Sequence[Item]:
        """Return all items, options first."""
        self._column = column_for(self._given_names())
        return [*self._options(), *self._agent(), *self._servers(), *self._places()]

    def _given_names(self) -> Iterator[str]:
        """Labels that come from the agent or the settings; they set the width of the label column."""
        yield from (visible_line(option.name) for option in self.source.session.config_options)
        if (conversation := self.source.conversation) is not None:
            yield from (visible_line(server.name) for server in conversation.mcp_servers)

    def _fact(self, label: str, text: str, *, key: str | None = None, style: Style | None = None) -> Item:
        return fact(label, text, self.palette, column=self._column, key=key, style=style)

    def _options(self) -> Iterator[Item]:
        palette = self.palette
        yield heading("Options", self.palette, first=True)
        options = offered_settings(self.source.session)
        others = [option for option in self.source.session.config_options if option not in options]
        live = self.source.conversation is not None
        for option in options:
            name, text = visible_line(option.name), value_name(option)
            yield self._fact(name, text, key=option.id if live else None)
        for option in others:
            kind = visible_line(option.kind)
            text = f"{visible_line(str(option.current))} (unsupported option type {kind})"
            yield self._fact(visible_line(option.name), text)
        if not options:
            yield words("The agent offers no options.", palette.dim)

    def _agent(self) -> Iterator[Item]:
        palette, session = self.palette, self.source.session
        yield heading("Agent", self.palette)
        if (agent := session.agent) is not None:
            if name := visible_line(agent.title or agent.name or ""):
                yield self._fact("name", name)
            if agent.version:
                yield self._fact("version", visible_line(agent.version))
            yield self._fact("protocol", visible_line(str(agent.protocol_version or session.dialect)))
            yield self._fact("capabilities", ", ".join(_capabilities(agent)) or "prompts only")
        else:
            yield words("The agent sent no name or version.", palette.dim)
        if (process := session.process) is not None:
            if process.command:
                yield self._fact("command", visible_line(" ".join(process.command)))
            if process.pid is not None and session.phase != "dead":
                yield self._fact("PID", str(process.pid))

    def _servers(self) -> Iterator[Item]:
        palette, conversation = self.palette, self.source.conversation
        if conversation is None:
            return
        yield heading("MCP servers", self.palette)
        for server in conversation.mcp_servers:
            name = visible_line(server.name)
            if server.reason_not_sent is None:
                text, style = f"sent to the agent ({server.transport})", palette.success
            else:
                text, style = f"not sent: {visible_line(server.reason_not_sent)}", palette.warning
            yield self._fact(name, text, style=style)
        if not conversation.mcp_servers:
            yield words("None configured.", palette.dim)

    def _places(self) -> Iterator[Item]:
        session, conversation = self.source.session, self.source.conversation
        yield heading("Session", self.palette)
        if session.title:
            yield self._fact("title", visible_line(session.title))
        yield self._fact("folder", visible_line(self.source.cwd or session.cwd or "–"))
        for directory in session.directories:
            yield self._fact("also in", visible_line(directory))
        if session.session_id:
            yield self._fact("id", visible_line(session.session_id))
        if conversation is not None:
            if conversation.folder.id:
                yield self._fact("acp-tui id", conversation.folder.id)
            yield self._fact("log", visible_line(conversation.log_path or "not recorded"))

    def action_open(self) -> None:
        """Ask for the values of the selected option."""
        self.want("set")


CAPABILITY_LABELS = {
    "promptCapabilities.image": "images in prompts",
    "promptCapabilities.audio": "audio in prompts",
    "promptCapabilities.embeddedContext": "files in prompts",
    "mcpCapabilities.http": "MCP servers over HTTP",
    "mcpCapabilities.sse": "MCP servers over SSE",
    "loadSession": "load sessions",
    "sessionCapabilities.additionalDirectories": "additional folders",
    "auth.logout": "sign out",
}
"""Display names of capabilities, by their path in the protocol."""


def _capabilities(agent: Agent) -> Iterator[str]:
    """The advertised capabilities; those without a label keep their name in the protocol."""
    for name in _names(agent.capabilities):
        parent, _, child = name.rpartition(".")
        plain = f"{child} sessions" if parent == "sessionCapabilities" else name
        yield CAPABILITY_LABELS.get(name, plain)


def _names(value: dict[str, Any], before: str = "") -> Iterator[str]:
    for name, inner in value.items():
        if name.startswith("_") or inner is None or inner is False:
            continue
        words = f"{before}{visible_line(name)}"
        deeper = list(_names(inner, f"{words}.")) if isinstance(inner, dict) else []
        yield from deeper or [words]
