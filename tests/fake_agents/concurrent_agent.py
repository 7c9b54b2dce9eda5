"""An agent with sign-in, MCP servers, questions, steering and subagents, which handles everything at once.

`python -m tests.fake_agents.concurrent_agent [CHECK]` follows the protocol except for one fault: what the
check of the conformance suite with this name is about. It never blocks: what waits for an answer or for time
is a callback. `PROMPTS` are the prompts it understands.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Frame = dict[str, Any]
    Fault = Callable[["ConcurrentAgent"], None]

PROMPTS = {name: name for name in ("reply", "long", "edit", "command", "ask", "ask_url", "mcp", "subagent")}
SIGN_IN = "login"
STEP_SECONDS = 0.3
"""How long a subagent works."""


class ConcurrentAgent:
    """Reads frames, answers them, and calls what is due."""

    def __init__(self) -> None:
        self.handlers: dict[str, Callable[[Frame], None]] = {
            "initialize": self.initialize,
            "authenticate": lambda frame: self.answer(frame, {}),
            "logout": lambda frame: self.answer(frame, {}),
            "session/new": self.new_session,
            "session/prompt": self.prompt,
            "session/cancel": self.cancel,
            "$/cancel_request": self.cancel_request,
            "_session/steering": self.steer,
        }
        self.capabilities: dict[str, Any] = {
            "mcpCapabilities": {"http": True, "sse": True},
            "auth": {"logout": {}},
        }
        self.auth_methods: list[Frame] = [{"id": SIGN_IN, "name": "Sign in"}]
        self.client: dict[str, Any] = {}
        """The client's capabilities."""
        self.servers: dict[str, list[Frame]] = {}
        """The MCP servers of each session."""
        self.turns: dict[str, Frame] = {}
        """The unanswered prompt of each session."""
        self.sessions = 0
        self.child_cancelled = False
        self._asked = 0
        self._waiting: dict[Any, Callable[[Frame], None]] = {}
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._methods: dict[Any, str] = {}

    # ----------------------------------------------------------------- frames

    def run(self) -> None:
        """Handle what comes until the client closes stdin."""
        rest = b""
        while True:
            timeout = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            if not select.select([0], [], [], timeout)[0]:
                self._due.pop(0)[1]()
                continue
            block = os.read(0, 1 << 20)
            if not block:
                return
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                self.receive_line(line.decode())

    def receive_line(self, line: str) -> None:
        self.receive(json.loads(line))

    def receive(self, frame: Frame) -> None:
        method = frame.get("method")
        if method is None:
            self._waiting.pop(frame["id"])(frame)
            return
        self._methods[frame.get("id")] = method
        if method in self.handlers:
            self.handlers[method](frame)
        elif "id" in frame:
            self.fail(frame, -32601, "Method not found")

    def send(self, frame: Frame) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
        sys.stdout.flush()

    def answer(self, request: Frame, result: Any) -> None:
        self.send({"id": request["id"], "result": result})

    def fail(self, request: Frame, code: int, message: str) -> None:
        self.send({"id": request["id"], "error": {"code": code, "message": message}})

    def ask(self, method: str, params: Any, then: Callable[[Frame], None]) -> None:
        self._asked += 1
        identity = f"agent-{self._asked}"
        self._waiting[identity] = then
        self.send({"id": identity, "method": method, "params": params})

    def update(self, session: str, kind: str, /, **fields: Any) -> None:
        update = {"sessionUpdate": kind, **fields}
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def say(self, session: str, text: str) -> None:
        self.update(session, "agent_message_chunk", content={"type": "text", "text": text})

    def later(self, action: Callable[[], None]) -> None:
        """Call an action after a while."""
        self._due.append((time.monotonic() + STEP_SECONDS, action))

    def method_of(self, frame: Frame) -> str:
        """Return the method of the request that a frame answers."""
        return self._methods.get(frame.get("id"), "") if "method" not in frame else ""

    # ----------------------------------------------------------------- opening

    def initialize(self, frame: Frame) -> None:
        self.client = frame["params"].get("clientCapabilities") or {}
        auth = self.client.get("auth") or {}
        terminal = {"id": "terminal", "name": "Terminal", "type": "terminal"}
        self.answer(
            frame,
            {
                "protocolVersion": 1,
                "agentInfo": {"name": "concurrent", "version": "1"},
                "agentCapabilities": self.capabilities,
                "authMethods": [*self.auth_methods, *([terminal] if auth.get("terminal") else [])],
                "_meta": {"steering": {"supported": True}},
            },
        )

    def new_session(self, frame: Frame) -> None:
        self.sessions += 1
        session = f"session-{self.sessions}"
        self.servers[session] = frame["params"]["mcpServers"]
        for server in self.servers[session]:
            self.connect(server)
        self.answer(frame, {"sessionId": session})

    def connect(self, server: Frame, *, tool: bool = False) -> None:
        """Connect to an MCP server and, if `tool`, call its tool."""
        calls = [("initialize", {"protocolVersion": "2025-06-18"})]
        calls += [("tools/call", {"name": "acp_tui_probe"})] if tool else []
        frames = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            for number, (method, params) in enumerate(calls)
        ]
        if server.get("type") in ("http", "sse"):
            headers = {header["name"]: header["value"] for header in server["headers"]}
            body = json.dumps(frames[0]).encode() if server["type"] == "http" else None
            with urllib.request.urlopen(urllib.request.Request(server["url"], body, headers)) as answer:
                answer.readline()
            return
        env = {**os.environ, **{variable["name"]: variable["value"] for variable in server["env"]}}
        try:
            process = subprocess.Popen(
                [server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
            )
        except OSError:
            return
        process.communicate("".join(json.dumps(frame) + "\n" for frame in frames).encode())

    # ----------------------------------------------------------------- turns

    def prompt(self, frame: Frame) -> None:
        session = frame["params"]["sessionId"]
        if session in self.turns:
            self.fail(frame, -32600, "A turn is already running")
            return
        self.turns[session] = frame
        text = "".join(block.get("text", "") for block in frame["params"]["prompt"])
        word = (text.split() or [""])[0]
        self.say(session, f"You said {word}.")
        turn = getattr(self, f"turn_{word}", None)
        if turn is None:
            self.end_turn(session)
        else:
            turn(session)

    def end_turn(self, session: str, reason: str = "end_turn") -> None:
        if (frame := self.turns.pop(session, None)) is not None:
            self.answer(frame, {"stopReason": reason})

    def cancel(self, frame: Frame) -> None:
        session = frame["params"]["sessionId"]
        if session.startswith("child"):
            self.cancel_child()
        self.end_turn(session, "cancelled")

    def cancel_child(self) -> None:
        self.child_cancelled = True

    def cancel_request(self, frame: Frame) -> None:
        for session, prompt in self.turns.items():
            if prompt["id"] == frame["params"]["requestId"]:
                self.fail(self.turns.pop(session), -32800, "Request cancelled")
                return

    def steer(self, frame: Frame) -> None:
        runs = frame["params"]["sessionId"] in self.turns
        self.answer(frame, {"outcome": "injected" if runs else "promptRequired"})

    def turn_long(self, session: str) -> None:
        """Leave the turn running until it is cancelled."""

    def turn_edit(self, session: str) -> None:
        call = {"toolCallId": f"call-{self._asked}", "title": "Edit", "kind": "edit", "status": "pending"}
        self.update(session, "tool_call", **call)
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
        params = {"sessionId": session, "toolCall": {"toolCallId": call["toolCallId"]}, "options": options}

        def answered(_: Frame) -> None:
            self.update(session, "tool_call_update", toolCallId=call["toolCallId"], status="failed")
            self.end_turn(session)

        self.ask("session/request_permission", params, answered)

    def turn_ask(self, session: str) -> None:
        if "elicitation" in self.client:
            self.ask_form(session)
        else:
            self.end_turn(session)

    def ask_form(self, session: str) -> None:
        colour = {"type": "string", "enum": ["red", "blue"]}
        form = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}
        params = {"sessionId": session, "mode": "form", "message": "Which?", "requestedSchema": form}
        self.ask("elicitation/create", params, lambda _: self.end_turn(session))

    def turn_ask_url(self, session: str) -> None:
        page = {"elicitationId": "page-1", "url": "https://example.com/page-1", "message": "Visit it"}

        def answered(_: Frame) -> None:
            self.send({"method": "elicitation/complete", "params": {"elicitationId": "page-1"}})
            self.end_turn(session)

        self.ask("elicitation/create", {"sessionId": session, "mode": "url", **page}, answered)

    def turn_mcp(self, session: str) -> None:
        call = {"toolCallId": "mcp", "title": "acp_tui_probe", "kind": "other", "status": "completed"}
        for server in self.servers[session]:
            self.connect(server, tool=True)
            self.update(session, "tool_call", **call)
        self.end_turn(session)

    def turn_subagent(self, session: str) -> None:
        if "subagents" in self.client:
            self.start_child(session, f"child-{session}")
        else:
            self.end_turn(session)

    def start_child(self, session: str, child: str) -> None:
        self.child_cancelled = False
        self.update(
            session,
            "subagent_update",
            sessionId=child,
            title="Helper",
            cwd="/",
            capabilities={"cancel": {}},
            state={"state": "running"},
        )
        self.say(child, "I am at work.")
        self.later(lambda: self.end_child(session, child))

    def end_child(self, session: str, child: str) -> None:
        reason = "cancelled" if self.child_cancelled else "end_turn"
        self.update(child, "state_update", state="idle", stopReason=reason)
        self.end_turn(session)


