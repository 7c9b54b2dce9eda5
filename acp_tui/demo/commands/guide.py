"""What the demo is, and the tour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.schema import TextContentBlock

from acp_tui.demo.commands.registry import COMMANDS, slash_command
from acp_tui.demo.tour import tour as walk

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn


_INTRODUCTION = """\
I am the demo agent of acp-tui: a script, not a language model. I cannot answer questions, but I show \
what an agent can do over the Agent Client Protocol."""


@slash_command("help", "What this agent is, and everything it can show")
async def help_(turn: Turn) -> None:
    """Also the answer to any prompt that is no command."""
    lines = [_INTRODUCTION]
    if turn.text.startswith("/") and not turn.text.startswith("/help"):
        lines.append(f"I do not know `{turn.text.split()[0]}`.")
    attached = [block for block in turn.blocks if not isinstance(block, TextContentBlock)]
    if attached:
        lines.append(f"Your prompt came with {len(attached)} attachments; `/echo` shows what reached me.")
    lines.append("Say `tour` to see most of it in a quarter of a minute, or pick a piece:")
    listing = [
        f"- `/{each.name}{' ' + each.hint if each.hint else ''}`: {each.description}"
        for each in COMMANDS.values()
    ]
    await turn.say("\n\n".join(lines) + "\n\n" + "\n".join(listing) + "\n", by="line")


@slash_command("tour", "Thoughts, a plan, a file read, an edit, a command and an answer")
async def tour(turn: Turn) -> None:
    """The whole show."""
    await walk(turn)
