"""The MCP servers in a conversation: their screen, and their prompts and resources in the input."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_invisible_line, escape_line, invisible_characters, strip_controls
from acp_tui.session.state import SlashCommand

if TYPE_CHECKING:
    from acp_tui.config.mcp import Server
    from acp_tui.mcp.calls import PromptResult
    from acp_tui.session.record import Change
    from acp_tui.ui.conversation.runner import ConversationRunner
    from acp_tui.ui.conversation.session_screen import SessionScreen
    from acp_tui.ui.prompt import Prompt
    from acp_tui.ui.screens.mcp.live_servers import LiveServers
    from acp_tui.ui.screens.mcp.mcp_screen import McpScreen


MAX_CHARACTERS = 200_000
"""The maximum length, in characters, of a prompt that is put into the input."""
SHOWN_FACTS = frozenset({"mcp_servers", "mcp_calls", "session_id"})
"""Attributes of `Session` whose changes update the MCP screen."""


class ConversationMcp:
    """Opens the MCP screen, and offers the prompts and resources of MCP servers in the input."""

    def __init__(self, screen: SessionScreen, prompt: Prompt, runner: ConversationRunner) -> None:
        self._screen = screen
        self._runner = runner
        self._prompts = ServerPrompts(screen, prompt)
        self._open: McpScreen | None = None
        self._live: LiveServers | None = None

    def open(self, server: str | None = None) -> None:
        """Open the MCP screen; `server` is the name of the server to show first."""
        from acp_tui.ui.screens.mcp.live_servers import LiveServers, McpContext, known_servers
        from acp_tui.ui.screens.mcp.mcp_screen import McpScreen

        conversation = self._runner.conversation
        if self._open is not None:
            return
        if conversation is None:
            self._screen.notify("acp-tui is still starting. Try again in a moment.", timeout=3)
            return
        options = conversation.options
        if self._live is None:
            self._live = LiveServers(conversation.cwd)
        context = McpContext(
            load_servers=lambda: known_servers(
                options.servers, options.withheld_servers, conversation.mcp_servers
            ),
            cwd=conversation.cwd,
            live=self._live,
            session=self._screen.session,
            agent=conversation.launch.title,
            note=conversation.note,
            edit_file=self._screen.entry_actions.edit_file,
        )
        self._open = McpScreen(context, server)
        self._screen.open_dialog(self._open, self._closed)

    async def close(self) -> None:
        """End the connections that the user has made on the MCP screen."""
        if self._live is not None:
            await self._live.close()

    def _closed(self, _: None) -> None:
        self._open = None
        self._load_prompts()
        self._screen.panes.reload()

    def _load_prompts(self) -> None:
        self._screen.run_worker(self._prompts.load(), group="server prompts", exclusive=True)

    def use_prompt(self, name: str, argument: str) -> None:
        """Put the MCP prompt `name` ("SERVER:PROMPT") into the input.

        The user is first asked for the prompt's arguments, if any. `argument` pre-fills the first argument.
        """
        self._screen.run_worker(self._prompts.use(name, argument), group="server prompt", exclusive=True)

    def show_changes(self, changes: Sequence[Change]) -> None:
        """Update the open MCP screen. If the session's servers changed, also update the input's menus."""
        if any(change.fact == "mcp_servers" for change in changes):
            self._load_prompts()
        if self._open is not None and any(
            change.fact in SHOWN_FACTS or getattr(change.entry, "mcp_tool", None) for change in changes
        ):
            self._open.update()
            self._open.reload()


class ServerPrompts:
    """Offers the user the prompts and resources that the MCP servers offered when last tested.

    For this, a server is started only when the user chooses one of its prompts or mentions one of its
    resources.
    """

    def __init__(self, screen: SessionScreen, prompt: Prompt) -> None:
        self._screen = screen
        self._prompt = prompt
        self._context = screen.context
        self._offered: dict[str, OfferedPrompt] = {}

    async def load(self) -> None:
        """Load the saved prompts and resources of the servers into the input's menus."""
        conversation = self._context.conversation
        if conversation is None:
            return
        servers = [one for one in conversation.options.servers if one.is_on]
        prompts, resources = await asyncio.to_thread(_saved_offers, servers)
        self._offered = {prompt.command.name: prompt for prompt in prompts}
        self._prompt.set_server_prompts([prompt.command for prompt in prompts])
        self._prompt.set_resources(resources)

    async def use(self, name: str, argument: str = "") -> None:
        """Ask for a prompt's arguments, get the prompt from its server, and put the text into the input.

        `argument` pre-fills the first field of the form.
        """
        offered, conversation = self._offered.get(name), self._context.conversation
        if offered is None or conversation is None:
            return
        arguments = await self._ask(offered, argument) if offered.arguments else {}
        if arguments is None:
            return
        self._screen.notify(f"Getting {escape_line(name)} …", timeout=2)
        try:
            result = await conversation.mcp_access.get_prompt(offered.server, offered.name, arguments)
        except UserError as error:
            self._screen.notify_error(error)
            return
        self._put_into_input(name, self._text(result))

    def _put_into_input(self, name: str, text: str) -> None:
        """Replace the input with the text of a prompt, and warn of invisible characters in the text."""
        if len(text) > MAX_CHARACTERS:
            limit = f"{MAX_CHARACTERS:,}"
            self._screen.notify_error(
                UserError(f"{escape_line(name)} was not inserted: the prompt exceeds {limit} characters.")
            )
            return
        self._prompt.load(text)
        self._prompt.focus()
        if hidden := invisible_characters(text):
            warning = f"The prompt contains invisible characters: {hidden}."
            self._screen.notify(warning, severity="warning", timeout=10, markup=False)

    async def _ask(self, offered: OfferedPrompt, argument: str) -> dict[str, str] | None:
        """Ask the user for the arguments of a prompt and return them; None if the user cancels."""
        from acp_tui.ui.schema_form.dialog import SchemaFormDialog

        answer = await self._screen.ask(
            SchemaFormDialog(
                f"Prompt {escape_line(offered.name)}",
                offered.schema,
                asked_by=f'MCP server "{escape_line(offered.server)}"',
                message=offered.description,
                values={str(offered.arguments[0].get("name")): argument} if argument else None,
            )
        )
        if answer is None or answer.action != "accept":
            return None
        return {key: str(value) for key, value in (answer.content or {}).items()}

    def _text(self, result: PromptResult) -> str:
        """Return the messages of a prompt as one text.

        Attach embedded texts and, if the input takes images, images. The returned text has a token for each.
        """
        several = len({message.role for message in result.messages}) > 1
        parts = []
        for message in result.messages:
            text = self._block_text(message.content)
            parts.append(f"{message.role.capitalize()}: {text}" if several else text)
        return strip_controls("\n\n".join(part for part in parts if part))

    def _block_text(self, block: dict[str, Any]) -> str:
        match block:
            case {"type": "text", "text": str(text)}:
                return text
            case {"type": "image", "data": str(data), "mimeType": str(mime)} if self._prompt.takes_images:
                with suppress(ValueError):
                    return self._prompt.add_image(b64decode(data, validate=True), mime)
                return "(left out: an invalid image)"
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)} as resource}:
                return self._prompt.add_text(uri, text, str(resource.get("mimeType") or "text/plain"))
            case {"type": "resource_link", "uri": str(uri)}:
                return uri
            case {"type": kind}:
                return f"(left out: {escape_line(str(kind))})"
        return ""


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    """A prompt that an MCP server offered when the server was last tested."""

    server: str
    name: str
    description: str
    arguments: list[dict[str, Any]]  # as in `PromptArgumentInfo`

    @property
    def command(self) -> SlashCommand:
        """The slash command for this prompt. Its hint consists of the names of the arguments."""
        names = [str(one.get("name")) for one in self.arguments]
        needed = [one.get("required") is True for one in self.arguments]
        shown = [name if need else f"[{name}]" for name, need in zip(names, needed, strict=True)]
        description = escape_line(self.description) or f"Prompt of the MCP server {self.server}"
        return SlashCommand(f"{self.server}:{self.name}", description, " ".join(shown) or None)

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments as a JSON schema."""
        properties = {
            str(one.get("name")): {
                "type": "string",
                "title": one.get("title") or one.get("name"),
                "description": one.get("description") or "",
            }
            for one in self.arguments
        }
        required = [str(one.get("name")) for one in self.arguments if one.get("required")]
        return {"type": "object", "properties": properties, "required": required}


def _saved_offers(
    servers: Sequence[Server],
) -> tuple[list[OfferedPrompt], dict[str, tuple[str, str]]]:
    """Return the prompts and the resources that were saved for the servers.

    The resources are a dict from names in mentions, `SERVER:URI`, to pairs of server name and URI.
    """
    from acp_tui.config.paths import paths
    from acp_tui.store.mcp_facts import McpOffers

    offers = McpOffers(paths().state)
    prompts: list[OfferedPrompt] = []
    resources: dict[str, tuple[str, str]] = {}
    for name, server in {server.name: server for server in servers}.items():
        saved = offers.read(name, server.digest())
        for prompt in saved.prompts:
            if not _is_plain(f"{name}:{prompt['name']}"):
                continue
            about = str(prompt.get("description") or prompt.get("title") or "")
            prompts.append(OfferedPrompt(name, prompt["name"], about, _objects(prompt.get("arguments"))))
        uris = [one["uri"] for one in saved.resources if _is_plain(f"{name}:{one['uri']}")]
        resources |= {f"{name}:{uri}": (name, uri) for uri in uris}
    return prompts, resources


def _objects(value: Any) -> list[dict[str, Any]]:
    items: Iterable[Any] = value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, dict)]


def _is_plain(name: str) -> bool:
    """Return whether a name can be typed: it has no control or invisible characters."""
    return escape_invisible_line(name) == name and "\n" not in name