FAULTS: dict[str, Fault] = {}


def fault(*checks: str) -> Callable[[Fault], Fault]:
    """Register what makes an agent fail these checks."""

    def register(change: Fault) -> Fault:
        FAULTS.update(dict.fromkeys(checks, change))
        return change

    return register


def change_answers(agent: ConcurrentAgent, method: str, change: Callable[[Frame], Frame | None]) -> None:
    """Change the answers to a method before they are sent. None omits an answer."""
    send = agent.send

    def changed(frame: Frame) -> None:
        sent = change(dict(frame)) if agent.method_of(frame) == method else frame
        if sent is not None:
            send(sent)

    agent.send = changed  # type: ignore[method-assign]


def change_calls(agent: ConcurrentAgent, method: str, change: Callable[[Frame], None]) -> None:
    """Change the parameters of the agent's own messages of a method before they are sent."""
    send = agent.send

    def changed(frame: Frame) -> None:
        if frame.get("method") == method:
            change(frame["params"])
        send(frame)

    agent.send = changed  # type: ignore[method-assign]


def change_updates(agent: ConcurrentAgent, kind: str, change: Callable[[Frame], None]) -> None:
    """Change the updates of a kind before they are sent."""

    def changed(params: Frame) -> None:
        if params["update"]["sessionUpdate"] == kind:
            change(params["update"])

    change_calls(agent, "session/update", changed)


