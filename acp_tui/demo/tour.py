"""The tour: one turn that shows most of what a coding agent does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.demo import files, processes
from acp_tui.demo.project import OWN_FILE, Job, plan_job

if TYPE_CHECKING:
    from acp_tui.demo.processes import CommandResult
    from acp_tui.demo.turn import Turn

STEPS = ("Look around", "Read a file", "Make one edit", "Run a command", "Sum up")

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Keeps Python from leaving a `__pycache__` in the folder."""


async def tour(turn: Turn) -> None:
    """Think, plan, read a file, edit one, run a command and sum up."""
    job = plan_job(turn.cwd, turn.stored.settings.delay * 10)
    await turn.say(_WELCOME if job.sample else _WELCOME_ELSEWHERE)
    await turn.plan(STEPS, 0)
    await turn.think(_THOUGHT if job.sample else _THOUGHT_ELSEWHERE)
    await turn.plan(STEPS, 1)
    text = await files.read(turn, job.file_to_read) if job.file_to_read else None
    await turn.plan(STEPS, 2)
    edited = await _edit(turn, job, text)
    await turn.plan(STEPS, 3)
    ended = await processes.run(turn, job.command, title=_title(job), env=NO_BYTECODE)
    await turn.plan(STEPS, 4)
    await turn.say(_summary(job, text is not None, edited, ended) + _next(turn))
    await turn.plan(STEPS, len(STEPS))


async def _edit(turn: Turn, job: Job, text: str | None) -> bool:
    if job.fixes_bug and text is None:
        await turn.say("I could not read the file, so I leave it alone.\n")
        return False
    if job.fixes_bug:
        await turn.think("A discount in percent has to be divided by 100. That is the whole bug.")
        return await files.edit(turn, job.target, text, job.changed(text))
    await turn.say(_REPAIRED_BEFORE if job.sample else _ONE_FILE)
    return await edit_target(turn, job)


async def edit_target(turn: Turn, job: Job) -> bool:
    """Read and edit the target of a job. Returns True if it was edited."""
    old = None
    if job.target.is_file():
        old = await files.read(turn, job.target)
        if old is None:  # do not overwrite what cannot be read
            return False
    return await files.edit(turn, job.target, old, job.changed(old))


def _title(job: Job) -> str:
    return "Run the tests in colour" if job.sample else "Print something colourful"


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
        lines.append(_REPAIRED)
    elif job.fixes_bug:
        lines.append("The bug is still there, so two tests keep failing.\n")
    return "\n".join(lines)


def _next(turn: Turn) -> str:
    """Suggest commands that this client supports."""
    asks = "`/permission` and `/elicit`" if turn.capabilities.elicitation else "`/permission`"
    return _NEXT.format(asks=asks)


_WELCOME = """\
Welcome! I am a **script**, not a language model: everything I say was written in advance. \
The actions are real: I read, edit and run files in a scratch copy of a small project.
"""

_WELCOME_ELSEWHERE = f"""\
Welcome! I am a **script**, not a language model: everything I say was written in advance. \
This folder is not my sample project, so I only read one file, offer to write \
`{OWN_FILE}`, and run a command that prints.
"""

_ONE_FILE = f"I only ever write one file here, `{OWN_FILE}`, and only if you agree.\n"

_REPAIRED_BEFORE = f"The bug is already fixed, so I offer to write a line into `{OWN_FILE}` instead.\n"

_THOUGHT = """\
The README mentions a shopping basket with a bug. With a discount of 10 percent, 250 cents should become \
225. I will check how `total` uses the discount, change one line and run the tests.
"""

_THOUGHT_ELSEWHERE = """\
A real agent would now search this folder for the code that the prompt is about. \
I just read the first file that most projects have.
"""

_REPAIRED = """\
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

1. {asks}: questions an agent can ask you
2. `/escape` and `/crash`: things a client must survive
3. `/help`: everything else
"""
