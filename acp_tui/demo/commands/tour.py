"""`/tour`: one turn that shows most of what a coding agent does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.demo.commands.slash_command import slash_command
from acp_tui.demo.project.job import OWN_FILE, Job, choose_job
from acp_tui.demo.tools.files import edit_file, read_file
from acp_tui.demo.tools.run_command import run_command

if TYPE_CHECKING:
    from acp_tui.demo.tools.run_command import CommandResult
    from acp_tui.demo.turn import Turn

STEPS = ("Look around", "Read a file", "Edit a file", "Run a command", "Summarize")

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""The environment variable that keeps Python from leaving a `__pycache__` in the folder."""


@slash_command("tour", "A typical turn: thoughts, a plan, a file read, an edit, a command and a summary")
async def tour(turn: Turn) -> None:
    """Think, plan, read a file, edit one, run a command and sum up."""
    job = choose_job(turn.cwd, turn.stored.settings.delay * 10)
    await turn.say(_WELCOME if job.is_sample else _WELCOME_ELSEWHERE)
    await turn.send_plan(STEPS, 0)
    await turn.think(_THOUGHT if job.is_sample else _THOUGHT_ELSEWHERE)
    await turn.send_plan(STEPS, 1)
    text = await read_file(turn, job.file_to_read) if job.file_to_read else None
    await turn.send_plan(STEPS, 2)
    edited = await _edit(turn, job, text)
    await turn.send_plan(STEPS, 3)
    ended = await run_command(turn, job.command, title=_title(job), env=NO_BYTECODE)
    await turn.send_plan(STEPS, 4)
    await turn.say(_summary(job, text is not None, edited, ended) + _next(turn))
    await turn.send_plan(STEPS, len(STEPS))


async def _edit(turn: Turn, job: Job, text: str | None) -> bool:
    if job.fixes_bug and text is None:
        await turn.say("I could not read the file, so I left it unchanged.\n")
        return False
    if job.fixes_bug:
        await turn.think("The discount is in percent, so it must be divided by 100. That is the bug.")
        return await edit_file(turn, job.target, text, job.edited_text(text))
    await turn.say(_ALREADY_FIXED if job.is_sample else _ONE_FILE)
    return await edit_target(turn, job)


async def edit_target(turn: Turn, job: Job) -> bool:
    """Read and edit the target of a job. Returns True if the target was edited."""
    old = None
    if job.target.is_file():
        old = await read_file(turn, job.target)
        if old is None:  # do not overwrite what cannot be read
            return False
    return await edit_file(turn, job.target, old, job.edited_text(old))


def _title(job: Job) -> str:
    return "Run the tests in colour" if job.is_sample else "Print something colourful"


def _summary(job: Job, read: bool, edited: bool, ended: CommandResult | None) -> str:
    rows = (
        ("Read", job.file_to_read.name if job.file_to_read else "nothing to read here", read),
        ("Edited", job.target.name, edited),
        ("Ran", _title(job).lower(), ended is not None and ended.succeeded),
    )
    table = "\n".join(
        f"| {what} | `{subject}` | {'✅ yes' if done else '❌ no'} |" for what, subject, done in rows
    )
    lines = [f"## What happened\n\n| Step | What | Done |\n|---|---|:---:|\n{table}\n"]
    if job.fixes_bug and edited:
        lines.append(_FIXED)
    elif job.fixes_bug:
        lines.append("The bug is still there, so two tests fail.\n")
    return "\n".join(lines)


def _next(turn: Turn) -> str:
    """Return a text that suggests commands to try next, among those that the client supports."""
    questions = "`/permission` and `/elicit`" if turn.capabilities.elicitation else "`/permission`"
    return _NEXT.format(questions=questions)


_WELCOME = """\
Welcome! I am a **script**, not a language model: everything I say was written in advance. \
The actions are real: I read, edit and run files in a scratch copy of a small project.
"""

_WELCOME_ELSEWHERE = f"""\
Welcome! I am a **script**, not a language model: everything I say was written in advance. \
This folder is not my sample project, so I read at most one file, offer to write \
`{OWN_FILE}`, and run a command that only prints something.
"""

_ONE_FILE = f"I only ever write one file here, `{OWN_FILE}`, and only if you agree.\n"

_ALREADY_FIXED = f"The bug is already fixed, so I offer to write a line into `{OWN_FILE}` instead.\n"

_THOUGHT = """\
The README mentions a shopping basket with a bug. With a discount of 10 percent, 250 cents should become \
225. I will check how `total` uses the discount, change one line and run the tests.
"""

_THOUGHT_ELSEWHERE = """\
A real agent would now search this folder for the code that the prompt is about. \
I will only read one file that most projects have, such as the README, if there is one.
"""

_FIXED = """\
The fix is one line. The discount is a percentage, but the code used it as a factor:

```python
def total(self):
    \"\"\"Return the total price, less the discount.\"\"\"
    total = sum(price * quantity for _, price, quantity in self.items)
    return total - total * self.discount / 100
```
"""

_NEXT = """
Try next:

1. {questions}: questions an agent can ask you
2. `/mcp`: the tools of an MCP server
3. `/escape` and `/crash`: situations a client must survive
4. `/help`: all commands

In acp-tui, `Ctrl+T` opens a new tab, `F4` lists the sessions and `Alt+C` shows the usage.
"""
