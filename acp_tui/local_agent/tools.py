"""The tools: what the model can call, what the client shows of it, and when the user is asked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import RequestError, schema
from acp.helpers import text_block, tool_content, tool_diff_content, tool_terminal_ref

from acp_tui.local_agent.profile import CallRequest, ToolResult, ToolSpec
from acp_tui.local_agent.workspace import ToolError, Workspace

if TYPE_CHECKING:
    from acp import Client

    from acp_tui.local_agent.mcp_servers import McpServers
    from acp_tui.local_agent.updates import Updates

MAX_LINES = 800
DEFAULT_TIMEOUT = 120
MAX_TIMEOUT = 3600


def _spec(name: str, description: str, required: Sequence[str], **properties: Any) -> ToolSpec:
    """Return a tool. A property that is only described is a text."""
    for key, each in properties.items():
        if isinstance(each, str):
            properties[key] = {"type": "string", "description": each}
    return ToolSpec(
        name, description, {"type": "object", "properties": properties, "required": list(required)}
    )


def _number(description: str) -> dict[str, str]:
    return {"type": "integer", "description": description}


_PLAN_ENTRY = {
    "type": "object",
    "properties": {
        "content": {"type": "string"},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
    },
    "required": ["content", "status"],
}
_SPECS = [
    _spec("read", "Read a text file. Returns numbered lines.", ["path"], path="the file",
          line=_number("first line, from 1"), limit=_number(f"number of lines, {MAX_LINES} at most")),
    _spec("list", "List a folder, or all files below it that match a glob.", [], path="the folder",
          glob="such as **/*.py"),
    _spec("search", "Search files for a POSIX extended regular expression.", ["pattern"],
          pattern="the expression", path="a file or folder", glob="only these files"),
    _spec("edit", "Replace a text in a file. The old text must occur exactly once.", ["path", "old", "new"],
          path="the file", old="the text with its line breaks, without line numbers", new="what replaces it"),
    _spec("write", "Write a whole file, new or existing.", ["path", "content"], path="the file",
          content="the whole text"),
    _spec("run", "Run a command line in a shell. It gets no input.", ["command"], command="the command line",
          timeout=_number(f"seconds, by default {DEFAULT_TIMEOUT}")),
    _spec("plan", "Write down the whole plan with the state of each step.", ["entries"],
          entries={"type": "array", "items": _PLAN_ENTRY}),
    _spec("ask", "Ask the user a question.", ["question"], question="the question",
          options={"type": "array", "items": {"type": "string"}, "description": "answers to choose from"}),
]  # fmt: skip
_KINDS: dict[str, schema.ToolKind] = {
    "read": "read", "list": "search", "search": "search", "edit": "edit", "write": "edit", "run": "execute",
    "plan": "think", "ask": "other",
}  # fmt: skip
_READING = ("read", "list", "search", "plan", "ask")


class Toolbox:
    """The tools of one session. `mode` returns the current mode: `ask`, `plan` or `auto`."""

    def __init__(
        self,
        client: Client,
        session_id: str,
        folders: Sequence[Path],
        capabilities: schema.ClientCapabilities,
        updates: Updates,
        mode: Callable[[], str],
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._workspace = Workspace(client, session_id, folders, capabilities)
        self._updates = updates
        self._mode = mode
        self._can_ask = capabilities.elicitation is not None and capabilities.elicitation.form is not None
        self._always: set[str] = set()
        self._terminal_calls: set[str] = set()  # whose output the client shows in a terminal
        self.mcp: McpServers | None = None

    def specs(self) -> list[ToolSpec]:
        """Return the tools that the model can call now."""
        specs = [spec for spec in _SPECS if spec.name != "ask" or self._can_ask]
        if self._mode() == "plan":
            return [spec for spec in specs if spec.name in _READING]
        return specs + (self.mcp.specs() if self.mcp is not None else [])

    def begin(self, call_id: str, name: str) -> None:
        """Show a call whose arguments are still being written."""
        self._updates.call(call_id, name or "unknown tool", kind=_KINDS.get(name, "other"))

    async def run(self, call: CallRequest) -> ToolResult:
        """Ask if necessary, carry out the call, and report it. Raises nothing but `CancelledError`."""
        try:
            result = await self._dispatch(call)
        except ToolError as error:
            result = ToolResult(str(error), is_error=True)
        except (RequestError, ValueError, OSError) as error:
            result = ToolResult(f"{call.name} failed: {error}", is_error=True)
        shows_diff = call.name in ("edit", "write") and not result.is_error
        in_terminal = call.id in self._terminal_calls
        content = None if shows_diff or in_terminal else [tool_content(text_block(result.text))]
        output = result.text if in_terminal else None  # for a replay, when the terminal no longer exists
        status: schema.ToolCallStatus = "failed" if result.is_error else "completed"
        self._updates.call_update(call.id, status=status, content=content, raw_output=output)
        return result

    async def _dispatch(self, call: CallRequest) -> ToolResult:
        if self._mode() == "plan" and call.name not in _READING:
            raise ToolError("Nothing can be changed or run in plan mode.")
        runners = {
            "read": self._read, "list": self._list, "search": self._search, "edit": self._edit,
            "write": self._write, "run": self._run, "plan": self._plan, "ask": self._ask_user,
        }  # fmt: skip
        runner = runners.get(call.name)
        return await self._run_mcp(call) if runner is None else ToolResult(await runner(call))

    async def _run_mcp(self, call: CallRequest) -> ToolResult:
        if self.mcp is None or all(spec.name != call.name for spec in self.mcp.specs()):
            raise ToolError(f"There is no tool {call.name!r}.")
        shown = {"title": self.mcp.title(call.name), "kind": "other", "raw_input": call.arguments}
        await self._ask_permission(call, shown, f"mcp {call.name}", "this tool")
        return await self.mcp.call(call.name, call.arguments)

    # ------------------------------------------------------------------ reading

    async def _read(self, call: CallRequest) -> str:
        path, first = self._path(call), max(1, _integer(call, "line", 1))
        limit = min(MAX_LINES, max(1, _integer(call, "limit", MAX_LINES)))
        self._show(call, f"Read {path}", path, line=first)
        lines = (await self._workspace.read(path)).splitlines()
        shown = lines[first - 1 : first - 1 + limit]
        numbered = "\n".join(f"{first + index:>6}\t{line}" for index, line in enumerate(shown))
        end = first - 1 + len(shown)
        if end < len(lines):
            numbered += f"\n[{len(lines)} lines in all; go on with line {end + 1}]"
        return numbered or f"[no lines from line {first}; the file has {len(lines)}]"

    async def _list(self, call: CallRequest) -> str:
        path, glob = self._path(call, "."), _string(call, "glob", "")
        self._show(call, f"List {glob or path}", path)
        return await self._workspace.list_files(path, glob)

    async def _search(self, call: CallRequest) -> str:
        path, pattern, glob = self._path(call, "."), _string(call, "pattern"), _string(call, "glob", "")
        self._show(call, f"Search for {pattern}", path)
        return await self._workspace.search(path, pattern, glob)

    # ------------------------------------------------------------------ writing

    async def _edit(self, call: CallRequest) -> str:
        path, old, new = self._path(call), _string(call, "old"), _string(call, "new")
        self._show(call, f"Edit {path}", path)
        text = await self._workspace.read(path)
        if "\r\n" in text and "\r\n" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
        if not old or text.count(old) != 1:
            raise ToolError(_edit_error(path, text, old))
        return await self._change(call, path, text, text.replace(old, new))

    async def _write(self, call: CallRequest) -> str:
        path, content = self._path(call), _string(call, "content")
        self._show(call, f"Write {path}", path)
        before = await self._text_now(path)
        return await self._change(call, path, before, content)

    async def _change(self, call: CallRequest, path: Path, before: str | None, after: str) -> str:
        workspace = self._workspace
        inside = workspace.contains(path)
        if not workspace.client_writes:
            workspace.require_inside(path)
        shown = {
            "title": f"{call.name.capitalize()} {path}",
            "kind": "edit",
            "content": [tool_diff_content(str(path), after, before)],
            "locations": [schema.ToolCallLocation(path=str(path))],
        }
        key, always = (
            ("edit", "all edits in the workspace") if inside else (f"edit {path}", "edits of this file")
        )
        await self._ask_permission(call, shown, key, always, is_free=inside and workspace.client_writes)
        if await self._text_now(path) != before:  # the user may have taken a long time to decide
            raise ToolError(f"{path} has changed since it was read. Read it again.")
        await workspace.write(path, after)
        return f"{path} was written."

    async def _text_now(self, path: Path) -> str | None:
        return await self._workspace.read(path) if path.exists() else None

    # ------------------------------------------------------------------ commands, plan and questions

    async def _run(self, call: CallRequest) -> str:
        command = _string(call, "command")
        timeout = min(MAX_TIMEOUT, max(1, _integer(call, "timeout", DEFAULT_TIMEOUT)))
        raw = {"command": command, "cwd": str(self._workspace.cwd), "timeout": timeout}
        shown = {"title": command, "kind": "execute", "raw_input": raw}
        is_free = self._workspace.client_runs
        await self._ask_permission(call, shown, f"run {command}", "this command", is_free=is_free)

        def show(terminal: str) -> None:
            self._terminal_calls.add(call.id)
            self._updates.call_update(call.id, content=[tool_terminal_ref(terminal)])

        output, code = await self._workspace.run(command, timeout, show)
        end = f"Exit code: {code}" if code is not None else f"Stopped, at the latest after {timeout} seconds"
        text = f"{output.rstrip()}\n[{end}]".lstrip()
        if code != 0:
            raise ToolError(text)
        return text

    async def _plan(self, call: CallRequest) -> str:
        steps = call.arguments.get("entries")
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise ToolError("entries must be a list of objects with content and status.")
        self._updates.plan(
            [schema.PlanEntry.model_validate({"priority": "medium", **step}) for step in steps]
        )
        self._updates.call_update(call.id, title="Update the plan")
        return "The plan is shown to the user."

    async def _ask_user(self, call: CallRequest) -> str:
        question, options = _string(call, "question"), call.arguments.get("options")
        field: dict[str, Any] = {"type": "string", "title": "Answer"}
        if isinstance(options, list) and options:
            field["enum"] = list(dict.fromkeys(map(str, options)))
        self._updates.call_update(call.id, title=question)
        wanted = {"type": "object", "properties": {"answer": field}, "required": ["answer"]}
        form = schema.ElicitationFormSessionMode.model_validate(
            {"sessionId": self._session_id, "requestedSchema": wanted}
        )
        answer = await self._client.create_elicitation(question, form)
        if not isinstance(answer, schema.AcceptElicitationResponse):
            return "The user did not answer."
        content = answer.model_dump(mode="json").get("content") or {}
        return f"The user answers: {content.get('answer')}"

    # ------------------------------------------------------------------ permission and display

    async def _ask_permission(
        self, call: CallRequest, shown: dict[str, Any], key: str, always: str, *, is_free: bool = False
    ) -> None:
        """Ask the user, unless the mode or an earlier answer allows the call. Raises `ToolError`.

        Args:
            shown: The title, kind and so on of the call, by which the user decides.
            key: What “always” allows for the rest of the session.
            always: The same in words.
            is_free: True if the mode `auto` allows the call.
        """
        self._updates.call_update(call.id, **shown)
        if not (is_free and self._mode() == "auto") and key not in self._always:
            kinds: dict[schema.PermissionOptionKind, str] = {
                "allow_once": "Allow",
                "allow_always": f"Always allow {always}",
                "reject_once": "Reject",
            }
            options = [
                schema.PermissionOption(option_id=kind, name=name, kind=kind) for kind, name in kinds.items()
            ]
            question = schema.ToolCallUpdate(tool_call_id=call.id, status="pending", **shown)
            answer = await self._client.request_permission(self._session_id, question, options)
            chosen = getattr(answer.outcome, "option_id", None)
            if chosen not in ("allow_once", "allow_always"):
                raise ToolError("The user has rejected this call.")
            if chosen == "allow_always":
                self._always.add(key)
        self._updates.call_update(call.id, status="in_progress")

    def _show(self, call: CallRequest, title: str, path: Path, line: int | None = None) -> None:
        place = schema.ToolCallLocation(path=str(path), line=line)
        self._updates.call_update(call.id, title=title, locations=[place], raw_input=call.arguments)

    def _path(self, call: CallRequest, default: str | None = None) -> Path:
        return self._workspace.path(_string(call, "path", default))


def _string(call: CallRequest, name: str, default: str | None = None) -> str:
    value = call.arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolError(f"{call.name} needs {name}, a text.")
    return value


def _integer(call: CallRequest, name: str, default: int) -> int:
    value = call.arguments.get(name, default)
    return int(value) if isinstance(value, int | float) and abs(value) < 1e9 else default


def _edit_error(path: Path, text: str, old: str) -> str:
    """Return why an edit is not possible, with the lines that help to correct it."""
    if not old:
        return "old must not be empty. Use write for a new file."
    if old in text:
        starts = [match.start() for match in re.finditer(re.escape(old), text)][:10]
        places = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts)
        return f"The old text occurs more than once in {path}, at lines {places}. Add lines around it."
    lines = text.splitlines()[:20_000]
    near = difflib.get_close_matches(next(iter(old.strip().splitlines()), "")[:200], lines, 3, 0.6)
    shown = "\n".join(f"{lines.index(line) + 1:>6}\t{line}" for line in near)
    return f"The old text does not occur in {path}." + (f" The nearest lines:\n{shown}" if near else "")
