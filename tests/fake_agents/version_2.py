"""Speaks version 2 of the protocol: `python -m tests.fake_agents.version_2 [speaks|refuses|pretends]`.

An agent that refuses answers version 2 with an error; one that pretends answers 2 in the form of version 1.
The prompt says what the turn does.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent

MESSAGE = "message-1"
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]


def initialize(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Accept or refuse the requested version."""
    wanted, how = request["params"]["protocolVersion"], sys.argv[1]
    if how == "refuses" and wanted == 2:
        agent.fail(request, {"code": -32602, "message": "Unsupported protocol version: 2"})
    elif how == "speaks" and wanted == 2:
        session: dict[str, Any] = {
            "prompt": {"image": {}},
            "mcp": {"stdio": {}, "http": {}},
            "fork": {},
            "delete": {},
        }
        agent.answer(
            request,
            {
                "protocolVersion": 2,
                "info": {"name": "two", "version": "1"},
                "capabilities": {"session": session},
                "authMethods": [{"methodId": "login", "type": "agent", "name": "Log in"}],
            },
        )
    else:
        agent.version = wanted
        agent.initialized(request)


def opened(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Answer a request for a session. If a history is asked for, send it first."""
    if request["params"].get("replayFrom"):
        update(agent, "user_message", messageId="old", content=[block("earlier")])
        update(agent, "agent_message", messageId="older", content=[block("answer")])
        update(agent, "state_update", state="idle")
    mode = {"configId": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask"}
    choices = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
    agent.answer(request, {"sessionId": SESSION, "configOptions": [mode | {"options": choices}]})


def option_set(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Answer with the option's new value."""
    mode = {"configId": "mode", "name": "Mode", "category": "mode", "type": "select"}
    choices = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
    agent.answer(
        request,
        {"configOptions": [mode | {"currentValue": request["params"]["value"], "options": choices}]},
    )


def prompt(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Run a turn, which the first word of the prompt chooses."""
    if agent.version == 1 and sys.argv[1] != "speaks":
        agent.end_turn(request)
        return
    text = request["params"]["prompt"][0]["text"]
    update(agent, "user_message", messageId="p", content=[block(text)])
    agent.answer(request, {})
    update(agent, "state_update", state="running")
    match text.split(" ")[0]:
        case "wait":  # until it is cancelled
            return
        case "work":
            update(agent, "tool_call_update", toolCallId="c", title="Build", capabilities={"cancel": {}})
            return
        case "command":
            update(agent, "terminal_update", terminalId="t", command="make", capabilities={"cancel": {}})
            data = base64.b64encode(b"building\r\n").decode()
            update(agent, "terminal_output_chunk", terminalId="t", data=data)
            return
        case "read":
            answer = agent.ask("fs/read_text_file", {"sessionId": SESSION, "path": "/etc/passwd"})
            say(agent, json.dumps(answer["error"]["code"]))
        case "ask":
            subject = {"type": "command", "command": "make", "cwd": "/"}
            asked = {"sessionId": SESSION, "title": "Run make?", "subject": subject, "options": OPTIONS}
            update(agent, "state_update", state="requires_action")
            say(agent, json.dumps(agent.ask("session/request_permission", asked)["result"]))
        case "swap":  # the patch of a change, when the file exists that the prompt names
            say(agent, json.dumps(swap(agent, Path(text.split(" ")[1]))["result"]))
        case "batch":
            asked = {"sessionId": SESSION, "title": "Really?", "options": OPTIONS}
            calls = [frame("session/request_permission", asked, name) for name in ("one", "two")]
            agent.send(
                [*calls, notification("agent_message_chunk", messageId="b", content=block("in a batch")), 7]
            )
            say(agent, json.dumps(agent.receive()))
        case "fail":
            error = {"code": -32603, "message": "no credit"}
            update(agent, "state_update", state="idle", stopReason="error", error=error)
            return
        case _:
            say(agent, f"you said {text}")
    update(agent, "state_update", state="idle", stopReason="end_turn")


def swap(agent: ScriptedAgent, go: Path) -> dict[str, Any]:
    """Ask about a change, send another patch for it, and return the client's answer."""
    subject = {"type": "tool_call", "toolCall": changes("harmless")}
    asked = {"sessionId": SESSION, "title": "Edit?", "subject": subject, "options": OPTIONS}
    agent.send(frame("session/request_permission", asked, "swap"))
    while not go.exists():
        time.sleep(0.02)
    update(agent, "tool_call_update", **changes("harmful"))
    return agent.receive() or {}


def changes(line: str) -> dict[str, Any]:
    """Return a tool call that adds a line to a file."""
    patch = f"diff --git /a.txt /a.txt\n--- /a.txt\n+++ /a.txt\n@@ -1 +1,2 @@\n one\n+{line}\n"
    change = {"operation": "modify", "path": "/a.txt"}
    diff = {"type": "diff", "changes": [change], "patch": {"format": "git_patch", "text": patch}}
    return {"toolCallId": "e", "title": "Edit", "kind": "edit", "content": [diff]}


def cancelled(agent: ScriptedAgent, _request: dict[str, Any]) -> None:
    """End the turn as cancelled."""
    update(agent, "state_update", state="idle", stopReason="cancelled")


def work_cancelled(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """End the tool call or the command, and then the turn."""
    agent.answer(request, {})
    if request["method"] == "tool_call/cancel":
        update(agent, "tool_call_update", toolCallId=request["params"]["toolCallId"], status="cancelled")
    else:
        update(
            agent,
            "terminal_update",
            terminalId=request["params"]["terminalId"],
            exitStatus={"signal": "SIGTERM"},
        )
    update(agent, "state_update", state="idle", stopReason="end_turn")


def update(agent: ScriptedAgent, kind: str, /, **fields: Any) -> None:
    """Send a `session/update`."""
    agent.send(notification(kind, **fields))


def say(agent: ScriptedAgent, text: str) -> None:
    """Send a chunk of a message."""
    update(agent, "agent_message_chunk", messageId=MESSAGE, content=block(text))


def notification(kind: str, /, **fields: Any) -> dict[str, Any]:
    """Return a `session/update`."""
    return frame("session/update", {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}})


def frame(method: str, params: dict[str, Any], request_id: str | None = None) -> dict[str, Any]:
    """Return a notification, or a request if it has an id."""
    identity = {} if request_id is None else {"id": request_id}
    return {"jsonrpc": "2.0", **identity, "method": method, "params": params}


def block(text: str) -> dict[str, str]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def main() -> None:
    """Run the agent."""
    agent = ScriptedAgent()
    agent.handlers = {
        "initialize": initialize,
        "session/new": opened,
        "session/resume": opened,
        "session/fork": opened,
        "session/set_config_option": option_set,
        "session/prompt": prompt,
        "session/cancel": cancelled,
        "tool_call/cancel": work_cancelled,
        "terminal/cancel": work_cancelled,
        **dict.fromkeys(
            ("auth/login", "auth/logout", "session/close", "session/delete"),
            lambda agent, request: agent.answer(request, {}),
        ),
        "session/list": lambda agent, request: agent.answer(request, {"sessions": []}),
    }
    agent.run()


if __name__ == "__main__":
    main()
