"""Slash commands that show what an agent does in a turn: the tour, plans, tool calls, subagents, MCP."""

from __future__ import annotations

import asyncio
import json
import shlex
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from acp import schema, tool_diff_content

from acp_tui.demo.sample_project import COLOUR_COMMAND, OWN_FILE, Job, choose_job
from acp_tui.demo.tools import CommandResult, edit_file, read_file, run_command
from acp_tui.demo.turn import ToolCall, Turn, slash_command, standard_options, text_content

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import ElicitRequestParams, ElicitResult

    from acp_tui.demo.mcp_client import McpConnection, McpServer

# ------------------------------------------------------------------ tour

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
    questions = "`/permission` and `/elicit`" if turn.capabilities.elicitation else "`/permission`"
    await turn.say(_summary(job, text is not None, edited, ended) + _NEXT.format(questions=questions))
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


# ------------------------------------------------------------------ plan

PLAN_STEPS = ("Understand the task", "Find the code", "Change it", "Test the change", "Document it")


@slash_command(
    "plan", "A plan that progresses, an empty plan, or plans from the unstable schema", "[clear|kinds]"
)
async def plan(turn: Turn) -> None:
    """Send the plan before the first step and after each; each update contains the whole plan."""
    if turn.argument == "clear":
        await turn.send_plan((), 0)
        await turn.say("I sent an empty plan; your client should now show none.")
        return
    if turn.argument == "kinds":
        await _send_unstable_kinds(turn)
        return
    for done in range(len(PLAN_STEPS) + 1):
        await turn.send_plan(PLAN_STEPS, done)
    await turn.say("Five steps in six updates, each with the whole plan.")


async def _send_unstable_kinds(turn: Turn) -> None:
    """Send plans with ids. Such plans are only allowed if the client advertises `plan`."""
    if turn.capabilities.plan is None:
        await turn.say("Your client does not advertise `plan`, so I cannot send plans with ids.")
        return
    entries = [{"content": "A plan with an id", "priority": "high", "status": "in_progress"}]
    for plan in (
        {"type": "items", "planId": "demo-items", "entries": entries},
        {"type": "markdown", "planId": "demo-markdown", "content": "# A plan\n\n- in *Markdown*\n"},
        {"type": "file", "planId": "demo-file", "uri": (turn.cwd / "PLAN.md").as_uri()},
    ):
        await turn.send_raw_update("plan_update", plan=plan)
        await turn.pause(20)
    await turn.send_raw_update("plan_removed", planId="demo-items")
    await turn.say("I sent three plans of different kinds and removed the first one.")


# ------------------------------------------------------------------ tool calls


@slash_command("read", "Read a file; without a path, the one that /tour reads", "[path] [line] [limit]")
async def read(turn: Turn) -> None:
    """Read a file, through the client if it can. The tool call shows the error if the file is unreadable."""
    try:
        words = shlex.split(turn.argument)
    except ValueError:  # probably an apostrophe in a file name
        words = turn.argument.split()
    path = turn.cwd / words[0] if words else choose_job(turn.cwd, 0).file_to_read
    if path is None:
        await turn.say("I found no README or similar file here. Give me a path: `/read PATH`.")
        return
    numbers = [int(word) if word.isascii() and word.isdigit() else 0 for word in words[1:3]]
    line, limit = [min(number, 1_000_000_000) or None for number in (*numbers, 0, 0)][:2]
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
    diffs = {
        "new.py": ('print("a new file")\n', None),
        "changed.py": ("one\n2\nthree\n", "one\ntwo\nthree\n"),
        "emptied.txt": ("", "all of this\ngoes away\n"),
        "newline.txt": ("no newline at the end", "no newline at the end\n"),
        "wide.txt": ("漢字とかな 🎉\n", "kanji and kana\n"),
        "long.txt": ("".join(changed), "".join(long)),
    }
    content = [tool_diff_content(str(turn.cwd / name), new, old) for name, (new, old) in diffs.items()]
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


_KINDS: tuple[schema.ToolKind | None, ...] = (
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", None,
)  # fmt: skip


