"""Version 2 of the protocol: translates the demo's messages, which the SDK writes in version 1.

The SDK has no version 2. An agent that speaks only version 2 sends such messages itself.
"""

from __future__ import annotations

import base64
import itertools
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from acp_tui.demo.wire import Frame, RequestId, Wire

if TYPE_CHECKING:
    import asyncio

VERSION = 2
_METHODS = {"auth/login": "authenticate", "auth/logout": "logout"}
_OPENING = ("session/new", "session/load", "session/resume", "session/fork")
_REMOVED = ("current_mode_update",)
"""Updates without a counterpart: a mode is a config option, which is sent as well."""


class Version2Wire(Wire):
    """A wire that speaks version 2 with a client that asks for it, and version 1 with others."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__(reader, writer)
        self._is_active = False
        self._methods: dict[RequestId, str] = {}  # of the client's unanswered requests, in version 1
        self._prompts: dict[RequestId, Frame] = {}  # those of them that are prompts, until they are accepted
        self._sessions: dict[RequestId, str] = {}  # the sessions of the accepted prompts
        self._questions: dict[RequestId, str] = {}  # sessions of the demo's unanswered permission requests
        self._numbers = itertools.count(1)
        self._unnamed = ("", "", "")  # session, kind and id of the last chunk that had no id

    # ------------------------------------------------------------------ what the client sends

    async def _parse(self, line: bytes) -> Frame | None:
        frame = await super()._parse(line)
        if frame is None:
            return None
        if frame.get("method") == "initialize":
            self._is_active = frame.get("params", {}).get("protocolVersion") == VERSION
        if not self._is_active:
            return frame
        if "method" not in frame:
            session = self._questions.pop(frame.get("id"), None)
            if session is not None:
                await self._send_state(session, state="running")
            return frame
        method, params = _request(frame["method"], frame.get("params") or {})
        if "id" in frame:
            self._methods[frame["id"]] = method
            if method == "session/prompt":
                self._prompts[frame["id"]] = params
        if method == "initialize":
            self.initialize_params = params
        return {**frame, "method": "_logout" if method == "logout" else method, "params": params}

    # ------------------------------------------------------------------ what the demo sends

    async def send(self, message: Frame) -> None:
        """Translate a message and write it. A prompt is accepted before the first message of its turn."""
        if not self._is_active:
            await super().send(message)
        elif "method" in message:
            await self._send_call(message)
        else:
            await self._send_answer(message)

    async def _send_call(self, message: Frame) -> None:
        method, params = message["method"], message.get("params") or {}
        session = str(params.get("sessionId"))
        await self._accept_prompt(session)
        if method == "session/update":
            for update in _updates(self._with_message_id(session, params.get("update") or {})):
                await super().send({**message, "params": {**params, "update": update}})
            return
        if method == "session/request_permission":
            self._questions[message.get("id")] = session
            await self._send_state(session, state="requires_action")
            message = {**message, "params": _permission(params)}
        if method == "elicitation/create" and "requestedSchema" in params:
            form = {"type": "object", **params["requestedSchema"]}
            message = {**message, "params": {**params, "requestedSchema": form}}
        await super().send(message)

    def _with_message_id(self, session: str, update: Frame) -> Frame:
        """Return an update in which a chunk has an id. Chunks of one kind that follow each other share it."""
        kind = str(update.get("sessionUpdate"))
        if (
            not kind.endswith("_message_chunk") and not kind.endswith("_thought_chunk")
        ) or "messageId" in update:
            self._unnamed = ("", "", "")
            return update
        if self._unnamed[:2] != (session, kind):
            self._unnamed = (session, kind, f"message-{next(self._numbers)}")
        return {**update, "messageId": self._unnamed[2]}

    async def _send_answer(self, message: Frame) -> None:
        identity = message.get("id")
        message = self._response_overrides.pop(identity, message)
        method = self._methods.pop(identity, "")
        prompt = self._prompts.get(identity)
        if method != "session/prompt" or (prompt is not None and "error" in message):
            self._prompts.pop(identity, None)
            if isinstance(result := message.get("result"), dict):
                message = {**message, "result": _result(method, result)}
            await super().send(message)
            return
        if prompt is not None:
            await self._accept_prompt(prompt["sessionId"])
        session = self._sessions.pop(identity)
        if (error := message.get("error")) is not None:
            await self._send_state(session, state="idle", stopReason="error", error=error)
        else:
            await self._send_state(session, state="idle", **message["result"])

    async def _accept_prompt(self, session: str) -> None:
        """Answer the prompt of a session, if it is not answered yet, and report it and the running turn."""
        waiting = (key for key, params in self._prompts.items() if params["sessionId"] == session)
        identity = next(waiting, None)
        if identity is None:
            return
        params = self._prompts.pop(identity)
        self._sessions[identity] = session
        message_id = f"prompt-{next(self._numbers)}"
        await super().send({"jsonrpc": "2.0", "id": identity, "result": {"messageId": message_id}})
        report = {"sessionUpdate": "user_message", "messageId": message_id, "content": params["prompt"]}
        await self._notify_session(session, report)
        await self._send_state(session, state="running")

    async def _send_state(self, session: str, **state: Any) -> None:
        await self._notify_session(session, {"sessionUpdate": "state_update", **state})

    async def _notify_session(self, session: str, update: Frame) -> None:
        params = {"sessionId": session, "update": update}
        await super().send({"jsonrpc": "2.0", "method": "session/update", "params": params})


# ------------------------------------------------------------------ requests and answers


def _request(method: str, params: Frame) -> tuple[str, Frame]:
    """Translate the client's request to version 1."""
    method = _METHODS.get(method, method)
    if method == "initialize":
        return method, _client(params)
    if method == "session/resume" and params.get("replayFrom"):
        method = "session/load"
    if method in _OPENING:
        params = {"mcpServers": [], **{key: value for key, value in params.items() if key != "replayFrom"}}
    if method == "session/set_config_option" and params.get("type") == "id":
        params = {key: value for key, value in params.items() if key != "type"}
    return method, params


