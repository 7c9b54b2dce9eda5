"""Commands that work on the project: plans, files, commands, tool calls."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from acp import text_block, tool_content, tool_diff_content

from acp_tui.demo import files, processes
from acp_tui.demo.commands.registry import number_argument, slash_command
from acp_tui.demo.project import COLOUR_DEMO, plan_job
from acp_tui.demo.tool_call import ToolCall
from acp_tui.demo.tour import edit_target

if TYPE_CHECKING:
    from acp.schema import ToolKind

    from acp_tui.demo.turn import Turn


@slash_command(
    "plan", "A plan that progresses step by step; or clear it, or the unstable kinds of plan", "[clear|kinds]"
)
async def plan(turn: Turn) -> None:
    """The protocol has no patches for plans: each update is the whole plan."""
    if turn.argument == "clear":
        await turn.plan((), 0)
        await turn.say("I sent an empty plan: nothing should be left of it.")
        return
    if turn.argument == "kinds":
        await _plan_kinds(turn)
        return
    steps = ("Understand the task", "Find the place", "Change it", "Check the change", "Write it down")
    for done in range(len(steps) + 1):
        await turn.plan(steps, done)
    await turn.say("Five steps, six updates, each with the whole plan.")


async def _plan_kinds(turn: Turn) -> None:
    """Plans with ids, which only clients that advertise them may get."""
    if turn.capabilities.plan is None:
        await turn.say("Your client does not advertise `plan`, so I must not send the unstable kinds.")
        return
    entries = [{"content": "A plan with an id", "priority": "high", "status": "in_progress"}]
    for plan in (
        {"type": "items", "planId": "demo-items", "entries": entries},
        {"type": "markdown", "planId": "demo-markdown", "content": "# A plan\n\n- in *Markdown*\n"},
        {"type": "file", "planId": "demo-file", "uri": (turn.cwd / "PLAN.md").as_uri()},
    ):
        await turn.update_raw({"sessionUpdate": "plan_update", "plan": plan})
        await turn.rest(20)
    await turn.update_raw({"sessionUpdate": "plan_removed", "planId": "demo-items"})
    await turn.say("I sent three plans of different kinds and took the first one back.")


@slash_command("read", "Read a file, or the one the tour reads", "[path] [line] [limit]")
async def read(turn: Turn) -> None:
    """Shows also what a client answers for a file that is missing or outside the folder."""
    try:
        words = shlex.split(turn.argument)
    except ValueError:  # an apostrophe in a name, most likely
        words = turn.argument.split()
    path = turn.cwd / words[0] if words else plan_job(turn.cwd, 0).file_to_read
    if path is None:
        await turn.say("There is nothing here that I would know how to read; name a file.")
        return
    line, limit = (number_argument(" ".join(words[at:]), 0, most=1_000_000_000) or None for at in (1, 2))
    text = await files.read(turn, path, line=line, limit=limit)
    if text is not None:
        await turn.say(f"I got {len(text.splitlines())} lines.")


@slash_command("edit", "An edit with a diff, behind a permission")
async def edit(turn: Turn) -> None:
    """In the sample project the bug; elsewhere only the demo's own file."""
    job = plan_job(turn.cwd, 0)
    done = await edit_target(turn, job)
    await turn.say(f"`{job.target.name}` {'is written' if done else 'is as it was'}.")


@slash_command("diff", "Diffs of every kind; nothing is written")
async def diff(turn: Turn) -> None:
    """New, changed, emptied, without a last newline, and a long one, all in one call."""
    long = [f"line {number_argument} of a file that is long\n" for number_argument in range(1, 201)]
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
    await call.done()
    await turn.say("These files do not exist; the diffs are only shown.")


@slash_command("terminal", "A command with live colours, or one of yours", "[command line]")
async def terminal(turn: Turn) -> None:
    """A command line is run by a shell, as typed, in the session's folder."""
    argv = (
        ["/bin/sh", "-c", turn.argument]
        if turn.argument
        else plan_job(turn.cwd, turn.stored.settings.delay * 10).command
    )
    await _report(turn, await processes.run(turn, argv, title=turn.argument or "A colourful command"))


@slash_command("fail", "A command that fails")
async def fail(turn: Turn) -> None:
    """Writes to both streams and ends with code 3."""
    await _report(turn, await processes.run(turn, [*COLOUR_DEMO, "--fail"], title="A command that fails"))


async def _report(turn: Turn, ended: processes.CommandResult | None) -> None:
    if ended is None:
        await turn.say("The command did not run.")
    elif ended.signal:
        await turn.say(f"It was ended by {ended.signal}.")
    else:
        await turn.say(f"It ended with exit code {ended.exit_code}; I read {len(ended.output)} characters.")


_KINDS: tuple[ToolKind | None, ...] = (
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", None,
)  # fmt: skip


@slash_command("tools", "Tool calls of every kind, at once, updating in place", "[how many]")
async def tools(turn: Turn) -> None:
    """Nothing is done: only the calls are shown."""
    count = number_argument(turn.argument, len(_KINDS), most=200)
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
    async with asyncio.TaskGroup() as together:
        for index, call in enumerate(calls):
            together.create_task(_pretend(turn, call, index))
    await turn.say(f"{count} calls, every fourth failed. Nothing was really done.")


async def _pretend(turn: Turn, call: ToolCall, index: int) -> None:
    await call.start()
    await call.go()
    await turn.rest(10 + index * 3)
    if index % 4 == 3:
        await call.fail("It was pretended that this fails.")
    else:
        text = tool_content(text_block(f"Result of call {index + 1}."))
        await call.done(content=[text], raw_output={"index": index})
