"""An agent that follows the protocol in everything the conformance suite checks, except for one fault.

`python -m tests.fake_agents.conformant [CHECK]` violates what the check of this name is about. Its prompts
are in `conformant_prompts.toml`. Sessions are stored in the folder in which the agent is started.
"""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.fake_agents.scripted_agent import ScriptedAgent, chunk, request_frame

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
STORE = Path("conformant-sessions.json")
SCHEMA_FAULTS = {
    "schema-initialize": "initialize",
    "schema-session-new": "session/new",
    "schema-session-prompt": "session/prompt",
    "schema-session-update": "session/update",
    "schema-permission": "session/request_permission",
    "schema-read": "fs/read_text_file",
    "schema-write": "fs/write_text_file",
    "schema-terminal": "terminal/create",
    "schema-set-mode": "session/set_mode",
    "schema-set-option": "session/set_config_option",
    "schema-load": "session/load",
    "schema-resume": "session/resume",
    "schema-list": "session/list",
    "schema-close": "session/close",
    "schema-delete": "session/delete",
}
"""Faults that add an unknown field to a message."""
BLOCK_FAULTS = {"resource-link": "resource_link", "image": "image", "audio": "audio"}
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "sessionCapabilities": {
        name: {} for name in ("list", "resume", "close", "fork", "delete", "additionalDirectories")
    },
}
Request = dict[str, Any]


def wrong(fault: str) -> bool:
    """Return True if this is the fault to show."""
    return fault == FAULT


