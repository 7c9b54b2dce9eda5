"""Executes the steps in a prompt: `python -m tests.fake_agents.script [OFFERS]`.

The prompt is a JSON list of steps, each a list of a name and arguments (the `do_` methods of `Turn`). Any
other prompt is sent back. OFFERS is a JSON object:
- `capabilities`, `auth_methods`: for the answer to `initialize`
- `session`: more fields of the answers that open a session
- `history`: updates before the answer to `session/load`; `late_history`: updates after it
- `loading`: steps before the answer to `session/load`
- `banner`: text sent right after the answer to `session/new`
- `turns`: the steps for certain prompts
- `session_pages`: the pages that `session/list` answers, each a list of sessions
- `lists_by_folder`: `session/list` answers nothing unless a folder is named
- `lists_after`: a path; `session/list` is answered once it exists
- `steering`: the outcome of every message sent into a running turn; null: no answer
- `refuses`: methods that are answered with an error; `refuses_once`: the first time only
- `answers`: the results of further methods; `silent`: methods that are answered only with -32800 once the
  client cancels the request; `echoes`: notifications that are sent back
- `lost_until`: a path; while it does not exist, `session/load` is answered with an error
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_agents.faulty import leave_processes
from tests.fake_agents.scripted_agent import SESSION, ScriptedAgent, cancel_frame, request_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fake_agents.scripted_agent import Handler

OPENING = ("session/new", "session/load", "session/resume", "session/fork")


class Turn:
    """The steps of one prompt."""

    def __init__(self, agent: ScriptedAgent, received: dict[str, Any]) -> None:
        self.agent = agent
        self.received = received
        self.stop_reason = "end_turn"
        self.variables: dict[str, Any] = {}

    def do_say(self, *texts: str) -> None:
        """Send chunks of a message."""
        for text in texts:
            self.agent.say(text)

    def do_repeat(self, times: int, text: str) -> None:
        """Send the same chunk many times."""
        for _ in range(times):
            self.agent.say(text)

    def do_update(self, update: dict[str, Any], session: str = SESSION) -> None:
        """Send any session update."""
        params = {"sessionId": session, "update": update}
        self.agent.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def do_send(self, frame: dict[str, Any]) -> None:
        """Send any message."""
        self.agent.send({"jsonrpc": "2.0", **frame})

    def do_ask(self, method: str, params: dict[str, Any]) -> None:
        """Send a request and report the answer. `"$terminal"` is the last terminal's id."""
        filled = {
            key: self.variables.get(value, value) if isinstance(value, str) else value
            for key, value in params.items()
        }
        answer = self.agent.ask(method, {"sessionId": SESSION, **filled})
        if isinstance(terminal := (answer.get("result") or {}).get("terminalId"), str):
            self.variables["$terminal"] = terminal
        self.agent.say_json(answer.get("result", answer.get("error")))

    def do_request(self, method: str, params: dict[str, Any], request_id: str) -> None:
        """Send a request without waiting for the answer."""
        self.agent.send(request_frame(method, {"sessionId": SESSION, **params}, request_id))

    def do_withdraw(self, request_id: str) -> None:
        """Withdraw a request."""
        self.agent.send(cancel_frame(request_id))

    def do_answer_to(self, request_id: str) -> None:
        """Wait for the answer to a request that was sent with `request`, and report it."""
        answer = self.agent.answer_to(request_id)
        self.agent.say_json(answer.get("result", answer.get("error")))

    def do_complete(self, elicitation_id: str) -> None:
        """Report that the user is done with a page."""
        params = {"elicitationId": elicitation_id}
        self.agent.send({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params})

    def do_wait_for_file(self, path: str) -> None:
        """Wait until a file exists."""
        while not Path(path).exists():
            time.sleep(0.02)

    def do_permission(self, call: dict[str, Any]) -> None:
        """Ask for permission with the usual options."""
        options = [
            {"optionId": kind, "name": kind, "kind": kind}
            for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
        ]
        self.do_ask(
            "session/request_permission", {"toolCall": {"toolCallId": "call", **call}, "options": options}
        )

    def do_mcp(self, method: str, params: dict[str, Any], request_id: str = "1") -> None:
        """Send an MCP request to acp-tui's own server, and report the result or the error."""
        self.agent.say_json(mcp_server(self.agent, self.received, "acp-tui")(method, params, request_id))

    def do_call_tool(self, name: str, arguments: dict[str, Any], server: str = "acp-tui") -> None:
        """Call a tool of an MCP server, and report the text of the result, after ✘ if it failed."""
        result = mcp_server(self.agent, self.received, server)(
            "tools/call", {"name": name, "arguments": arguments}, "2"
        )
        failed = "✘ " if result.get("isError", "content" not in result) else ""
        self.agent.say(failed + "".join(item["text"] for item in result.get("content", [])) + "\n")

    def do_write_file(self, path: str, text: str) -> None:
        """Write a file without asking the client."""
        Path(path).write_text(text, encoding="utf-8")

    def do_stderr(self, *lines: str) -> None:
        """Write lines to stderr."""
        self.agent.write_stderr(*lines)

    def do_report_params(self, method: str) -> None:
        """Report the parameters of the client's last request of a method."""
        self.agent.say_json(self.received.get(method))

    def do_environment(self, name: str) -> None:
        """Report the value of an environment variable."""
        self.agent.say(os.environ.get(name, ""))

    def do_wait_for_steering(self) -> None:
        """Wait for a message sent into the turn, and repeat its text."""
        while "_session/steering" not in self.received:
            self._handle_next()
        self.agent.say(self.received.pop("_session/steering")["prompt"][0]["text"])

    def _handle_next(self) -> None:
        frame = self.agent.receive()
        if frame is None:
            sys.exit(0)
        self.agent.handle(frame)

    def do_wait_for_cancel(self) -> None:
        """Wait until the client cancels the turn, and confirm that."""
        while "session/cancel" not in self.received:
            self._handle_next()
        self.stop_reason = "cancelled"

    def do_leave_processes(self) -> None:
        """Start processes that outlive the agent."""
        leave_processes()

    def do_wait_for_output(self) -> None:
        """Wait until the terminal has output."""
        params = {"sessionId": SESSION, "terminalId": self.variables["$terminal"]}
        while not self.agent.ask("terminal/output", params)["result"]["output"]:
            pass

    def do_ignore_client(self) -> None:
        """Ignore all frames, and exit when the client closes stdin."""
        while self.agent.receive() is not None:
            pass
        sys.exit(0)

    def do_stop(self, reason: str) -> None:
        """Set the stop reason."""
        self.stop_reason = reason

    def do_exit(self, code: int) -> None:
        """Exit with a code."""
        sys.exit(code)