@slash_command("tools", "Concurrent tool calls of every kind", "[count]")
async def tools(turn: Turn) -> None:
    """Send tool calls that run concurrently. They only pretend to do something."""
    count = turn.number(len(_KINDS), maximum=200)
    async with asyncio.TaskGroup() as tasks:
        for index in range(count):
            tasks.create_task(_pretend(turn, index))
    await turn.say(f"{count} tool calls, of which every fourth failed. Nothing was really done.")


async def _pretend(turn: Turn, index: int) -> None:
    kind = _KINDS[index % len(_KINDS)]
    call = ToolCall(
        turn,
        f"Pretend to {(kind or 'do something without a kind').replace('_', ' ')}",
        kind,
        path=turn.cwd / "nowhere.txt" if kind in ("read", "edit", "delete", "move") else None,
        line=index + 1,
        raw_input={"index": index, "pretend": True},
    )
    await call.start()
    await call.update(status="in_progress")
    await turn.pause(10 + index * 3)
    if index % 4 == 3:
        await call.fail("This call fails on purpose.")
    else:
        text = text_content(f"Result of call {index + 1}.")
        await call.complete(content=[text], raw_output={"index": index})


# ------------------------------------------------------------------ subagents

FILES = ("README.md", "colours.py", "tests/test_colours.py")
CHECKS = ("formatting", "types", "unit tests", "packaging")
COMMAND = "make check"


@slash_command("subagents", "Two subagents at once: one asks for permission and can be stopped")
async def subagents(turn: Turn) -> None:
    """Start two subagents and wait for the first one. The second one can outlast the turn."""
    if turn.client_capabilities.get("subagents") is None:
        await turn.say("Your client does not advertise `subagents`, so I cannot show any subagents.")
        return
    await turn.say("I start two subagents: one reads the project, the other one runs the checks.")
    reader, tester = Subagent(turn), Subagent(turn)
    task = "Read the project and tell me what it is about."
    await reader.start("Read the project", "explorer", task, can_cancel=False)
    turn.session.run_subagent(tester.session_id, run_checks(tester))
    await turn.session.run_subagent(reader.session_id, read_project(reader))
    await turn.say("The first subagent is done. The second one continues in the background.")


class Subagent:
    """Sends the updates of one subagent, and stores them, so that a replay shows them."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.session_id = f"{turn.session_id}-{uuid.uuid4().hex[:8]}"

    async def start(self, title: str, description: str, task: str, *, can_cancel: bool) -> None:
        """Announce the subagent to the client, and send the subagent its task."""
        capabilities: dict[str, Any] = {"cancel": {}} if can_cancel else {}
        await self.set_state("running", title=title, description=description, capabilities=capabilities)
        await self._send_message(task, self.turn.session_id, self.session_id)

    async def set_state(self, state: str, stop_reason: str | None = None, **description: Any) -> None:
        """Send the state of the subagent, as an update of the main session."""
        end = {"stopReason": stop_reason} if stop_reason else {}
        update = {"sessionId": self.session_id, **description, "state": {"state": state, **end}}
        await self._send(self.turn.session_id, "subagent_update", update)

    async def finish(self, answer: str) -> None:
        """Send the subagent's answer to the main agent, and set the subagent's state to idle."""
        await self.send("agent_message_chunk", content={"type": "text", "text": answer})
        await self._send_message(answer, self.session_id, self.turn.session_id)
        await self.set_state("idle", "end_turn")

    async def send(self, kind: str, /, **update: Any) -> None:
        """Send an update of the subagent's own session."""
        await self._send(self.session_id, kind, update)

    async def _send_message(self, text: str, sender: str, recipient: str) -> None:
        message = {
            "senderSessionId": sender,
            "recipientSessionId": recipient,
            "messageId": uuid.uuid4().hex,
            "content": [{"type": "text", "text": text}],
        }
        for session_id in (self.turn.session_id, self.session_id):
            await self._send(session_id, "session_message", message)

    async def _send(self, session_id: str, kind: str, update: dict[str, Any]) -> None:
        params = {"sessionId": session_id, "update": {"sessionUpdate": kind, **update}}
        self.turn.stored.history.add_raw(params)
        await self.turn.wire.notify("session/update", params)


