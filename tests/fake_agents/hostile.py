"""Sends terminal control sequences in every text of every kind of message.

The prompt selects which messages are sent: see `prompted`.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent

EVIL = (
    "\x1b]0;pwn\x07\x1b]52;c;cHduZWQ=\x07\x1b]8;;http://pwn\x1b\\\x1b[6666J\x1b[?6666h\x1b[31;6666m\x1bP6666q\x1b\\"
    "\x1bc\x9b6666m\x9d0;pwn\x9c\x90\x85\u202eevil\u202d\u2066\u2067\u2068\u2069\u200e\u200f\u061c\x07\x08\t\x0b\x0c\x0e\x0f\x7f"
)
"""Titles, clipboards, links, erasing, modes, resets, C1 controls, bidi overrides, bells, tabs, shifts."""
_numbers = count(1)


def evil(name: str) -> str:
    """Return a hostile text that contains a name and a number."""
    return f"{name} {EVIL}{next(_numbers)}"


def text(name: str) -> dict[str, Any]:
    """Return a text block."""
    return {
        "type": "text",
        "text": evil(name),
        "annotations": {"audience": ["user"], "lastModified": evil("m")},
    }


def blocks() -> list[dict[str, Any]]:
    """Return all kinds of content blocks, and an unknown one."""
    return [
        text("plain"),
        {
            "type": "text",
            "text": f"# {evil('head')}\n\n[{evil('link')}](http://x/{EVIL}) `{evil('code')}`\n\n",
        },
        {
            "type": "text",
            "text": f"\n```{evil('lang')}\n{evil('fence')}\n```\n\n| a{EVIL} | b |\n|---|---|\n| c | d |\n",
        },
        {
            "type": "text",
            "text": f"<http://{EVIL}> ![{evil('alt')}](http://{EVIL}) &#27;]0;pwn&#7; &#x9b;31m &#8238;\n\n",
        },
        {"type": "image", "data": evil("data"), "mimeType": evil("mime"), "uri": evil("uri")},
        {"type": "audio", "data": evil("data"), "mimeType": evil("mime")},
        {
            "type": "resource_link",
            "uri": f"http://x/{EVIL}",
            "name": evil("name"),
            "title": evil("title"),
            "description": evil("description"),
            "mimeType": evil("mime"),
            "size": 3,
        },
        {
            "type": "resource",
            "resource": {"uri": evil("uri"), "text": evil("text"), "mimeType": evil("mime")},
        },
        {
            "type": "resource",
            "resource": {"uri": evil("uri"), "blob": evil("blob"), "mimeType": evil("mime")},
        },
        {"type": evil("kind"), evil("key"): evil("value")},
    ]


def call(name: str, kind: str, **more: Any) -> dict[str, Any]:
    """Return a tool call."""
    return {
        "toolCallId": evil(name),
        "title": evil("title"),
        "name": evil("name"),
        "kind": kind,
        "locations": [{"path": f"/{evil('place')}", "line": 3}],
        "rawInput": {"command": evil("command"), "cwd": evil("cwd"), evil("key"): [evil("item")]},
        "rawOutput": {evil("key"): evil("out")},
        **more,
    }


def updates() -> list[dict[str, Any]]:
    """Return all kinds of session updates, and an unknown one."""
    choice = {"value": evil("v"), "name": evil("choice"), "description": evil("d"), "group": evil("g")}
    term = evil("term")
    return [
        {"sessionUpdate": "user_message_chunk", "content": text("echo")},
        *({"sessionUpdate": "agent_thought_chunk", "content": block} for block in blocks()[:3]),
        *({"sessionUpdate": "agent_message_chunk", "content": block} for block in blocks()),
        {"sessionUpdate": "plan", "entries": [
            {"content": evil("step"), "status": evil("status"), "priority": evil("priority")},
            {"content": evil("step"), "status": "completed", "priority": "high"}]},
        {"sessionUpdate": "tool_call", **call("edit", "edit"), "status": "completed", "content": [
            {"type": "diff", "path": f"/{evil('new.py')}", "oldText": None, "newText": f"{evil('new')}\n"},
            {"type": "diff", "path": f"/{evil('d.py')}", "oldText": f"{evil('old')}\nb\n",
             "newText": f"{evil('new')}\nb\n"},
            {"type": "diff", "path": evil("p"),
             "diff": f"--- a\n+++ b\n@@ -1 +1 @@{EVIL}\n-{EVIL}\n+{EVIL}\n"}]},
        {"sessionUpdate": "tool_call", **call("run", "execute"), "status": "failed",
         "content": [{"type": "content", "content": block} for block in blocks()]},
        {"sessionUpdate": "tool_call", **call("odd", evil("kind")), "status": evil("status"),
         "content": [{"type": evil("type"), evil("key"): EVIL}, {"type": "terminal", "terminalId": term}]},
        {"sessionUpdate": "tool_call_update", "toolCallId": evil("never announced"), "title": evil("title")},
        {"sessionUpdate": "tool_call_update", "toolCallId": "agents-terminal", "title": evil("shell"),
         "kind": "execute", "content": [{"type": "terminal", "terminalId": term}],
         "_meta": {"terminal_info": {"terminal_id": term, "cwd": evil("cwd")},
                   "terminal_output": {"terminal_id": term, "data": f"{EVIL}output{EVIL}\r\n"},
                   "terminal_exit": {"terminal_id": term, "exit_code": 3, "signal": evil("SIG")}}},
        {"sessionUpdate": "available_commands_update", "availableCommands": [
            {"name": evil("cmd"), "description": evil("description"), "input": {"hint": evil("hint")}}]},
        {"sessionUpdate": "current_mode_update", "currentModeId": evil("unknown mode")},
        {"sessionUpdate": "config_option_update", "configOptions": [
            {"id": evil("id"), "name": evil("option"), "description": evil("d"), "type": "select",
             "category": category, "currentValue": choice["value"], "options": [choice]}
            for category in ("mode", "model", evil("category"))]},
        {"sessionUpdate": "usage_update", "used": 5, "size": 10,
         "cost": {"amount": 1.5, "currency": evil("USD")}},
        {"sessionUpdate": "session_info_update", "title": evil("session"), "updatedAt": evil("now")},
        {"sessionUpdate": "notice", "level": evil("level"), "message": evil("notice"),
         "text": evil("notice")},
        {"sessionUpdate": evil("unknown update"), evil("key"): {evil("deep"): [evil("item")]}},
    ]  # fmt: skip


def permission() -> dict[str, Any]:
    """Return the parameters of a permission request."""
    names = ("allow_once", "allow_always", "reject_once", evil("kind"))
    return {
        "sessionId": SESSION,
        "toolCall": call("asked", "execute", content=[
            {"type": "diff", "path": f"/{evil('asked.py')}", "oldText": evil("old"), "newText": evil("new")},
            {"type": "content", "content": text("asked")}]),
        "options": [{"optionId": evil("id"), "name": evil("option"), "kind": kind} for kind in names],
    }  # fmt: skip


def prompted(agent: ScriptedAgent, request: dict[str, Any]) -> None:
    """Send what the prompt selects."""
    match request["params"]["prompt"][0]["text"].split():
        case ["show-all"]:
            for update in updates():
                params = {"sessionId": SESSION, "update": update}
                agent.send({"jsonrpc": "2.0", "method": "session/update", "params": params})
            agent.say("END OF ALL")
        case ["show-permission"]:
            agent.ask("session/request_permission", permission())
        case ["show-terminal", path]:
            create = {"sessionId": SESSION, "command": f"cat {path} # {EVIL.replace(chr(0), '')}",
                      "env": [{"name": "NAME", "value": evil("value")}], "cwd": str(Path.cwd())}  # fmt: skip
            created = agent.ask("terminal/create", create)
            terminal = {"sessionId": SESSION, "terminalId": created["result"]["terminalId"]}
            agent.ask("terminal/wait_for_exit", terminal)
            agent.ask(
                "fs/write_text_file", {"sessionId": SESSION, "path": f"/tmp/{evil('w')}", "content": EVIL}
            )
        case ["show-error"]:
            agent.fail(
                request, {"code": -32603, "message": evil("message"), "data": {evil("key"): evil("data")}}
            )
            return
        case ["show-stop"]:
            agent.say("stopping")
            agent.end_turn(request, evil("reason"))
            return
        case ["show-death"]:
            agent.write_stderr(evil("stderr"), evil("last words"))
            os.kill(os.getpid(), signal.SIGKILL)
    agent.end_turn(request)


def main() -> None:
    """Run the agent."""
    agent = ScriptedAgent()
    methods: list[dict[str, Any]] = [
        {
            "id": evil("id"),
            "name": evil("method"),
            "description": evil("d"),
            "type": kind,
            "vars": [evil("V")],
        }
        for kind in ("agent", "env_var", evil("type"))
    ]
    terminal = {"command": evil("c"), "label": evil("label")}
    methods.append({"id": evil("id"), "_meta": {"terminal-auth": terminal}})
    mode = {"id": evil("mode"), "name": evil("mode"), "description": evil("d")}
    model = {"modelId": evil("model"), "name": evil("model"), "description": evil("d")}

    def initialized(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        info = {"name": evil("name"), "title": evil("HOSTILE"), "version": evil("1")}
        answer = {
            "protocolVersion": 1,
            "agentInfo": info,
            "authMethods": methods,
            "agentCapabilities": {evil("k"): {}},
        }
        agent.write_stderr(evil("early stderr"))
        agent.raw(f"{EVIL} noise\n")
        agent.answer(request, answer)

    def opened(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        if "signed-out" in sys.argv:
            data = {"authMethods": methods}
            agent.fail(request, {"code": -32000, "message": evil("sign in"), "data": data})
            return
        agent.answer(request, {
            "sessionId": SESSION,
            "modes": {"currentModeId": mode["id"], "availableModes": [mode, {"id": "b", "name": evil("b")}]},
            "models": {"currentModelId": model["modelId"], "availableModels": [model]},
        })  # fmt: skip

    agent.handlers |= {"initialize": initialized, "session/new": opened, "session/prompt": prompted}
    agent.handlers["authenticate"] = lambda agent, request: agent.answer(request, {})
    agent.handlers["session/cancel"] = lambda *_: None
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]  # always a text file here
    agent.run()


if __name__ == "__main__":
    main()