def mcp_server(
    agent: ScriptedAgent, received: dict[str, Any], name: str
) -> Callable[[str, Any, str], dict[str, Any]]:
    """Return a function that sends requests to one of the MCP servers that the client has offered."""
    opening: dict[str, Any] = received.get("session/load") or received["session/new"]
    servers = opening["mcpServers"]
    (server,) = [server for server in servers if server["name"] == name]
    if server.get("type") == "acp":

        def inside_acp(method: str, params: Any, request_id: str) -> dict[str, Any]:
            envelope = {"serverId": server["serverId"], "requestId": request_id}
            answer = agent.ask("mcp/message", {**envelope, "method": method, "params": params})
            carried = answer.get("result", {})
            found: dict[str, Any] = carried.get("result") or carried.get("error") or answer["error"]
            return found

        return inside_acp
    key = (name, server["args"][-1])
    process = _processes[key] = _processes.get(key) or _start_server(server)

    def over_stdio(method: str, params: Any, request_id: str) -> dict[str, Any]:
        answer = _exchange(process, method, params, request_id)
        found: dict[str, Any] = answer.get("result") or answer["error"]
        return found

    return over_stdio


_processes: dict[tuple[str, str], subprocess.Popen[str]] = {}


def _start_server(server: dict[str, Any]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    info = {"name": "script", "version": "1"}
    _exchange(
        process,
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info},
        "init",
    )
    return process


