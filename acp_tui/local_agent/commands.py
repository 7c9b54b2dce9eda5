"""The slash commands: those of the agent, and the prompts of MCP servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from acp import schema

from acp_tui.local_agent.compaction import compact

if TYPE_CHECKING:
    from acp_tui.local_agent.session import Session


class _Command(NamedTuple):
    description: str
    hint: str | None
    run: Callable[[Session, str], Awaitable[None]]


async def _compact(session: Session, focus: str) -> None:
    if not session.stored.messages:
        session.updates.message("There is nothing to compact yet.")
        return
    await compact(session, focus)
    session.updates.message("The conversation was compacted.")


async def _clear(session: Session, _: str) -> None:
    session.stored.replace_messages([])
    session.forget_count()
    session.stored.meta.used = 0
    session.send_usage()
    session.updates.message("The model has forgotten the conversation.")


async def _model(session: Session, name: str) -> None:
    await session.models.refresh()
    if not name:
        current = session.stored.meta.model
        listed = "\n".join(f"- `{key.partition(':')[2]}`" for key in session.models.keys_for(current))
        session.updates.message(f"The model is `{current.partition(':')[2]}`. Available:\n\n{listed}")
        return
    key = session.models.find(name)
    if key is None:
        session.updates.message(f"There is no model `{name}`. `/model` lists the models.")
        return
    session.set_model(key)
    session.updates.options(session.config_options)
    session.updates.message(f"The model is now `{key.partition(':')[2]}`.")


async def _tools(session: Session, _: str) -> None:
    servers: dict[str, list[str]] = {}
    for tool in session.tools():
        first_line = tool.description.strip().partition("\n")[0]
        servers.setdefault(tool.server, []).append(f"- `{tool.name}`: {first_line}")
    parts = [f"**{server}**\n\n" + "\n".join(lines) for server, lines in servers.items()]
    session.updates.message("\n\n".join(parts))


COMMANDS = {
    "compact": _Command("Summarise the conversation to make room in the context", "what to keep", _compact),
    "clear": _Command("Make the model forget the conversation", None, _clear),
    "model": _Command("List the models, or change to one", "name", _model),
    "tools": _Command("List the tools that the model can call", None, _tools),
}


def available_commands(session: Session) -> list[schema.AvailableCommand]:
    """Return the commands for the client's menu."""
    own = [_available(name, each.description, each.hint) for name, each in COMMANDS.items()]
    prompts = session.mcp.prompts() if session.mcp is not None else []
    return own + [_available(prompt.name, prompt.description, prompt.hint or None) for prompt in prompts]


def _available(name: str, description: str, hint: str | None) -> schema.AvailableCommand:
    hinted = None if hint is None else schema.UnstructuredCommandInput(hint=hint)
    return schema.AvailableCommand(
        name=name,
        description=description or name,
        input=None if hinted is None else schema.AvailableCommandInput(root=hinted),
    )


async def run(session: Session, text: str) -> tuple[bool, str | None]:
    """Run the command that the text begins with.

    Returns:
        Whether the prompt has been answered, and otherwise the text that replaces it: the one of an MCP
        prompt, or None if the text is not a command.
    """
    if not text.startswith("/"):
        return False, None
    name, _, argument = text[1:].partition(" ")
    if (command := COMMANDS.get(name)) is not None:
        await command.run(session, argument.strip())
        return True, None
    if session.mcp is None or all(prompt.name != name for prompt in session.mcp.prompts()):
        return False, None
    from acp_tui.local_agent.mcp_servers import PromptError

    try:
        return False, await session.mcp.get_prompt(name, argument.strip())
    except PromptError as error:
        session.updates.message(str(error))
        return True, None
