"""Commands that change or show the state of the session: mode, title, usage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp.helpers import update_available_commands
from acp.schema import SessionInfoUpdate, UsageUpdate

from acp_tui.demo.commands.slash_command import available_commands, parse_number, slash_command
from acp_tui.demo.sessions import state_updates
from acp_tui.demo.sessions.settings import MODELS, MODES

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


@slash_command("mode", "The agent changes its own mode", "[" + "|".join(MODES) + "]")
async def mode(turn: Turn) -> None:
    """Switch to the mode that the argument names; without an argument, to the next mode."""
    settings = turn.stored.settings
    names = list(MODES)
    settings.set("mode", turn.argument or names[(names.index(settings.mode) + 1) % len(names)])
    await state_updates.send_settings(turn.client, turn.stored, turn.capabilities)
    name, description = MODES[settings.mode]
    await turn.say(f"Switched to **{name}**: {description[0].lower()}{description[1:]}.")


@slash_command("title", "Set the title of the session, or clear it", "[title]")
async def title(turn: Turn) -> None:
    """Send the argument as the session's title; without an argument, send null, which clears the title."""
    turn.stored.title = turn.argument or None
    if turn.argument:
        await turn.send_update(SessionInfoUpdate(session_update="session_info_update", title=turn.argument))
    else:  # the SDK's models omit None, so send null as raw JSON
        await turn.send_raw_update({"sessionUpdate": "session_info_update", "title": None})
    await turn.say(f'The title is now "{turn.argument}".' if turn.argument else "The title was cleared.")


@slash_command("commands", "Change the list of commands that the agent offers", "[few|all]")
async def change_commands(turn: Turn) -> None:
    """Offer only `FEW_COMMANDS`, or all commands again. The update replaces the whole list."""
    few = turn.argument == "few" or (turn.argument != "all" and not turn.session.few_commands)
    turn.session.few_commands = few
    offered = available_commands(few=few)
    await turn.client.session_update(turn.session_id, update_available_commands(offered))
    undo = "all" if few else "few"
    await turn.say(f"I now offer {len(offered)} commands. Undo with `/commands {undo}`.")


@slash_command("forget", "Forget this session, as some agents do when they are restarted")
async def forget(turn: Turn) -> None:
    """Forget the session: from now on, the agent refuses to reopen it."""
    turn.stored.forgotten = True
    await turn.say(
        "I will not remember this session. Restart me with `F5`, or quit and run `acp-tui demo --continue`. "
        "Then *Continue in a new session* gives me a summary of this one."
    )


@slash_command("usage", "Fill the context window and raise the cost (made-up numbers)", "[percent]")
async def usage(turn: Turn) -> None:
    """Raise the usage in ten steps to the given percentage of the context window, by default 90."""
    percent = parse_number(turn.argument, 90, maximum=100)
    model = MODELS[turn.stored.settings.model]
    for step in range(1, 11):
        turn.stored.used = model.context_window * percent * step // 1000
        turn.stored.cost += model.context_window * model.price / 100_000
        await state_updates.send_usage(turn.client, turn.stored)
        await turn.pause(8)
    await turn.send_update(
        UsageUpdate(session_update="usage_update", used=turn.stored.used, size=model.context_window)
    )
    await turn.say("The last update had no cost, so the previous cost still applies.")


@slash_command("session", "What the agent knows about this session: folders, options, MCP servers")
async def session(turn: Turn) -> None:
    """Show the parameters of `session/new` and the current settings."""
    stored, settings = turn.stored, turn.stored.settings
    facts = {
        "id": stored.id,
        "folder": stored.cwd,
        "additional folders": ", ".join(stored.directories) or "none",
        "MCP servers": ", ".join(server.name for server in turn.session.mcp_servers) or "none",
        "mode": settings.mode,
        "model": f"{settings.model} (made up)",
        "pace": settings.pace,
        "thoughts": settings.thoughts,
        "remembered answers": json.dumps(stored.remembered),
    }
    rows = "\n".join(f"| {name} | `{value}` |" for name, value in facts.items())
    await turn.say(f"| Setting | Value |\n|---|---|\n{rows}\n")


@slash_command("client", "What the client said about itself")
async def client(turn: Turn) -> None:
    """Show the parameters of `initialize` and the `_meta` of this prompt."""
    parameters: dict[str, Any] = {"initialize": turn.wire.initialize_params}
    if turn.meta:
        parameters["_meta of this prompt"] = turn.meta
    await turn.say(f"```json\n{json.dumps(parameters, indent=2, ensure_ascii=False)}\n```\n")
