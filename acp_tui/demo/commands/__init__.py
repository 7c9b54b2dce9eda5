"""The slash commands, one module per group, and `answer`, which runs the command named in a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp import RequestError

from acp_tui.demo.commands import help_text, tour
from acp_tui.demo.commands.conversation import account, context_events, questions, session_state, turn_endings
from acp_tui.demo.commands.messages import content, unusual_messages
from acp_tui.demo.commands.slash_command import COMMANDS, SlashCommand
from acp_tui.demo.commands.work import mcp_servers, plan, subagents, tool_calls

if TYPE_CHECKING:
    from acp.schema import StopReason

    from acp_tui.demo.turn import Turn

# The order of the commands in menus and in the help.
for _module in (
    help_text,
    tour,
    plan,
    tool_calls,
    subagents,
    questions,
    account,
    content,
    session_state,
    context_events,
    mcp_servers,
    turn_endings,
    unusual_messages,
):
    COMMANDS.update(
        (command.name, command) for command in vars(_module).values() if isinstance(command, SlashCommand)
    )


async def answer(turn: Turn) -> StopReason:
    """Run the command that the prompt names, by default `/help`, and return the stop reason."""
    text = "/tour" if turn.text.lower() == "tour" else turn.text
    word, *rest = text.split(maxsplit=1) or [""]
    command = COMMANDS.get(word[1:]) if word.startswith("/") else None
    turn.argument = rest[0] if rest else ""
    try:
        return await (command or COMMANDS["help"]).run(turn) or "end_turn"
    except RequestError as error:
        await turn.say(f"Your client answered one of my requests with error {error.code}: {error}")
        return "end_turn"