def drop(agent: ConcurrentAgent, condition: Callable[[Frame], object]) -> None:
    """Ignore the client's frames that fulfil a condition."""
    receive = agent.receive

    def filtered(frame: Frame) -> None:
        if not condition(frame):
            receive(frame)

    agent.receive = filtered  # type: ignore[method-assign]


def drop_lines(agent: ConcurrentAgent, condition: Callable[[str], object]) -> None:
    """Ignore the client's lines that fulfil a condition."""
    receive = agent.receive_line

    def filtered(line: str) -> None:
        if not condition(line):
            receive(line)

    agent.receive_line = filtered  # type: ignore[method-assign]


def refuse(agent: ConcurrentAgent, method: str, condition: Callable[[Frame], object]) -> None:
    """Answer requests that fulfil a condition with an error."""
    handler = agent.handlers[method]
    agent.handlers[method] = lambda frame: (
        agent.fail(frame, -32602, "Invalid params") if condition(frame) else handler(frame)
    )


def reply(agent: ConcurrentAgent, method: str, result: Any) -> None:
    """Answer requests and even notifications of a method with a result."""
    agent.handlers[method] = lambda frame: agent.send({"id": frame.get("id"), "result": result})


# --------------------------------------------------------------------------- sign-in


@fault("auth-method-ids")
def two_methods_with_one_id(agent: ConcurrentAgent) -> None:
    agent.auth_methods *= 2


@fault("auth-terminal-undeclared")
def terminal_method_for_all(agent: ConcurrentAgent) -> None:
    agent.auth_methods.append({"id": "always", "name": "Always", "type": "terminal"})


