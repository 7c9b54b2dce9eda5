"""The session pane: options, agent, MCP servers, folders, ids and log file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from acp_tui.session.offered_options import offered_options, value_name
from acp_tui.session.safe_text import escape_line, visible_excerpt
from acp_tui.ui.panes.files import REMOTE_FILES
from acp_tui.ui.panes.pane import Pane, PaneItemAction
from acp_tui.ui.panes.pane_list import PaneItem, fact_item, heading_item, label_column_width, text_item
from acp_tui.ui.theme.palette import current_palette

if TYPE_CHECKING:
    from rich.style import Style

    from acp_tui.config.mcp import Server
    from acp_tui.session.record import Change
    from acp_tui.session.state import Agent
    from acp_tui.store.mcp_facts import ServerTest

SHOWN_FACTS = frozenset(
    {"agent", "config_options", "cwd", "dialect", "directories", "mode", "model", "models", "modes"}
    | {"process", "session_id", "title"}
)
"""Attributes of `Session` whose changes this pane shows."""


SERVER_KEY = "mcp server: "
"""The prefix of the item keys of MCP servers. The item keys of options are the options' ids."""


class SessionPane(Pane):
    """Lists what is known about the session and its agent; Enter opens an option's values or a server."""

    TITLE: ClassVar = "Session"
    ACTIONS: ClassVar = frozenset({"open"})

    def is_affected(self, changes: Iterable[Change]) -> bool:
        """Return True if a change affects what the pane shows."""
        return any(change.fact in SHOWN_FACTS for change in changes)

    def build_items(self) -> Sequence[PaneItem]:
        """Return all items, options first."""
        self._column = label_column_width(self._given_names())
        return [*self._options(), *self._agent(), *self._servers(), *self._session_facts()]

    def _given_names(self) -> Iterator[str]:
        """Yield the names of options and MCP servers. The longest name sets the width of the label column."""
        yield from (escape_line(option.name) for option in self.source.session.config_options)
        if (conversation := self.source.conversation) is not None:
            yield from (escape_line(server.name) for server in conversation.mcp_servers)

    def _fact(self, label: str, text: str, *, key: str | None = None, style: Style | None = None) -> PaneItem:
        return fact_item(label, text, column=self._column, key=key, style=style)

    def _options(self) -> Iterator[PaneItem]:
        yield heading_item("Options", first=True)
        options = offered_options(self.source.session)
        others = [option for option in self.source.session.config_options if option not in options]
        live = self.source.conversation is not None
        for option in options:
            name, text = escape_line(option.name), value_name(option)
            yield self._fact(name, text, key=option.id if live else None)
        for option in others:
            kind = escape_line(option.kind)
            text = f"{escape_line(str(option.current))} (unsupported option type {kind})"
            yield self._fact(escape_line(option.name), text)
        if not options:
            yield text_item("The agent offers no options.", current_palette().dim)

    def _agent(self) -> Iterator[PaneItem]:
        palette, session = current_palette(), self.source.session
        yield heading_item("Agent")
        if (agent := session.agent) is not None:
            if name := escape_line(agent.title or agent.name or ""):
                yield self._fact("name", name)
            if agent.version:
                yield self._fact("version", escape_line(agent.version))
            yield self._fact("protocol", escape_line(str(agent.protocol_version or session.dialect)))
            if session.dialect == "v2":
                yield text_item(UNASKED, palette.dim)
            yield self._fact("capabilities", ", ".join(_capabilities(agent)) or "prompts only")
            if custom := agent.custom_capabilities:
                yield self._fact("custom", ", ".join(_custom_name(*one) for one in custom.items()))
        else:
            yield text_item("The agent sent no name or version.", palette.dim)
        conversation = self.source.conversation
        is_connected = conversation is not None and conversation.launch.address is not None
        if conversation is not None and conversation.launch.has_remote_files:
            yield text_item(REMOTE_FILES, palette.dim)
        if (process := session.process) is not None:
            if process.command:
                yield self._fact(
                    "address" if is_connected else "command", escape_line(" ".join(process.command))
                )
            if process.pid is not None and session.phase != "dead":
                yield self._fact("PID", str(process.pid))

    def _servers(self) -> Iterator[PaneItem]:
        palette, conversation = current_palette(), self.source.conversation
        if conversation is None:
            return
        yield heading_item("MCP servers")
        tests = last_tests(conversation.options.servers) if conversation.mcp_servers else {}
        for server in conversation.mcp_servers:
            name, test = escape_line(server.name), tests.get(server.name)
            if server.reason_not_sent is not None:
                text, style = f"not sent: {escape_line(server.reason_not_sent)}", palette.warning
            elif test is not None and test.status != "connected":
                text, style = f"sent to the agent · last test: {test.status}", palette.error
            else:
                way = "" if server.bridge_reason is None else ", through the bridge"
                tested = ", tested" if test is not None else ""
                text, style = f"sent to the agent ({server.transport}{way}){tested}", palette.success
            yield self._fact(name, text, key=f"{SERVER_KEY}{server.name}", style=style)
        if not conversation.mcp_servers:
            yield text_item("None configured.", palette.dim)

    def _session_facts(self) -> Iterator[PaneItem]:
        session, conversation = self.source.session, self.source.conversation
        yield heading_item("Session")
        if session.title:
            yield self._fact("title", escape_line(session.title))
        yield self._fact("folder", escape_line(self.source.cwd or session.cwd or "–"))
        if conversation is not None and conversation.launch.is_remote:
            yield self._fact("its folder", escape_line(conversation.session_folder))
        for directory in session.directories:
            yield self._fact("also in", escape_line(directory))
        if session.session_id:
            yield self._fact("id", escape_line(session.session_id))
        if conversation is not None:
            if conversation.folder.id:
                yield self._fact("acp-tui id", conversation.folder.id)
            yield self._fact("log", escape_line(conversation.log_path or "not recorded"))

    def action_open(self) -> None:
        """Ask the screen to show the selected server, or the values of the selected option."""
        if self.chosen is not None and self.chosen.startswith(SERVER_KEY):
            self.post_message(PaneItemAction("server", self.chosen.removeprefix(SERVER_KEY)))
        else:
            self.request("set")