async def read_project(reader: Subagent) -> None:
    """Pretend to read the files in `FILES` one by one, without asking for permission."""
    for name in FILES:
        call = {"toolCallId": f"read {name}", "title": f"Read {name}", "kind": "read"}
        await reader.send("tool_call", status="in_progress", **call)
        await reader.turn.pause(25)
        await reader.send("tool_call_update", toolCallId=call["toolCallId"], status="completed")
    await reader.finish("It is a small *Python* project about colours, with a test.")


async def run_checks(tester: Subagent) -> None:
    """Pretend to run `COMMAND` if the user allows it. The client can cancel the subagent meanwhile."""
    call = {"toolCallId": "checks", "title": COMMAND, "kind": "execute", "rawInput": {"command": COMMAND}}
    try:  # once it is announced, the client can cancel it at any moment
        task = "Run all checks and report what fails."
        await tester.start("Run the checks", "tester", task, can_cancel=True)
        await tester.send("tool_call", status="pending", **call)
        if not await _is_allowed(tester, call):
            await tester.send("tool_call_update", toolCallId="checks", status="failed")
            await tester.finish("I was not allowed to run the checks.")
            return
        lines: list[str] = []
        for check in CHECKS:
            lines.append(f"{check} … ok")
            content = [{"type": "content", "content": {"type": "text", "text": "\n".join(lines)}}]
            await tester.send("tool_call_update", toolCallId="checks", status="in_progress", content=content)
            await tester.turn.pause(60)
        await tester.send("tool_call_update", toolCallId="checks", status="completed")
        await tester.finish(f"All {len(CHECKS)} checks passed.")
    except asyncio.CancelledError:
        await tester.send("tool_call_update", toolCallId="checks", status="failed")
        await tester.set_state("idle", "cancelled")
    else:
        await tester.turn.say("The second subagent is done, too: the checks passed.")


async def _is_allowed(tester: Subagent, call: dict[str, Any]) -> bool:
    await tester.set_state("requires_action")
    content = [text_content("Checks formatting, types and tests.")]
    asked = schema.ToolCallUpdate.model_validate({**call, "status": "pending", "content": content})
    options = standard_options("execute")
    answer = await tester.turn.client.request_permission(tester.session_id, asked, options)
    await tester.set_state("running")
    outcome = answer.outcome
    return isinstance(outcome, schema.AllowedOutcome) and outcome.option_id.startswith("allow")


# ------------------------------------------------------------------ MCP servers

USAGE = "Call a tool with its name and a JSON object: `/mcp call TOOL {…}`."


@slash_command(
    "mcp", "List the MCP servers that the client sent, with their tools, or call a tool", "[call TOOL JSON]"
)
async def mcp(turn: Turn) -> None:
    """Connect to the MCP servers, which other agents do when a session starts, and list or call tools."""
    if not turn.session.mcp_servers:
        await turn.say("Your client sent no MCP servers.")
        return
    word, _, rest = turn.argument.partition(" ")
    if word == "call":
        await _call(turn, rest)
        return
    if turn.argument:
        await turn.say(USAGE)
        return
    await turn.say("Your client sent these MCP servers:\n\n")
    for connection in _connections(turn):
        await turn.say(f"- {_describe(connection.server)}\n{await _offers(connection)}", chunking="line")
    await turn.say(f"\n{USAGE}\n")


def _connections(turn: Turn) -> list[McpConnection]:
    """Return the connections to the servers, whose questions will be passed on to the user."""
    # The MCP SDK takes a second to load.
    from acp_tui.demo.mcp_client import McpConnection

    session = turn.session
    if not session.mcp_connections:
        session.mcp_connections = {server.name: McpConnection(server) for server in session.mcp_servers}
    for connection in session.mcp_connections.values():
        connection.ask_user = partial(_pass_on_question, turn)
    return list(session.mcp_connections.values())


def tool_name(server: str, tool: str) -> str:
    """Return the name under which agents offer the tool of a server to their model."""
    return f"mcp__{server}__{tool}"


def _describe(server: McpServer) -> str:
    """Describe a server. Values of environment variables and headers may be secret and are not shown."""
    if isinstance(server, schema.McpServerStdio):
        secrets = [variable.name for variable in server.env]
        where = " ".join((server.command, *server.args))
    else:
        secrets = [header.name for header in getattr(server, "headers", [])]
        where = f"{server.type} {getattr(server, 'url', '')}".strip()
    return f"**{server.name}**: `{where}`" + (f" with {', '.join(secrets)}" if secrets else "")