@fault("auth-required-has-methods", "authenticate")
def sign_in_never_enough(agent: ConcurrentAgent) -> None:
    agent.auth_methods = []
    change_answers(agent, "initialize", lambda frame: without(frame, "result", "authMethods"))
    agent.handlers["session/new"] = lambda frame: agent.fail(frame, -32000, "Authentication required")


@fault("auth-unknown-method")
def authenticate_unanswered(agent: ConcurrentAgent) -> None:
    drop(agent, lambda frame: frame.get("method") == "authenticate")


@fault("logout")
def logout_breaks(agent: ConcurrentAgent) -> None:
    signed_out: list[Frame] = []

    def log_out(frame: Frame) -> None:
        signed_out.append(frame)
        agent.answer(frame, {})

    agent.handlers["logout"] = log_out
    refuse(agent, "session/new", lambda _: signed_out)


# --------------------------------------------------------------------------- MCP


@fault("mcp-stdio", "mcp-http", "mcp-sse")
def no_servers(agent: ConcurrentAgent) -> None:
    agent.connect = lambda *_, **__: None  # type: ignore[method-assign]


def change_servers(agent: ConcurrentAgent, change: Callable[[Frame], Frame]) -> None:
    connect = agent.connect
    agent.connect = lambda server, **more: connect(change(server), **more)  # type: ignore[method-assign]


@fault("mcp-stdio-arguments")
def words_split(agent: ConcurrentAgent) -> None:
    change_servers(agent, lambda server: {**server, "args": " ".join(server["args"]).split()})


@fault("mcp-stdio-environment")
def no_environment(agent: ConcurrentAgent) -> None:
    change_servers(agent, lambda server: {**server, "env": []})


@fault("mcp-http-headers", "mcp-sse-headers")
def no_headers(agent: ConcurrentAgent) -> None:
    change_servers(agent, lambda server: {**server, "headers": []})


@fault("mcp-unreachable-server")
def waits_for_all_servers(agent: ConcurrentAgent) -> None:
    def is_missing(server: Frame) -> bool:
        return "command" in server and not Path(server["command"]).exists()

    drop(
        agent,
        lambda frame: (
            frame.get("method") == "session/new" and any(map(is_missing, frame["params"]["mcpServers"]))
        ),
    )


@fault("mcp-tool-call")
def tool_call_unreported(agent: ConcurrentAgent) -> None:
    send = agent.send
    agent.send = lambda frame: None if '"tool_call"' in json.dumps(frame) else send(frame)  # type: ignore[method-assign]


# --------------------------------------------------------------------------- elicitation


@fault("elicitation-mode-declared")
def asks_anyway(agent: ConcurrentAgent) -> None:
    agent.turn_ask = agent.ask_form  # type: ignore[method-assign]


def change_questions(*checks: str, **fields: Any) -> None:
    """Register a fault: these fields of each question are different, or missing if they are None."""

    def change(params: Frame) -> None:
        params.update(fields)
        for name in [name for name, value in fields.items() if value is None]:
            del params[name]

    fault(*checks)(lambda agent: change_calls(agent, "elicitation/create", change))


def form(**properties: Any) -> Frame:
    return {"type": "object", "properties": properties}


change_questions("elicitation-mode", mode=None)
change_questions("elicitation-scope", sessionId=None)
change_questions("elicitation-form", requestedSchema=form(address={"type": "object", "properties": {}}))
change_questions("elicitation-no-secret", requestedSchema=form(password={"type": "string"}))
change_questions("elicitation-url", elicitationId="")
change_questions("schema-elicitation", colour="red")


def hangs_after(*checks: str, **answer: Any) -> None:
    """Register a fault: the agent ignores answers to its questions with these fields."""

    def change(agent: ConcurrentAgent) -> None:
        drop(agent, lambda frame: "method" not in frame and has_fields(frame, answer))

    fault(*checks)(change)


def has_fields(frame: Frame, fields: dict[str, Any]) -> bool:
    result = frame.get("result") or frame
    return all(name in result and value in (..., result[name]) for name, value in fields.items())


