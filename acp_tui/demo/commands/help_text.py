"""`/help`: what the demo is and what it can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.schema import TextContentBlock

from acp_tui.demo.commands.slash_command import COMMANDS, slash_command

if TYPE_CHECKING:
    from acp_tui.demo.turn import Turn

_INTRODUCTION = """\
I am the demo agent of acp-tui: a script, not a language model. I cannot answer questions, but I can show \
what an agent does over the Agent Client Protocol."""


@slash_command("help", "What this agent is and what it can show")
async def show_help(turn: Turn) -> None:
    """Introduce the demo and list the commands. Also runs for prompts that name no command."""
    paragraphs = [_INTRODUCTION]
    if turn.text.startswith("/") and not turn.text.startswith("/help"):
        paragraphs.append(f"Unknown command: `{turn.text.split()[0]}`.")
    attached = [block for block in turn.blocks if not isinstance(block, TextContentBlock)]
    if attached:
        count = "1 attachment" if len(attached) == 1 else f"{len(attached)} attachments"
        paragraphs.append(f"Your prompt came with {count}; `/echo` shows what I received.")
    paragraphs.append("Type `tour` for a 15-second demonstration, or choose a command:")
    commands = [
        f"- `/{command.name}{' ' + command.hint if command.hint else ''}`: {command.description}"
        for command in COMMANDS.values()
    ]
    await turn.say("\n\n".join(paragraphs) + "\n\n" + "\n".join(commands) + "\n", chunking="line")