async def _offers(connection: McpConnection) -> str:
    """Return lines with the tools, prompts and resources of a server, or one line with the error."""
    try:
        lines = await connection.read(partial(_list, server=connection.server.name))
    except ConnectionError as error:
        lines = [f"not connected: {error}"]
    return "".join(f"  - {line}\n" for line in lines)


async def _list(client: Client, server: str) -> list[str]:
    offered = client.server_capabilities
    lines = [f"connected, MCP {client.protocol_version}"]
    if offered.tools:
        for tool in (await client.list_tools()).tools:
            parameters = ", ".join(tool.input_schema.get("properties", {}))
            lines.append(f"tool `{tool_name(server, tool.name)}`({parameters})")
    if offered.prompts:
        lines += [f"prompt `{prompt.name}`" for prompt in (await client.list_prompts()).prompts]
    if offered.resources:
        lines += [f"resource `{resource.uri}`" for resource in (await client.list_resources()).resources]
    return lines


async def _call(turn: Turn, text: str) -> None:
    """Call a tool, given as `TOOL JSON`. The client gets a tool call with a permission request."""
    name, _, rest = text.strip().partition(" ")
    try:
        arguments = json.loads(rest) if rest.strip() else {}
    except ValueError:
        arguments = None
    if not name or not isinstance(arguments, dict):
        await turn.say(USAGE)
        return
    found = await _find(turn, name)
    if found is None:
        await turn.say(f"None of the servers has a tool `{name}`. `/mcp` lists the tools.")
        return
    connection, tool = found
    call = ToolCall(turn, tool_name(connection.server.name, tool), "other", raw_input=arguments)
    if await call.start_if_allowed():
        await _run(turn, call, connection, tool, arguments)


async def _find(turn: Turn, name: str) -> tuple[McpConnection, str] | None:
    """Return the connection and the tool for a tool name, given with or without the server's name."""
    for connection in _connections(turn):
        try:
            tools = (await connection.read(lambda client: client.list_tools())).tools
        except ConnectionError:
            continue
        for tool in tools:
            if name in (tool.name, tool_name(connection.server.name, tool.name)):
                return connection, tool.name
    return None


async def _run(
    turn: Turn, call: ToolCall, connection: McpConnection, tool: str, arguments: dict[str, Any]
) -> None:
    async def show_progress(progress: float, total: float | None, message: str | None) -> None:
        text = message or f"{progress:g}" + (f" of {total:g}" if total else "")
        await call.update(content=[text_content(text)])

    try:
        result = await connection.call(tool, arguments, show_progress)
    except ConnectionError as error:
        await call.fail(f"The MCP server {connection.server.name} failed: {error}")
        return
    # Both protocols have the same content blocks.
    blocks = [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content]
    content = [
        schema.ContentToolCallContent.model_validate({"type": "content", "content": block})
        for block in blocks
    ]
    status = "failed" if result.is_error else "completed"
    await call.update(status=status, content=content, raw_output=result.structured_content)
    text = " ".join(block.text for block in result.content if block.type == "text")
    await turn.say(f"The tool {'reported an error' if result.is_error else 'answered'}: {text}")


async def _pass_on_question(turn: Turn, server: str, question: ElicitRequestParams) -> ElicitResult:
    """Ask the user what a server asks. Decline if the client does not support this kind of question."""
    from mcp_types import ElicitRequestFormParams, ElicitResult

    message = f"The MCP server {server} asks: {question.message}"
    is_form = isinstance(question, ElicitRequestFormParams)
    if not turn.can_elicit("form" if is_form else "url"):
        return ElicitResult(action="decline")
    if isinstance(question, ElicitRequestFormParams):
        answer = await turn.elicit_form(message, question.requested_schema)
    else:
        answer = await turn.elicit_visit(message, question.url, question.elicitation_id or "mcp")
    content = answer.content if isinstance(answer, schema.AcceptElicitationResponse) else None
    return ElicitResult.model_validate({"action": answer.action, "content": content})