hangs_after("elicitation-accepted", action="accept")
hangs_after("elicitation-declined", action="decline")
hangs_after("elicitation-dismissed", action="cancel")
hangs_after("elicitation-failed", "failed-permission", error=...)


@fault("elicitation-turn-cancelled")
def cancel_without_confirmation(agent: ConcurrentAgent) -> None:
    end_turn = agent.end_turn
    agent.end_turn = lambda session, reason="": end_turn(session)  # type: ignore[method-assign]


# --------------------------------------------------------------------------- steering, subagents


@fault("steering-without-turn")
def always_injected(agent: ConcurrentAgent) -> None:
    reply(agent, "_session/steering", {"outcome": "injected"})


@fault("steering-in-turn")
def never_injected(agent: ConcurrentAgent) -> None:
    reply(agent, "_session/steering", {"outcome": "promptRequired"})


@fault("subagents-declared")
def children_for_all(agent: ConcurrentAgent) -> None:
    agent.turn_subagent = lambda session: agent.start_child(session, "child")  # type: ignore[method-assign]


@fault("subagents-announced")
def child_speaks_first(agent: ConcurrentAgent) -> None:
    start_child = agent.start_child

    def start(session: str, child: str) -> None:
        agent.say(child, "I have begun.")
        start_child(session, child)

    agent.start_child = start  # type: ignore[method-assign]


@fault("subagents-session-id")
def child_is_parent(agent: ConcurrentAgent) -> None:
    agent.turn_subagent = lambda session: agent.start_child(session, session)  # type: ignore[method-assign]


@fault("subagents-states")
def odd_state(agent: ConcurrentAgent) -> None:
    change_updates(agent, "state_update", lambda update: update.update(state="busy"))


@fault("subagents-folders")
def relative_folder(agent: ConcurrentAgent) -> None:
    change_updates(agent, "subagent_update", lambda update: update.update(cwd="src"))


@fault("subagents-cancel")
def child_keeps_running(agent: ConcurrentAgent) -> None:
    end_child = agent.end_child
    agent.end_child = lambda session, child: (  # type: ignore[method-assign]
        agent.end_turn(session) if agent.child_cancelled else end_child(session, child)
    )


# --------------------------------------------------------------------------- extensions


def is_custom_request(frame: Frame) -> bool:
    return str(frame.get("method")).startswith("_acp-tui.example") and "id" in frame


@fault("custom-request-answered")
def custom_requests_unanswered(agent: ConcurrentAgent) -> None:
    drop(agent, is_custom_request)


@fault("custom-request-refused")
def custom_requests_succeed(agent: ConcurrentAgent) -> None:
    reply(agent, "_acp-tui.example/unknown", None)


@fault("unknown-request-refused")
def unknown_requests_succeed(agent: ConcurrentAgent) -> None:
    reply(agent, "session/acp_tui_unknown", None)


@fault("custom-notification-ignored")
def custom_notifications_answered(agent: ConcurrentAgent) -> None:
    reply(agent, "_acp-tui.example/event", None)


@fault("unknown-notification-ignored")
def unknown_notifications_answered(agent: ConcurrentAgent) -> None:
    reply(agent, "$/acp_tui_unknown", None)


@fault("meta-in-session-new")
def no_meta_in_sessions(agent: ConcurrentAgent) -> None:
    refuse(agent, "session/new", lambda frame: "_meta" in frame["params"])


@fault("meta-in-prompt")
def no_meta_in_prompts(agent: ConcurrentAgent) -> None:
    refuse(agent, "session/prompt", lambda frame: "_meta" in frame["params"])


@fault("own-extensions-underscore")
def own_method_without_underscore(agent: ConcurrentAgent) -> None:
    initialize = agent.handlers["initialize"]

    def announce(frame: Frame) -> None:
        initialize(frame)
        agent.send({"method": "concurrent/event", "params": {}})

    agent.handlers["initialize"] = announce


# --------------------------------------------------------------------------- robustness


@fault("zero-id")
def zero_is_no_id(agent: ConcurrentAgent) -> None:
    drop(agent, lambda frame: "method" in frame and not frame.get("id", "none"))


@fault("string-id")
def ids_are_numbers(agent: ConcurrentAgent) -> None:
    drop(agent, lambda frame: "method" in frame and isinstance(frame.get("id"), str))