def last_tests(servers: Iterable[Server]) -> dict[str, ServerTest]:
    """Return the last test of each server, by name.

    Servers whose current definition was not tested are left out.
    """
    from acp_tui.config.paths import paths
    from acp_tui.store.mcp_facts import McpFacts

    facts = McpFacts(paths().state)
    known = {server.name: facts.read(server.name, server.digest()).tested for server in servers}
    return {name: test for name, test in known.items() if test is not None}


MAX_CUSTOM_CHARACTERS = 200
"""The maximum number of characters shown of the value of a custom capability."""
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
UNASKED = (
    "In version 2, the agent itself reads and writes files and runs commands. acp-tui decides what the agent "
    "asks for. The rest is shown as the agent reports it, and the review lists the changed files."
)
VERSION_2_GROUPS = (
    ("session.prompt.", "promptCapabilities."),
    ("session.mcp.", "mcpCapabilities."),
    ("session.", "sessionCapabilities."),
)
"""The beginnings of the paths of capabilities in version 2 of the protocol, and those in version 1."""
CAPABILITY_GROUPS = frozenset(
    {
        "promptCapabilities",
        "mcpCapabilities",
        "sessionCapabilities",
        "auth",
        "session",
        "session.prompt",
        "session.mcp",
    }
)
"""Objects that are no capabilities themselves. Other empty objects mean that a capability is supported."""


def _custom_name(name: str, value: Any) -> str:
    """Return a capability that is not part of the protocol, with its value unless that is just true."""
    shown = "" if value is True else f" {visible_excerpt(value, MAX_CUSTOM_CHARACTERS)}"
    return f"{escape_line(name)}{shown}"


def _capabilities(agent: Agent) -> Iterator[str]:
    """Yield a name for each of `_enabled_names`: its label, or else a name made from its path."""
    for name in _enabled_names(agent.capabilities):
        for group, former in VERSION_2_GROUPS:
            if name.startswith(group):
                name = f"{former}{name.removeprefix(group)}"
                break
        parent, _, child = name.rpartition(".")
        default = f"{child} sessions" if parent == "sessionCapabilities" else name
        yield CAPABILITY_LABELS.get(name, default)


def _enabled_names(capabilities: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of the capabilities that are neither null nor false.

    Names that begin with an underscore are left out.
    """
    for name, inner in capabilities.items():
        if name.startswith("_") or inner is None or inner is False:
            continue
        path = f"{prefix}{escape_line(name)}"
        nested = list(_enabled_names(inner, f"{path}.")) if isinstance(inner, dict) else []
        yield from nested or ([] if path in CAPABILITY_GROUPS else [path])
