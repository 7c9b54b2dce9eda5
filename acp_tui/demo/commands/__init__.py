"""The slash commands, one module for each group, and how a prompt finds its command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp import RequestError

from acp_tui.demo.commands import asking, content, endings, guide, oddities, state, work
from acp_tui.demo.commands.registry import COMMANDS, SlashCommand

if TYPE_CHECKING:
    from acp.schema import StopReason

    from acp_tui.demo.turn import Turn

for _module in (guide, work, asking, content, state, endings, oddities):
    COMMANDS.update((each.name, each) for each in vars(_module).values() if isinstance(each, SlashCommand))


async def answer(turn: Turn) -> StopReason:
    """Do what the prompt asks for; help, when that is nothing we know."""
    text = "/tour" if turn.text.lower() == "tour" else turn.text
    word, *rest = text.split(maxsplit=1) or [""]
    command = COMMANDS.get(word[1:]) if word.startswith("/") else None
    turn.argument = rest[0] if rest else ""
    try:
        return await (command or COMMANDS["help"]).run(turn) or "end_turn"
    except RequestError as error:
        await turn.say(f"Your client answered a request of mine with error {error.code}: {error}")
        return "end_turn"