@fault("large-id")
def ids_become_strings(agent: ConcurrentAgent) -> None:
    change_answers(agent, "initialize", lambda frame: {**frame, "id": str(frame["id"])})


@fault("key-order")
def version_comes_first(agent: ConcurrentAgent) -> None:
    drop_lines(agent, lambda line: not line.lstrip().startswith('{"jsonrpc"'))


@fault("json-spelling")
def reads_json_with_a_pattern(agent: ConcurrentAgent) -> None:
    drop_lines(agent, lambda line: not re.search('"(method|result|error)": ', line))


@fault("null-fields")
def null_is_no_object(agent: ConcurrentAgent) -> None:
    refuse(agent, "session/new", lambda frame: frame["params"].get("_meta", {}) is None)


@fault("unicode")
def splits_at_every_line_separator(agent: ConcurrentAgent) -> None:
    drop_lines(agent, lambda line: len(line.splitlines()) > 1)


@fault("long-message", "big-prompt")
def small_buffer(agent: ConcurrentAgent) -> None:
    drop_lines(agent, lambda line: len(line) > 65536)


@fault("empty-prompt")
def needs_a_block(agent: ConcurrentAgent) -> None:
    drop(agent, lambda frame: frame.get("method") == "session/prompt" and not frame["params"]["prompt"])


@fault("pipelined-requests")
def loses_every_third_request(agent: ConcurrentAgent) -> None:
    seen: list[Frame] = []

    def is_third(frame: Frame) -> bool:
        if is_custom_request(frame):
            seen.append(frame)
        return is_custom_request(frame) and len(seen) % 3 == 0

    drop(agent, is_third)


@fault("second-session")
def one_session_only(agent: ConcurrentAgent) -> None:
    agent.handlers["session/new"] = lambda frame: agent.answer(frame, {"sessionId": "session-1"})


@fault("second-prompt")
def second_prompt_lost(agent: ConcurrentAgent) -> None:
    drop(
        agent,
        lambda frame: frame.get("method") == "session/prompt" and frame["params"]["sessionId"] in agent.turns,
    )


@fault("request-during-turn")
def busy_during_turns(agent: ConcurrentAgent) -> None:
    drop(agent, lambda frame: agent.turns and is_custom_request(frame))


@fault("cancel-request")
def cancelled_request_fails(agent: ConcurrentAgent) -> None:
    fail = agent.fail
    agent.fail = lambda request, code, message: fail(  # type: ignore[method-assign]
        request, -32603 if code == -32800 else code, message
    )


@fault("cancel-request-of-nothing")
def cancel_request_answered(agent: ConcurrentAgent) -> None:
    reply(agent, "$/cancel_request", None)


@fault("cancel-of-unknown-session")
def cancel_answered(agent: ConcurrentAgent) -> None:
    reply(agent, "session/cancel", None)


@fault("late-permission")
def next_frame_is_the_answer(agent: ConcurrentAgent) -> None:
    """Take the frame after a question for its answer, and drop it if it is none."""
    waits: list[bool] = []
    ask = agent.ask

    def asking(method: str, params: Any, then: Callable[[Frame], None]) -> None:
        waits.append(True)
        ask(method, params, then)

    def is_lost(frame: Frame) -> bool:
        if waits and "method" in frame:
            waits.clear()
            agent._waiting.clear()
            return True
        return "method" not in frame and not agent._waiting

    agent.ask = asking  # type: ignore[method-assign]
    drop(agent, is_lost)


@fault("permission-after-cancel")
def late_answer_is_fatal(agent: ConcurrentAgent) -> None:
    def is_late(frame: Frame) -> bool:
        if "method" not in frame and not agent.turns:
            sys.exit("an answer that nothing waits for")
        return False

    drop(agent, is_late)


def without(frame: Frame, *path: str) -> Frame:
    """Return a frame without one field."""
    inner = frame
    for name in path[:-1]:
        inner[name] = dict(inner[name])
        inner = inner[name]
    del inner[path[-1]]
    return frame


def main() -> None:
    """Run the agent."""
    agent = ConcurrentAgent()
    for check in sys.argv[1:]:
        FAULTS[check](agent)
    agent.run()


if __name__ == "__main__":
    main()