def _client(params: Frame) -> Frame:
    """Return the params of `initialize` in version 1. Clients of version 2 show terminals and notices."""
    sent = params.get("capabilities") or {}
    terminal = {"terminal": True} if (sent.get("auth") or {}).get("terminal") is not None else {}
    capabilities = {
        "auth": terminal,
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "subagents": {},
        "plan": {},
        "_meta": {"terminal_output": True},
        **({"elicitation": sent["elicitation"]} if sent.get("elicitation") else {}),
    }
    return {"protocolVersion": 1, "clientInfo": params.get("info"), "clientCapabilities": capabilities}


def _result(method: str, result: Frame) -> Frame:
    """Translate the demo's answer to version 2."""
    if method == "initialize":
        return _agent(result)
    if "configOptions" in result:
        result = {**result, "configOptions": [_option(option) for option in result["configOptions"]]}
    return {key: value for key, value in result.items() if key != "modes"}


def _agent(result: Frame) -> Frame:
    sent = result["agentCapabilities"]
    prompt: Frame = {name: {} for name, able in sent["promptCapabilities"].items() if able is True}
    extra: Frame = {name: {} for name in ("delete", "fork", "additionalDirectories")}
    session = {"prompt": prompt, "mcp": {"stdio": {}, "http": {}}, **extra}
    methods = [
        _renamed({"type": "agent", **method}, "id", "methodId") for method in result.get("authMethods", ())
    ]
    meta = {"_meta": result["_meta"]} if "_meta" in result else {}
    capabilities = {"session": session}
    return {
        "protocolVersion": VERSION,
        "info": result["agentInfo"],
        "capabilities": capabilities,
        "authMethods": methods,
        **meta,
    }


def _option(option: Frame) -> Frame:
    groups = [_renamed(each, "group", "groupId") for each in option.get("options", ())]
    return _renamed({**option, "options": groups} if groups else option, "id", "configId")


def _renamed(source: Frame, old: str, new: str) -> Frame:
    """Return an object with another name of a field."""
    return {new if key == old else key: value for key, value in source.items()}


def _permission(params: Frame) -> Frame:
    call = params["toolCall"]
    return {
        "sessionId": params["sessionId"],
        "title": call.get("title") or "May the demo do this?",
        "subject": {"type": "tool_call", "toolCall": _call(call)},
        "options": params["options"],
    }


# ------------------------------------------------------------------ updates


def _updates(update: Frame) -> list[Frame]:
    """Return the updates of version 2 that say the same."""
    kind = update.get("sessionUpdate")
    if kind in _REMOVED:
        return []
    if kind in ("tool_call", "tool_call_update"):
        return _tool_call(update)
    if kind == "plan":
        plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
        return [{"sessionUpdate": "plan_update", "plan": plan}]
    if kind == "config_option_update":
        return [{**update, "configOptions": [_option(option) for option in update["configOptions"]]}]
    if kind == "available_commands_update":
        commands = [_command(command) for command in update["availableCommands"]]
        return [{**update, "availableCommands": commands}]
    return [update]


def _command(command: Frame) -> Frame:
    given = command.get("input")
    return {"type": "command", **command, **({"input": {"type": "text", **given}} if given else {})}


def _call(source: Frame) -> Frame:
    """Return a tool call with its diffs as changes and patches."""
    if source.get("content") is None:
        return source
    return {**source, "content": [_content(item) for item in source["content"]]}


def _content(item: Frame) -> Frame:
    if item.get("type") != "diff":
        return item
    path, old, new = item["path"], item.get("oldText"), item.get("newText") or ""
    name = "/dev/null" if old is None else path
    before, after = (text.splitlines(keepends=True) for text in (old or "", new))
    lines = (line.removesuffix("\n") + _line_end(line) for line in unified_diff(before, after, name, path))
    text = "".join(lines)
    header = f"diff --git {path} {path}\n" + ("new file mode 100644\n" if old is None else "")
    change = {"operation": "add" if old is None else "modify", "path": path, "fileType": "text"}
    return {"type": "diff", "changes": [change], "patch": {"format": "git_patch", "text": header + text}}


def _line_end(line: str) -> str:
    return "\n" if line.endswith("\n") else "\n\\ No newline at end of file\n"


def _tool_call(update: Frame) -> list[Frame]:
    """Return a call's update, and before it what its `_meta` says about the demo's own terminal."""
    meta = dict(update.get("_meta") or {})
    names = ("terminal_info", "terminal_output", "terminal_exit")
    facts = {name: meta.pop(name) for name in names if name in meta}
    updates = [_terminal(name, said) for name, said in facts.items()]
    call = _call({**update, "sessionUpdate": "tool_call_update"})
    call = {key: value for key, value in call.items() if key != "_meta"} | ({"_meta": meta} if meta else {})
    return [*updates, call] if set(call) - {"sessionUpdate", "toolCallId"} or not updates else updates


def _terminal(name: str, facts: Frame) -> Frame:
    identity = {"terminalId": facts["terminal_id"]}
    if name == "terminal_output":
        data = base64.b64encode(facts["data"].encode()).decode()
        return {"sessionUpdate": "terminal_output_chunk", **identity, "data": data}
    if name == "terminal_info":
        return {"sessionUpdate": "terminal_update", **identity, "cwd": facts["cwd"]}
    status = {"exitCode": facts.get("exit_code"), "signal": facts.get("signal")}
    return {"sessionUpdate": "terminal_update", **identity, "exitStatus": status}