def _exchange(process: subprocess.Popen[str], method: str, params: Any, request_id: str) -> dict[str, Any]:
    """Send a request and return its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request_frame(method, params, request_id)) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == request_id:
            return answer
    return {"error": {"message": "the server has ended"}}


def handle_further_methods(agent: ScriptedAgent, offers: dict[str, Any]) -> None:
    """Add the handlers of the offers `answers`, `silent` and `echoes`."""
    cancelled = {"code": -32800, "message": "Request cancelled"}
    answers = offers.get("answers", {})
    for method in answers:
        agent.handlers[method] = lambda agent, request: agent.answer(request, answers[request["method"]])
    for method in offers.get("silent", []):
        agent.handlers[method] = lambda *_: None
    for method in offers.get("echoes", []):
        agent.handlers[method] = lambda agent, frame: agent.send(frame)
    if "silent" in offers:
        agent.handlers["$/cancel_request"] = lambda agent, frame: agent.fail(
            {"id": frame["params"]["requestId"]}, cancelled
        )


def main() -> None:
    """Run the agent."""
    offers = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    agent = ScriptedAgent()
    agent.capabilities = offers.get("capabilities", {})
    agent.auth_methods = offers.get("auth_methods", [])
    received: dict[str, Any] = {}

    def recording(handler: Callable[[ScriptedAgent, dict[str, Any]], None]) -> Any:
        def record(agent: ScriptedAgent, frame: dict[str, Any]) -> None:
            received[frame["method"]] = frame.get("params")
            handler(agent, frame)

        return record

    def opened(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        for update in offers.get("history", []) if request["method"] == "session/load" else []:
            Turn(agent, received).do_update(update)
        for name, *arguments in offers.get("loading", []) if request["method"] == "session/load" else []:
            getattr(Turn(agent, received), f"do_{name}")(*arguments)
        opened_id = f"{SESSION}-fork" if request["method"] == "session/fork" else SESSION
        agent.answer(request, {"sessionId": opened_id, **offers.get("session", {})})
        if "banner" in offers:
            time.sleep(0.02)  # so that a prompt sent immediately would arrive before it
            agent.say(offers["banner"])
        for update in offers.get("late_history", []) if request["method"] == "session/load" else []:
            time.sleep(0.02)  # so that a prompt sent immediately would arrive in between
            Turn(agent, received).do_update(update)

    def prompted(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        text = "".join(block.get("text", "") for block in request["params"]["prompt"])
        turn = Turn(agent, received)
        steps = offers.get("turns", {}).get(text, [["say", text]])
        for name, *arguments in json.loads(text) if text.startswith("[[") else steps:
            getattr(turn, f"do_{name}")(*arguments)
        agent.end_turn(request, turn.stop_reason)

    def steered(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        if offers["steering"] is not None:
            agent.answer(request, {"outcome": offers["steering"]})

    def listed(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        while "lists_after" in offers and not Path(offers["lists_after"]).exists():
            time.sleep(0.01)
        if offers.get("lists_by_folder") and "cwd" not in request["params"]:
            agent.answer(request, {"sessions": []})
            return
        number = int(request["params"].get("cursor", "page 0").removeprefix("page "))
        more = {"nextCursor": f"page {number + 1}"} if number + 1 < len(offers["session_pages"]) else {}
        agent.answer(request, {"sessions": offers["session_pages"][number], **more})

    if "session_pages" in offers:
        agent.handlers["session/list"] = recording(listed)
        agent.handlers["session/delete"] = recording(lambda agent, request: agent.answer(request, {}))
    if "steering" in offers:
        agent.meta = {"steering": {"supported": True}}
        agent.handlers["_session/steering"] = recording(steered)
    agent.handlers["initialize"] = recording(ScriptedAgent.initialized)
    agent.handlers["session/prompt"] = prompted
    agent.handlers.update(dict.fromkeys(OPENING, recording(opened)))
    answered = recording(lambda agent, request: agent.answer(request, {}))
    agent.handlers |= dict.fromkeys(
        ("authenticate", "session/set_mode", "session/set_config_option", "session/set_model"), answered
    )
    refused = {"code": -32603, "message": "The setting is locked"}
    agent.handlers |= dict.fromkeys(
        offers.get("refuses", []), recording(lambda agent, request: agent.fail(request, refused))
    )

    def refused_once(accepts: Handler) -> Handler:
        refusals = iter([True])
        return lambda agent, request: (
            agent.fail(request, refused) if next(refusals, False) else accepts(agent, request)
        )

    def load_if_found(agent: ScriptedAgent, request: dict[str, Any]) -> None:
        if Path(offers["lost_until"]).exists():
            load(agent, request)
        else:
            agent.fail(request, {"code": -32603, "message": "No previous sessions found for this project."})

    if "lost_until" in offers:
        load = agent.handlers["session/load"]
        agent.handlers["session/load"] = load_if_found
    for method in offers.get("refuses_once", []):
        agent.handlers[method] = refused_once(agent.handlers[method])
    agent.handlers["session/cancel"] = recording(lambda *_: None)
    handle_further_methods(agent, offers)
    agent.run()


if __name__ == "__main__":
    main()
