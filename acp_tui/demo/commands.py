"""All slash commands: their order, the two commands that list them, and how a prompt runs one."""

from __future__ import annotations

from acp import RequestError, schema
from acp.helpers import update_available_commands

from acp_tui.demo import conversation_commands as conversation
from acp_tui.demo import message_commands as messages
from acp_tui.demo import work_commands as work
from acp_tui.demo.turn import Turn, slash_command

FEW_COMMANDS = ("help", "tour", "commands")
"""The commands that are still offered after `/commands few`."""

_INTRODUCTION = """\
I am the demo agent of acp-tui: a script, not a language model. I cannot answer questions, but I can show \
what an agent does over the Agent Client Protocol."""


async def answer(turn: Turn) -> schema.StopReason:
    """Run the command that the prompt names, by default `/help`, and return the stop reason."""
    text = "/tour" if turn.text.lower() == "tour" else turn.text
    word, *rest = text.split(maxsplit=1) or [""]
    command = COMMANDS.get(word[1:]) if word.startswith("/") else None
    turn.argument = rest[0] if rest else ""
    try:
        return await (command or show_help).run(turn) or "end_turn"
    except RequestError as error:
        await turn.say(f"Your client answered one of my requests with error {error.code}: {error}")
        return "end_turn"


def command_list(*, few: bool) -> schema.AvailableCommandsUpdate:
    """Return the update that offers the commands to the client; if `few`, only `FEW_COMMANDS`."""
    return update_available_commands(
        schema.AvailableCommand(
            name=command.name,
            description=command.description,
            input=schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint=command.hint))
            if command.hint
            else None,
        )
        for command in COMMANDS.values()
        if not few or command.name in FEW_COMMANDS
    )


@slash_command("help", "What this agent is and what it can show")
async def show_help(turn: Turn) -> None:
    """Introduce the demo and list the commands. Also runs for prompts that name no command."""
    paragraphs = [_INTRODUCTION]
    if turn.text.startswith("/") and not turn.text.startswith("/help"):
        paragraphs.append(f"Unknown command: `{turn.text.split()[0]}`.")
    attached = [block for block in turn.blocks if not isinstance(block, schema.TextContentBlock)]
    if attached:
        count = "1 attachment" if len(attached) == 1 else f"{len(attached)} attachments"
        paragraphs.append(f"Your prompt came with {count}; `/echo` shows what I received.")
    paragraphs.append("Type `tour` for a 15-second demonstration, or choose a command:")
    commands = [
        f"- `/{command.name}{' ' + command.hint if command.hint else ''}`: {command.description}"
        for command in COMMANDS.values()
    ]
    await turn.say("\n\n".join(paragraphs) + "\n\n" + "\n".join(commands) + "\n", chunking="line")


@slash_command("commands", "Change the list of commands that the agent offers", "[few|all]")
async def change_commands(turn: Turn) -> None:
    """Offer only `FEW_COMMANDS`, or all commands again. The update replaces the whole list."""
    few = turn.argument == "few" or (turn.argument != "all" and not turn.session.few_commands)
    turn.session.few_commands = few
    offered = command_list(few=few)
    await turn.session.send(offered)
    undo = "all" if few else "few"
    await turn.say(f"I now offer {len(offered.available_commands)} commands. Undo with `/commands {undo}`.")


COMMANDS = {
    command.name: command
    for command in (
        show_help,
        work.tour, work.plan,
        work.read, work.edit, work.diff, work.terminal, work.fail, work.tools,
        work.subagents,
        conversation.permission, conversation.withdraw, conversation.elicit,
        conversation.sign_in, conversation.logout,
        messages.markdown, messages.thoughts, messages.image, messages.audio, messages.resource,
        messages.annotated, messages.unicode, messages.escape, messages.echo,
        conversation.mode, conversation.title, change_commands, conversation.forget,
        conversation.usage, conversation.session, conversation.client,
        conversation.notice, conversation.compact, conversation.limit,
        work.mcp,
        conversation.error, conversation.refuse, conversation.stop, conversation.slow, conversation.hang,
        conversation.silence, conversation.flood, conversation.crash, conversation.later,
        messages.unknown, messages.stray, messages.noise, messages.stderr,
    )
}  # fmt: skip
"""The commands by name, in the order of the menu and the help."""
