"""The tools: what the model can call, what the client shows of it, and when the user is asked."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import RequestError, schema
from acp.helpers import text_block, tool_content, tool_diff_content, tool_terminal_ref

from acp_tui.local_agent.profile import CallRequest, ToolResult, ToolSpec
from acp_tui.local_agent.workspace import Workspace, WorkspaceError

if TYPE_CHECKING:
    from acp import Client

    from acp_tui.local_agent.mcp_servers import McpServers
    from acp_tui.local_agent.updates import Updates

MAX_LINES = 800
DEFAULT_TIMEOUT = 120
MAX_TIMEOUT = 3600
_STATUSES: tuple[schema.PlanEntryStatus, ...] = ("pending", "in_progress", "completed")


def _spec(name: str, description: str, required: Sequence[str], **properties: Any) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, description, parameters)


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _number(description: str) -> dict[str, str]:
    return {"type": "integer", "description": description}


_PLAN_ENTRY = {
    "type": "object",
    "properties": {"content": {"type": "string"}, "status": {"type": "string", "enum": list(_STATUSES)}},
    "required": ["content", "status"],
}
_SPECS = [
    _spec("read", "Read a text file. Returns numbered lines.", ["path"], path=_text("the file"),
          line=_number("first line, from 1"), limit=_number(f"number of lines, {MAX_LINES} at most")),
    _spec("list", "List a folder, or all files below it that match a glob.", [], path=_text("the folder"),
          glob=_text("such as **/*.py")),
    _spec("search", "Search files for a regular expression of Python.", ["pattern"],
          pattern=_text("the expression"), path=_text("a file or folder"), glob=_text("only these files")),
    _spec("edit", "Replace a text in a file. The old text must occur exactly once.", ["path", "old", "new"],
          path=_text("the file"), old=_text("the text with its line breaks, without line numbers"),
          new=_text("what replaces it")),
    _spec("write", "Write a whole file, new or existing.", ["path", "content"], path=_text("the file"),
          content=_text("the whole text")),
    _spec("run", "Run a command line in a shell. It gets no input.", ["command"],
          command=_text("the command line"), timeout=_number(f"seconds, by default {DEFAULT_TIMEOUT}")),
    _spec("plan", "Write down the whole plan with the state of each step.", ["entries"],
          entries={"type": "array", "items": _PLAN_ENTRY}),
    _spec("ask", "Ask the user a question.", ["question"], question=_text("the question"),
          options={"type": "array", "items": {"type": "string"}, "description": "answers to choose from"}),
]  # fmt: skip
_KINDS: dict[str, schema.ToolKind] = {
    "read": "read", "list": "search", "search": "search", "edit": "edit", "write": "edit", "run": "execute",
    "plan": "think", "ask": "other",
}  # fmt: skip
_CHANGING = ("edit", "write", "run")


class _Refused(Exception):  # noqa: N818 - not an error
    """The call is not carried out. The message is for the model."""


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
        self._cwd = folders[0]
        self._updates = updates
        self._mode = mode
        self._can_ask = capabilities.elicitation is not None and capabilities.elicitation.form is not None
        self._always: set[str] = set()
        self.mcp: McpServers | None = None

    def specs(self) -> list[ToolSpec]:
        """Return the tools that the model can call now."""
        hidden = {"ask"} if not self._can_ask else set()
        hidden |= set(_CHANGING) if self._mode() == "plan" else set()
        own = [spec for spec in _SPECS if spec.name not in hidden]
        return own + (self.mcp.specs() if self.mcp is not None else [])

    def begin(self, call_id: str, name: str) -> None:
        """Show a call whose arguments are still being written."""
        self._updates.call(call_id, name or "unknown tool", kind=_KINDS.get(name, "other"))

    async def run(self, call: CallRequest) -> ToolResult:
        """Ask if necessary, carry out the call, and report it. Raises nothing but `CancelledError`."""
        try:
            if call.name in _KINDS:
                text = await self._own(call)
                result = ToolResult(text)
            else:
                result = await self._call_mcp(call)
        except (_Refused, WorkspaceError) as error:
            result = ToolResult(str(error), is_error=True)
        except (RequestError, ConnectionError, ValueError, OSError) as error:
            result = ToolResult(f"{call.name} failed: {error}", is_error=True)
        if result.is_error:
            self._updates.call_update(
                call.id, status="failed", content=[tool_content(text_block(result.text))]
            )
        return result

    async def _own(self, call: CallRequest) -> str:
        if call.name in _CHANGING and self._mode() == "plan":
            raise _Refused("Nothing can be changed or run in plan mode.")
        runners = {
            "read": self._read, "list": self._list, "search": self._search, "edit": self._edit,
            "write": self._write, "run": self._run, "plan": self._plan, "ask": self._ask_user,
        }  # fmt: skip
        return await runners[call.name](call)

    # ------------------------------------------------------------------ reading

    async def _read(self, call: CallRequest) -> str:
        path, first = self._path(call, "path"), max(1, _integer(call, "line", 1))
        limit = min(MAX_LINES, max(1, _integer(call, "limit", MAX_LINES)))
        self._show(call, f"Read {path}", path, line=first)
        lines = (await self._workspace.read(path)).splitlines()
        shown = lines[first - 1 : first - 1 + limit]
        numbered = "\n".join(f"{first + index:>6}\t{line}" for index, line in enumerate(shown))
        end = first - 1 + len(shown)
        if end < len(lines):
            numbered += f"\n[{len(lines)} lines in all; go on with line {end + 1}]"
        return self._complete(call, numbered or f"[no lines from line {first}; the file has {len(lines)}]")

    async def _list(self, call: CallRequest) -> str:
        path, glob = self._path(call, "path", "."), _string(call, "glob", "")
        self._show(call, f"List {glob or path}", path)
        return self._complete(call, await self._workspace.search(path, None, glob or None))

    async def _search(self, call: CallRequest) -> str:
        path, pattern = self._path(call, "path", "."), _string(call, "pattern")
        self._show(call, f"Search for {pattern}", path)
        glob = _string(call, "glob", "")
        return self._complete(call, await self._workspace.search(path, pattern, glob or None))

    # ------------------------------------------------------------------ writing

    async def _edit(self, call: CallRequest) -> str:
        path, old, new = self._path(call, "path"), _string(call, "old"), _string(call, "new")
        self._show(call, f"Edit {path}", path)
        text = await self._workspace.read(path)
        if "\r\n" in text and "\r\n" not in old:
            old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
        count = text.count(old) if old else 0
        if count != 1:
            raise _Refused(_edit_error(path, text, old, count))
        return await self._change(call, path, text, text.replace(old, new))

    async def _write(self, call: CallRequest) -> str:
        path, content = self._path(call, "path"), _string(call, "content")
        self._show(call, f"Write {path}", path)
        before = await self._workspace.read(path) if path.exists() else None
        return await self._change(call, path, before, content)

    async def _change(self, call: CallRequest, path: Path, before: str | None, after: str) -> str:
        diff = tool_diff_content(str(path), after, before)
        self._updates.call_update(call.id, content=[diff])
        inside = self._workspace.contains(path)
        await self._ask(call, "edit", "all edits in the workspace" if inside else "", [diff], inside=inside)
        if before is not None and await self._workspace.read(path) != before:
            raise _Refused(f"{path} has changed since it was read. Read it again.")
        await self._workspace.write(path, after)
        self._updates.call_update(call.id, status="completed", content=[diff])
        return f"{path} was written."

    # ------------------------------------------------------------------ commands, plan and questions

    async def _run(self, call: CallRequest) -> str:
        command = _string(call, "command")
        timeout = min(MAX_TIMEOUT, max(1, _integer(call, "timeout", DEFAULT_TIMEOUT)))
        raw = {"command": command, "cwd": str(self._cwd), "timeout": timeout}
        self._updates.call_update(call.id, title=command, kind="execute", raw_input=raw)
        program = _program(command)
        await self._ask(call, f"run {program}", f"{program} in this session" if program else "", inside=True)

        def show(terminal: str) -> None:
            self._updates.call_update(call.id, content=[tool_terminal_ref(terminal)])

        result = await self._workspace.run(command, self._cwd, timeout, show)
        end = f"Exit code: {result.exit_code}" if result.exit_code is not None else "Ended by a signal"
        if result.timed_out:
            end = f"Stopped after {timeout} seconds"
        text = f"{result.output.rstrip()}\n[{end}]".lstrip()
        if result.exit_code != 0:
            raise _Refused(text)
        return self._complete(call, text)

    async def _plan(self, call: CallRequest) -> str:
        steps = call.arguments.get("entries")
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise _Refused("entries must be a list of objects with content and status.")
        entries = [
            schema.PlanEntry(
                content=str(step.get("content", "")),
                priority="medium",
                status=next((each for each in _STATUSES if each == step.get("status")), "pending"),
            )
            for step in steps
        ]
        self._updates.plan(entries)
        self._updates.call_update(call.id, title="Update the plan", status="completed")
        return "The plan is shown to the user."

    async def _ask_user(self, call: CallRequest) -> str:
        question, options = _string(call, "question"), call.arguments.get("options")
        field: dict[str, Any] = {"type": "string", "title": "Answer"}
        if isinstance(options, list) and options:
            field["enum"] = list(dict.fromkeys(map(str, options)))
        self._updates.call_update(call.id, title=question, kind="other")
        wanted = {"type": "object", "properties": {"answer": field}, "required": ["answer"]}
        form = schema.ElicitationFormSessionMode.model_validate(
            {"sessionId": self._session_id, "requestedSchema": wanted}
        )
        answer = await self._client.create_elicitation(question, form)
        if not isinstance(answer, schema.AcceptElicitationResponse):
            return self._complete(call, "The user did not answer.")
        content = answer.model_dump(mode="json").get("content") or {}
        return self._complete(call, f"The user answers: {content.get('answer')}")

    # ------------------------------------------------------------------ MCP

    async def _call_mcp(self, call: CallRequest) -> ToolResult:
        if self.mcp is None or all(spec.name != call.name for spec in self.mcp.specs()):
            raise _Refused(f"There is no tool {call.name!r}.")
        if self._mode() == "plan":
            raise _Refused("Tools of MCP servers cannot be used in plan mode.")
        title = self.mcp.title(call.name)
        self._updates.call_update(call.id, title=title, kind="other", raw_input=call.arguments)
        await self._ask(call, f"mcp {call.name}", f"{title} in this session", inside=False)
        result = await self.mcp.call(call.name, call.arguments)
        if not result.is_error:
            self._complete(call, result.text)
        return result

    # ------------------------------------------------------------------ permission and display

    async def _ask(
        self, call: CallRequest, key: str, always: str, content: Sequence[Any] = (), *, inside: bool
    ) -> None:
        """Ask the user unless the mode or an earlier answer allows it. Raises `_Refused`."""
        if (self._mode() == "auto" and inside) or (always and key in self._always):
            self._updates.call_update(call.id, status="in_progress")
            return
        kinds: list[tuple[str, str, schema.PermissionOptionKind]] = [("allow", "Allow", "allow_once")]
        if always:
            kinds.append(("always", f"Always allow {always}", "allow_always"))
        kinds.append(("reject", "Reject", "reject_once"))
        options = [
            schema.PermissionOption(option_id=each, name=name, kind=kind) for each, name, kind in kinds
        ]
        shown = schema.ToolCallUpdate(tool_call_id=call.id, status="pending", **self._shown(call, content))
        answer = await self._client.request_permission(self._session_id, shown, options)
        chosen = getattr(answer.outcome, "option_id", None)
        if chosen not in ("allow", "always") or (chosen == "always" and not always):
            raise _Refused("The user has rejected this call.")
        if chosen == "always":
            self._always.add(key)
        self._updates.call_update(call.id, status="in_progress")

    def _shown(self, call: CallRequest, content: Sequence[Any]) -> dict[str, Any]:
        """Return what the question shows, so that the user can decide without the tool call."""
        if call.name == "run":
            raw: Any = {"command": call.arguments.get("command"), "cwd": str(self._cwd)}
            return {"title": str(call.arguments.get("command")), "kind": "execute", "raw_input": raw}
        if call.name in ("edit", "write"):
            path = self._path(call, "path")
            places = [schema.ToolCallLocation(path=str(path))]
            title = f"{call.name.capitalize()} {path}"
            return {"title": title, "kind": "edit", "content": list(content), "locations": places}
        title = self.mcp.title(call.name) if self.mcp is not None else call.name
        return {"title": title, "kind": "other", "raw_input": call.arguments}

    def _show(self, call: CallRequest, title: str, path: Path, line: int | None = None) -> None:
        place = schema.ToolCallLocation(path=str(path), line=line)
        self._updates.call_update(call.id, title=title, locations=[place], raw_input=call.arguments)

    def _complete(self, call: CallRequest, text: str) -> str:
        self._updates.call_update(call.id, status="completed", content=[tool_content(text_block(text))])
        return text

    def _path(self, call: CallRequest, name: str, default: str | None = None) -> Path:
        return self._workspace.path(_string(call, name, default))


def _string(call: CallRequest, name: str, default: str | None = None) -> str:
    value = call.arguments.get(name, default)
    if not isinstance(value, str):
        raise _Refused(f"{call.name} needs {name}, a text.")
    return value


def _integer(call: CallRequest, name: str, default: int) -> int:
    value = call.arguments.get(name, default)
    return int(value) if isinstance(value, int | float) and abs(value) < 1e9 else default


def _program(command: str) -> str:
    """Return the program of a simple command line, and nothing for one that may run several."""
    if set(command) & set(";|&$`<>()\n\\"):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return words[0] if words and "=" not in words[0] else ""


def _edit_error(path: Path, text: str, old: str, count: int) -> str:
    if not old:
        return "old must not be empty. Use write for a new file."
    if count:
        places: list[str] = []
        start = -1
        while (start := text.find(old, start + 1)) >= 0 and len(places) < 10:
            places.append(str(text.count("\n", 0, start) + 1))
        return (
            f"The old text occurs {count} times in {path}, at lines {', '.join(places)}. Add lines around it."
        )
    lines = text.splitlines()[:20_000]
    near = difflib.get_close_matches(next(iter(old.strip().splitlines()), "")[:200], lines, 3, 0.6)
    shown = "\n".join(f"{lines.index(line) + 1:>6}\t{line}" for line in near)
    return f"The old text does not occur in {path}." + (f" The nearest lines:\n{shown}" if near else "")
