"""The tour: one turn that shows most of what a coding agent does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.demo import files, processes
from acp_tui.demo.project import OWN_FILE, Job, plan_job

if TYPE_CHECKING:
    from acp_tui.demo.processes import CommandResult
    from acp_tui.demo.turn import Turn

STEPS = ("Look around", "Read a file", "Make one edit", "Run a command", "Sum it up")

NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Running Python in a folder would otherwise leave `__pycache__` there."""


async def tour(turn: Turn) -> None:
    """Look, read, edit, run, tell."""
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
    """Make the edit of a job whose target was not read yet. Did it happen?"""
    old = None
    if job.target.is_file():
        old = await files.read(turn, job.target)
        if old is None:  # what cannot be read must not be overwritten
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
        lines.append("The bug is still there, so two tests go on failing.\n")
    return "\n".join(lines)


def _next(turn: Turn) -> str:
    """Recommended is only what the client can show."""
    asks = "`/permission` and `/elicit`" if turn.capabilities.elicitation else "`/permission`"
    return _NEXT.format(asks=asks)


_WELCOME = """\
Welcome! I am a **script**, not a language model: everything I say was written beforehand. \
What you see is real all the same. I read, edit and run in a scratch copy of a small project.
"""

_WELCOME_ELSEWHERE = f"""\
Welcome! I am a **script**, not a language model: everything I say was written beforehand. \
This folder is yours, not my sample project, so I only look at one file, offer to write \
`{OWN_FILE}`, and run a command that prints.
"""

_ONE_FILE = f"I only ever write one file here, `{OWN_FILE}`, and only if you agree.\n"

_REPAIRED_BEFORE = f"The bug is repaired already, so I offer to write a line into `{OWN_FILE}` instead.\n"

_THOUGHT = """\
The README speaks of a shopping basket with a bug. A discount of 10 percent on 250 cents should come \
to 225. I would look at how `total` uses the discount, then change one line and let the tests judge.
"""

_THOUGHT_ELSEWHERE = """\
A real agent would now search this folder for what the prompt is about. I have nothing to find out, \
so I take the first file that most projects have.
"""

_REPAIRED = """\
The repair is one line. The discount is a percentage, and the code took it for a factor:

```python
def total(self):
    \"\"\"What it all costs, with the discount.\"\"\"
    total = sum(price * quantity for _, price, quantity in self.items)
    return total - total * self.discount / 100
```
"""

_NEXT = """
Try next:

1. {asks}: what an agent may ask you
2. `/escape` and `/crash`: what a client must survive
3. `/help`: everything else
"""
