"""Commands about the session: what it is set to, what the client said, what was given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp.helpers import update_available_commands
from acp.schema import McpServerStdio, SessionInfoUpdate, UsageUpdate

from acp_tui.demo import announce
from acp_tui.demo.commands.registry import available_commands, number_argument, slash_command
from acp_tui.demo.settings import MODELS, MODES

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


@slash_command("mode", "The agent changes its mode by itself", "[" + "|".join(MODES) + "]")
async def mode(turn: Turn) -> None:
    """The next one, when none is named."""
    settings = turn.stored.settings
    names = list(MODES)
    settings.set("mode", turn.argument or names[(names.index(settings.mode) + 1) % len(names)])
    await announce.settings(turn.client, turn.stored, turn.capabilities)
    name, description = MODES[settings.mode]
    await turn.say(f"I switched to **{name}**: {description.lower()}.")


@slash_command("title", "Changes the title of the session, or takes it away", "[title]")
async def title(turn: Turn) -> None:
    """Without a title: null, which clears it."""
    turn.stored.title = turn.argument or None
    if turn.argument:
        await turn.update(SessionInfoUpdate(session_update="session_info_update", title=turn.argument))
    else:  # the models leave out what is None, so null takes the other way
        await turn.update_raw({"sessionUpdate": "session_info_update", "title": None})
    await turn.say(f"The title is now “{turn.argument}”." if turn.argument else "The title is gone.")


@slash_command("commands", "Changes the list of commands while you look", "[few|all]")
async def change_commands(turn: Turn) -> None:
    """Each update is the complete list."""
    few = turn.argument == "few" or (turn.argument != "all" and not turn.session.few_commands)
    turn.session.few_commands = few
    listed = available_commands(few=few)
    await turn.client.session_update(turn.session_id, update_available_commands(listed))
    await turn.say(f"I now offer {len(listed)} commands. `/commands {'all' if few else 'few'}` changes that.")


@slash_command("usage", "The context window fills up and the cost grows; all made up", "[percent]")
async def usage(turn: Turn) -> None:
    """Ten steps up to the given share of the window."""
    percent = number_argument(turn.argument, 90, most=100)
    model = MODELS[turn.stored.settings.model]
    for step in range(1, 11):
        turn.stored.used = model.window * percent * step // 1000
        turn.stored.cost += model.window * model.price / 100_000
        await announce.usage(turn.client, turn.stored)
        await turn.rest(8)
    await turn.update(UsageUpdate(session_update="usage_update", used=turn.stored.used, size=model.window))
    await turn.say("The last update came without a cost: the one before stays true.")


@slash_command("session", "What the agent knows of this session: folders, mode, options, MCP servers")
async def session(turn: Turn) -> None:
    """Everything `session/new` told, and what was set since."""
    stored, settings = turn.stored, turn.stored.settings
    facts = {
        "id": stored.id,
        "folder": stored.cwd,
        "more folders": ", ".join(stored.directories) or "none",
        "MCP servers": ", ".join(server.name for server in turn.session.mcp_servers) or "none",
        "mode": settings.mode,
        "model": f"{settings.model} (made up)",
        "pace": settings.pace,
        "thoughts": settings.thoughts,
        "remembered answers": json.dumps(stored.remembered),
    }
    rows = "\n".join(f"| {name} | `{value}` |" for name, value in facts.items())
    await turn.say(f"| What | Value |\n|---|---|\n{rows}\n")


@slash_command("mcp", "The MCP servers that the client gave; the demo does not connect to them")
async def mcp(turn: Turn) -> None:
    """Values of environment variables and headers may be secret: only their names are told."""
    if not turn.session.mcp_servers:
        await turn.say("Your client gave me no MCP servers.")
        return
    lines = []
    for server in turn.session.mcp_servers:
        if isinstance(server, McpServerStdio):
            secrets = [variable.name for variable in server.env]
            where = " ".join((server.command, *server.args))
        else:
            secrets = [header.name for header in getattr(server, "headers", [])]
            where = f"{server.type} {getattr(server, 'url', '')}".strip()
        lines.append(f"- **{server.name}**: `{where}`" + (f" with {', '.join(secrets)}" if secrets else ""))
    await turn.say("I got these, and connect to none of them:\n\n" + "\n".join(lines) + "\n")


@slash_command("client", "What your client said about itself")
async def client(turn: Turn) -> None:
    """As sent with `initialize`, and the `_meta` of this prompt."""
    said: dict[str, Any] = {"initialize": turn.wire.initialize}
    if turn.meta:
        said["_meta of this prompt"] = turn.meta
    await turn.say(f"```json\n{json.dumps(said, indent=2, ensure_ascii=False)}\n```\n")