class ConformantAgent(ScriptedAgent):
    """Answers prompts by their first word: see `prompt`."""

    def __init__(self) -> None:
        super().__init__()
        self.client: dict[str, Any] = {}  # its capabilities
        self.folders: dict[str, Path] = {}  # of the open sessions
        self.running: dict[str, Request] = {}  # prompts that only a cancellation ends
        self.terminals: dict[str, str] = {}  # of the running prompts
        self.cancelled: set[str] = set()
        self.prompts: dict[str, int] = {}
        self.allowed_before = False
        self.calls = 0
        self.options = {"model": "small", "fast": False}
        self.handlers = {
            name.removeprefix("on_").replace("__", "/"): getattr(type(self), name)
            for name in dir(self)
            if name.startswith("on_")
        }

    # ----------------------------------------------------------------- sending

    def send(self, *frames: Any) -> None:
        for frame in frames:
            if FAULT in SCHEMA_FAULTS and frame.get("method") == SCHEMA_FAULTS[FAULT]:
                frame["params"]["surprise"] = 1
            if wrong("jsonrpc-2.0") and frame.get("method") == "session/update":
                del frame["jsonrpc"]
        super().send(*frames)

    def answer(self, request: Request, result: Any) -> None:
        if request["method"] == SCHEMA_FAULTS.get(FAULT):
            result = {**result, "surprise": 1}
        if request["method"] == "session/prompt" and wrong("own-stop-reason"):
            result = {"stopReason": "done", "surprise": 1}
        super().answer(request, result)

    def update(self, session: str, update_kind: str, **fields: Any) -> None:
        update = {"sessionUpdate": update_kind, **fields}
        self.send(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}
        )

    def refuse(self, request: Request, code: int = -32602) -> None:
        self.fail(request, {"code": code, "message": "Refused"})

    # ----------------------------------------------------------------- initialize

    def on_initialize(self, request: Request) -> None:
        params = request["params"]
        self.client = params.get("clientCapabilities") or {}
        if wrong("no-capabilities") and "clientCapabilities" not in params:
            return self.refuse(request)
        if wrong("unknown-capabilities") and "_meta" in self.client:
            return self.refuse(request)
        version: Any = 1
        if wrong("version-is-integer"):
            version = "1"
        elif wrong("same-version"):
            version = 2 if params["protocolVersion"] == 1 else 1
        elif wrong("future-version"):
            version = params["protocolVersion"]
        result = {
            "protocolVersion": version,
            "agentInfo": {"name": "conformant", "version": "1"},
            "agentCapabilities": CAPABILITIES,
            "authMethods": [],
        }
        if wrong("initialize"):
            del result["protocolVersion"]
        if wrong("stdout-only-messages"):
            self.raw("Loading ...\n")
        if wrong("one-line-per-message"):
            self.raw(json.dumps({"jsonrpc": "2.0", "method": "_x"}, indent=2) + "\n")
        if wrong("message-is-object"):
            self.raw("[1]\n")
        if wrong("utf-8"):
            sys.stdout.flush()
            sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "method": "_\xff"}\n')
        return self.answer(request, result)

    # ----------------------------------------------------------------- sessions

    def on_session__new(self, request: Request) -> None:
        params = request["params"]
        if wrong("additional-directories") and params.get("additionalDirectories"):
            return self.refuse(request)
        session = "only" if wrong("session-ids-differ") else uuid.uuid4().hex
        self.open(session, params["cwd"])
        result = {"sessionId": session, **self.state()}
        return self.answer(request, {} if wrong("session-new") else result)

    def open(self, session: str, cwd: str) -> None:
        self.folders[session] = Path(cwd)
        self.prompts[session] = 0

    def state(self) -> dict[str, Any]:
        return {"modes": self.modes(), "configOptions": self.config_options()}

    def modes(self) -> dict[str, Any]:
        ids = ("ask", "ask" if wrong("mode-ids-differ") else "code")
        return {
            "currentModeId": "nope" if wrong("current-mode") else "ask",
            "availableModes": [{"id": mode, "name": mode} for mode in ids],
        }

    def config_options(self) -> list[dict[str, Any]]:
        model: dict[str, Any] = {
            "id": "model",
            "name": "Model",
            "type": "select",
            "currentValue": "nope" if wrong("option-values") else self.options["model"],
            "options": [{"value": value, "name": value} for value in ("small", "large")],
        }
        if wrong("option-defaults"):
            del model["currentValue"]
        identity = "model" if wrong("option-ids-differ") else "fast"
        fast = {"id": identity, "name": "Fast", "type": "boolean", "currentValue": self.options["fast"]}
        declared = "boolean" in self.client.get("session", {}).get("configOptions", {})
        return [model, fast] if declared or wrong("no-undeclared-booleans") else [model]

    def on_session__set_mode(self, request: Request) -> None:
        if wrong("set-mode"):
            return self.refuse(request)
        params = request["params"]
        mode = "nope" if wrong("mode-updates-known") else params["modeId"]
        self.update(params["sessionId"], "current_mode_update", currentModeId=mode)
        return self.answer(request, {})

    def on_session__set_config_option(self, request: Request) -> None:
        option, value = request["params"]["configId"], request["params"]["value"]
        if not wrong("set-boolean" if option == "fast" else "set-option"):
            self.options[option] = value
        options = self.config_options()
        self.answer(request, {"configOptions": options[:1] if wrong("set-option-answers-all") else options})

    # ----------------------------------------------------------------- stored sessions

    def stored(self) -> dict[str, Any]:
        sessions: dict[str, Any] = json.loads(STORE.read_text()) if STORE.exists() else {}
        return sessions

    def store(self, session: str, prompt: str) -> None:
        sessions = self.stored()
        sessions[session] = {"cwd": str(self.folders[session]), "prompt": prompt}
        STORE.write_text(json.dumps(sessions))

    def replay(self, session: str) -> None:
        stored = self.stored().get(session, {"prompt": "?"})
        content = {"type": "text", "text": stored["prompt"]}
        self.update(session, "user_message_chunk", content=content)
        self.say("pong", session)

    def on_session__load(self, request: Request) -> None:
        session = request["params"]["sessionId"]
        if wrong("load"):
            return self.refuse(request)
        self.open(session, request["params"]["cwd"])
        if not wrong("load-replays"):
            self.replay(session)
        self.answer(request, self.state())
        if wrong("load-replays-first"):
            self.replay(session)
        return self.spoil_next_prompt(session, "prompt-after-load")

    def on_session__resume(self, request: Request) -> None:
        session = request["params"]["sessionId"]
        if wrong("resume"):
            return self.refuse(request)
        self.open(session, request["params"]["cwd"])
        if wrong("resume-replays-nothing"):
            self.replay(session)
        self.answer(request, self.state())
        return self.spoil_next_prompt(session, "prompt-after-resume")

    def spoil_next_prompt(self, session: str, fault: str) -> None:
        if wrong(fault):
            del self.folders[session]

    def on_session__list(self, request: Request) -> None:
        cwd, cursor = request["params"].get("cwd"), int(request["params"].get("cursor") or 0)
        everything = list(self.stored().items())
        found = [item for item in everything if cwd in (None, item[1]["cwd"]) or wrong("list-filters")]
        if wrong("list-is-empty") and not found:
            found = everything
        if wrong("lists-session"):
            found = []
        page = [
            {"sessionId": session, "cwd": "relative" if wrong("list-directories-absolute") else stored["cwd"]}
            for session, stored in found[cursor : cursor + 2]
        ]
        result: dict[str, Any] = {"sessions": page}
        if len(found) > cursor + 2 or wrong("list-ends"):
            result["nextCursor"] = "7" if wrong("list-ends") else str(cursor + 2)
        self.answer(request, result)

    def on_session__close(self, request: Request) -> None:
        session = request["params"]["sessionId"]
        if wrong("close"):
            return self.refuse(request)
        if not wrong("close-cancels"):
            self.end_running(session)
        return self.answer(request, {})

    def on_session__fork(self, request: Request) -> None:
        session = request["params"]["sessionId"] if wrong("fork") else uuid.uuid4().hex
        self.open(session, request["params"]["cwd"])
        self.answer(request, {"sessionId": session, **self.state()})

    def on_session__delete(self, request: Request) -> None:
        sessions = self.stored()
        if not wrong("delete"):
            sessions.pop(request["params"]["sessionId"], None)
        STORE.write_text(json.dumps(sessions))
        self.answer(request, {})

    # ----------------------------------------------------------------- cancellation

    def on_session__cancel(self, request: Request) -> None:
        session = request["params"]["sessionId"]
        if wrong("answers-to-requests-only"):
            self.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "No"}})
        if session in self.running:
            self.end_running(session)
        elif wrong("cancel-without-turn"):
            self.cancelled.add(session)

    def end_running(self, session: str) -> None:
        """End a running prompt as cancelled."""
        request = self.running.pop(session, None)
        if request is None:
            return
        is_command = session in self.terminals
        terminal = self.terminals.pop(session, "")
        if terminal and not wrong("released-after-cancel"):
            self.ask("terminal/release", {"sessionId": session, "terminalId": terminal})
        if wrong("cancelled-without-error"):
            self.refuse(request, -32603)
        else:
            honest = not wrong("cancelled-command" if is_command else "cancelled")
            self.end_turn(request, "cancelled" if honest else "end_turn")
        if wrong("nothing-after-cancelled"):
            self.say("one more thing", session)
        if wrong("prompt-after-cancel"):
            self.cancelled.add(session)

    # ----------------------------------------------------------------- prompts

    def on_session__prompt(self, request: Request) -> None:
        params = request["params"]
        session, blocks = params["sessionId"], params["prompt"]
        if session not in self.folders:
            return self.refuse(request)
        self.prompts[session] += 1
        if self.refuses(blocks) or (wrong("next-prompt") and self.prompts[session] > 1):
            return self.refuse(request)
        if session in self.cancelled:
            self.cancelled.discard(session)
            return self.end_turn(request, "cancelled")
        if wrong("known-sessions"):
            self.say("hello", "ghost")
        if wrong("no-undeclared-updates"):
            self.update(session, "notice", severity="info", title="Mind this")
        word, *rest = blocks[0]["text"].split(maxsplit=1)
        return self.run_prompt(request, session, word, "".join(rest))

    def run_prompt(self, request: Request, session: str, word: str, argument: str) -> None:
        commands = {
            "reply": self.reply,
            "long": self.long,
            "read": self.read,
            "edit": self.edit,
            "command": self.command,
            "plan": self.plan,
        }
        commands.get(word, self.reply)(request, session, argument)

    def refuses(self, blocks: list[dict[str, Any]]) -> bool:
        """Return True if the fault is that a content block is not accepted."""
        last = blocks[-1]
        resource = last.get("resource", {})
        return (
            (wrong("text") and len(blocks) == 1)
            or (wrong("several-blocks") and len(blocks) > 1)
            or (wrong("annotations") and "annotations" in last)
            or (wrong("embedded-text") and "text" in resource)
            or (wrong("embedded-bytes") and "blob" in resource)
            or last["type"] == BLOCK_FAULTS.get(FAULT)
        )

    def reply(self, request: Request, session: str, _: str) -> None:
        self.say("pong", session)
        self.store(session, request["params"]["prompt"][0]["text"])
        if wrong("error-object"):
            return self.fail(request, "it broke")
        if wrong("one-answer-per-request"):
            self.end_turn(request)
        return self.answer(request, {} if wrong("stop-reason") else {"stopReason": "end_turn"})

    def long(self, request: Request, session: str, _: str) -> None:
        self.say("one ", session)
        self.running[session] = request

    def plan(self, request: Request, session: str, _: str) -> None:
        entry = {"content": "Boil water", "priority": "high", "status": "pending"}
        if wrong("plan"):
            del entry["status"]
        self.update(session, "plan", entries=[entry])
        self.end_turn(request)

    # ----------------------------------------------------------------- tool calls

    def start_call(self, session: str, kind: str, **fields: Any) -> str:
        """Announce a tool call and return its id."""
        self.calls += 1
        identity = f"call-{kind}" if wrong("call-ids-differ") else f"call-{self.calls}"
        if not wrong("update-is-announced"):
            fields = {"title": kind, "kind": kind, "status": "pending", **fields}
            self.update(session, "tool_call", toolCallId=identity, **fields)
        return identity

    def update_call(self, session: str, identity: str, **fields: Any) -> None:
        self.update(session, "tool_call_update", toolCallId=identity, **fields)
        if wrong("pending-comes-first") and fields.get("status") == "in_progress":
            self.update(session, "tool_call_update", toolCallId=identity, status="pending")

    def end_call(self, session: str, identity: str, *, failed: bool = False) -> None:
        if not wrong("calls-end"):
            self.update_call(session, identity, status="failed" if failed else "completed")

    def read(self, request: Request, session: str, argument: str) -> None:
        folder = Path.cwd() if wrong("cwd-is-used") else self.folders[session]
        path = folder / argument
        shown = path.name if wrong("absolute-paths") else str(path)
        location = {"path": shown, "line": 0 if wrong("lines-start-at-one") else 1}
        call = self.start_call(session, "read", locations=[location])
        self.update_call(session, call, status="in_progress")
        failed = not path.exists()
        if "fs" in self.client or wrong("no-undeclared-reads"):
            served = path.name if wrong("served-paths-absolute") else str(path)
            params = {"sessionId": session, "path": served, "line": 1}
            if wrong("served-lines-start-at-one"):
                params["line"] = 0
            if wrong("request-ids-differ"):
                self.send(*[request_frame("fs/read_text_file", dict(params), "same") for _ in range(2)])
            answer = self.ask("fs/read_text_file", params)
            failed = "error" in answer
            if failed and wrong("missing-file"):
                sys.exit(1)
        self.end_call(session, call, failed=failed)
        self.end_turn(request)

    def edit(self, request: Request, session: str, argument: str) -> None:
        path = Path(argument)
        call = self.start_call(session, "edit", locations=[{"path": str(path)}])
        if wrong("asks-before-acting"):
            path.write_text("deux")
        outcome = self.ask_permission(session, call, path)
        if outcome == "cancelled":
            return self.end_turn(request, "end_turn" if wrong("cancelled-question") else "cancelled")
        failed = outcome == "no" and not wrong("rejection-is-respected")
        if not failed:
            self.allowed_before = wrong("allow-once-is-once")
            self.update_call(session, call, status="in_progress")
            failed = not self.write(session, path)
            if failed and wrong("refused-write"):
                return None
        self.end_call(session, call, failed=failed)
        return self.end_turn(request)

    def ask_permission(self, session: str, call: str, path: Path) -> str:
        """Return the id of the chosen option, or "cancelled"."""
        if self.allowed_before:
            return "yes"
        ids = ("yes", "yes" if wrong("permission-options-differ") else "no")
        kinds = ("allow_once", "reject_once")
        options = [{"optionId": i, "name": i, "kind": k} for i, k in zip(ids, kinds, strict=True)]
        change = {"type": "diff", "path": str(path), "oldText": "two", "newText": "deux"}
        params = {
            "sessionId": session,
            "toolCall": {"toolCallId": call, "content": [change]},
            "options": [] if wrong("options-offered") else options,
        }
        if wrong("permission-is-request"):
            frame = request_frame("session/request_permission", params, 0)
            del frame["id"]
            self.send(frame)
            return "yes"
        outcome = self.ask("session/request_permission", params)["result"]["outcome"]
        return str(outcome.get("optionId", "cancelled"))

    def write(self, session: str, path: Path) -> bool:
        """Return True if the file was written."""
        if "fs" not in self.client and not wrong("no-undeclared-writes"):
            path.write_text("deux")
            return True
        params = {"sessionId": session, "path": str(path), "content": "one deux three\n"}
        return "error" not in self.ask("fs/write_text_file", params)

    def command(self, request: Request, session: str, argument: str) -> None:
        call = self.start_call(session, "execute", rawInput={"command": argument})
        self.update_call(session, call, status="in_progress")
        slow, code = argument.startswith("sleep"), 0
        if self.client.get("terminal") or wrong("no-undeclared-terminals"):
            params = {"sessionId": session, "command": "sh", "args": ["-c", argument]}
            params["cwd"] = "." if wrong("terminal-directory-absolute") else str(self.folders[session])
            created = self.ask("terminal/create", params)
            if "error" in created:
                self.end_call(session, call, failed=True)
                return self.end_turn(request)
            terminal = {"sessionId": session, "terminalId": created["result"]["terminalId"]}
            if slow:
                self.terminals[session] = terminal["terminalId"]
            else:
                code = self.follow(session, call, terminal)
        if slow:
            self.running[session] = request
            return None
        self.end_call(session, call, failed=code != 0)
        if code and wrong("failing-command"):
            return self.answer(request, {})
        return self.end_turn(request)

    def follow(self, session: str, call: str, terminal: dict[str, str]) -> int:
        """Wait for the end of a command, release its terminal, and return the exit code."""
        shown = "nope" if wrong("shown-terminals-exist") else terminal["terminalId"]
        self.update_call(session, call, content=[{"type": "terminal", "terminalId": shown}])
        code: int = self.ask("terminal/wait_for_exit", dict(terminal))["result"]["exitCode"]
        if wrong("terminals-exist"):
            self.ask("terminal/output", {**terminal, "terminalId": "nope"})
        if not wrong("terminals-are-released"):
            self.ask("terminal/release", dict(terminal))
        if wrong("released-terminals-unused"):
            self.ask("terminal/output", dict(terminal))
        return code

    def say(self, text: str, session: str = "") -> None:
        self.send(chunk(text, session))


if __name__ == "__main__":
    ConformantAgent().run()
