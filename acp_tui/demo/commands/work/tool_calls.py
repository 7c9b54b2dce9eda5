"""Commands that make tool calls: reading, edits, diffs, terminals."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from acp import text_block, tool_content, tool_diff_content

from acp_tui.demo.commands.slash_command import parse_number, slash_command
from acp_tui.demo.commands.tour import edit_target
from acp_tui.demo.project.job import COLOUR_COMMAND, choose_job
from acp_tui.demo.tools.files import read_file
from acp_tui.demo.tools.run_command import run_command
from acp_tui.demo.tools.tool_call import ToolCall

if TYPE_CHECKING:
    from acp.schema import ToolKind

    from acp_tui.demo.tools.run_command import CommandResult
    from acp_tui.demo.turn import Turn


@slash_command("read", "Read a file; without a path, the one that /tour reads", "[path] [line] [limit]")
async def read(turn: Turn) -> None:
    """Read a file, through the client if the client can read files.

    If the file cannot be read, for example because it does not exist, the tool call shows the error.
    """
    try:
        words = shlex.split(turn.argument)
    except ValueError:  # probably an apostrophe in a file name
        words = turn.argument.split()
    path = turn.cwd / words[0] if words else choose_job(turn.cwd, 0).file_to_read
    if path is None:
        await turn.say("I found no README or similar file here. Give me a path: `/read PATH`.")
        return
    line, limit = (parse_number(" ".join(words[at:]), 0, maximum=1_000_000_000) or None for at in (1, 2))
    text = await read_file(turn, path, line=line, limit=limit)
    if text is not None:
        await turn.say(f"I received {len(text.splitlines())} lines.")


@slash_command("edit", "An edit that shows a diff and asks for permission")
async def edit(turn: Turn) -> None:
    """Fix the bug in the sample project; in any other folder, write the demo's own file."""
    job = choose_job(turn.cwd, 0)
    done = await edit_target(turn, job)
    await turn.say(f"`{job.target.name}` was {'written' if done else 'not changed'}.")


@slash_command("diff", "Six kinds of diff; nothing is written")
async def diff(turn: Turn) -> None:
    """Send a tool call with six diffs: new, changed, emptied and long files, and files with unusual texts."""
    long = [f"line {number} of a long file\n" for number in range(1, 201)]
    changed = [f"changed {line}" if index % 40 == 20 else line for index, line in enumerate(long)]
    content = [
        tool_diff_content(str(turn.cwd / "new.py"), 'print("a new file")\n', None),
        tool_diff_content(str(turn.cwd / "changed.py"), "one\n2\nthree\n", "one\ntwo\nthree\n"),
        tool_diff_content(str(turn.cwd / "emptied.txt"), "", "all of this\ngoes away\n"),
        tool_diff_content(str(turn.cwd / "newline.txt"), "no newline at the end", "no newline at the end\n"),
        tool_diff_content(str(turn.cwd / "wide.txt"), "漢字とかな 🎉\n", "kanji and kana\n"),
        tool_diff_content(str(turn.cwd / "long.txt"), "".join(changed), "".join(long)),
    ]
    call = ToolCall(turn, "Show six diffs (nothing is written)", "edit", content=content)
    await call.start("in_progress")
    await call.complete()
    await turn.say("These files do not exist, and nothing was written.")


@slash_command("terminal", "A command with coloured output, or your own command", "[command line]")
async def terminal(turn: Turn) -> None:
    """Run the argument in a shell; without an argument, run the command that `/tour` runs."""
    argv = (
        ["/bin/sh", "-c", turn.argument]
        if turn.argument
        else choose_job(turn.cwd, turn.stored.settings.delay * 10).command
    )
    title = turn.argument or "A command with coloured output"
    await _report(turn, await run_command(turn, argv, title=title))


@slash_command("fail", "A command that fails")
async def fail(turn: Turn) -> None:
    """Run a command that writes to stdout and stderr and exits with code 3."""
    await _report(turn, await run_command(turn, [*COLOUR_COMMAND, "--fail"], title="A command that fails"))


async def _report(turn: Turn, result: CommandResult | None) -> None:
    if result is None:
        await turn.say("The command did not run.")
    elif result.signal:
        await turn.say(f"The command was ended by {result.signal}.")
    else:
        await turn.say(f"Exit code {result.exit_code}, {len(result.output)} characters of output.")


_KINDS: tuple[ToolKind | None, ...] = (
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", None,
)  # fmt: skip


@slash_command("tools", "Concurrent tool calls of every kind", "[count]")
async def tools(turn: Turn) -> None:
    """Send tool calls that run concurrently. They only pretend to do something."""
    count = parse_number(turn.argument, len(_KINDS), maximum=200)
    calls = [
        ToolCall(
            turn,
            f"Pretend to {(kind or 'do something without a kind').replace('_', ' ')}",
            kind,
            path=turn.cwd / "nowhere.txt" if kind in ("read", "edit", "delete", "move") else None,
            line=index + 1,
            raw_input={"index": index, "pretend": True},
        )
        for index, kind in ((index, _KINDS[index % len(_KINDS)]) for index in range(count))
    ]
    async with asyncio.TaskGroup() as tasks:
        for index, call in enumerate(calls):
            tasks.create_task(_pretend(turn, call, index))
    await turn.say(f"{count} tool calls, of which every fourth failed. Nothing was really done.")


async def _pretend(turn: Turn, call: ToolCall, index: int) -> None:
    await call.start()
    await call.mark_in_progress()
    await turn.pause(10 + index * 3)
    if index % 4 == 3:
        await call.fail("This call fails on purpose.")
    else:
        text = tool_content(text_block(f"Result of call {index + 1}."))
        await call.complete(content=[text], raw_output={"index": index})
