"""A minimal client that runs the demo agent: a real process and raw JSON-RPC, without code of acp-tui."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Frame = dict[str, Any]

ALL_CAPABILITIES: Frame = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "auth": {"terminal": True},
    "elicitation": {"form": {}, "url": {}},
    "plan": {},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "_meta": {"terminal_output": True},
}


class RpcError(Exception):
    """Raised when the agent answers a request with an error."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error
        self.code = error.get("code") if isinstance(error, dict) else None


class DemoClient:
    """Starts the demo agent, answers its requests and keeps every frame that it sends."""

    def __init__(self, process: asyncio.subprocess.Process, root: Path) -> None:
        self.process = process
        self.root = root
        self.frames: list[Frame] = []  # everything the agent sent
        self.invalid_lines: list[str] = []  # lines on stdout that are not frames
        self.stderr = ""
        self.ended = False
        self.sends_invalid = False  # the test makes the agent violate the protocol or write to stderr
        self.unanswered: set[str] = set()  # methods of the agent's requests that get no answer
        self.sent_methods: dict[int, str] = {}  # the method of each request we sent, by id
        self.answers: dict[str, Callable[[Frame], Any]] = self._default_answers()
        self._next_id = 0
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._changed = asyncio.Condition()
        self._terminals: dict[str, tuple[int, str]] = {}
        self._stdout_task = asyncio.create_task(self._read_stdout())
        self._stderr_task = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(cls, root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> DemoClient:
        """Start the demo agent, at a pace without pauses."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "acp_tui.demo", *arguments),
            env={**os.environ, "ACP_TUI_DEMO_SPEED": "instant", **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            limit=64 * 1024 * 1024,
        )
        return cls(process, root)

    async def stop(self) -> str:
        """Close stdin, wait until the agent has ended, and return its stderr."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self.process.wait()
        await self._stdout_task
        await self._stderr_task
        return self.stderr

    def reset(self, root: Path) -> None:
        """Forget everything received, for the next test."""
        self.root = root
        self.frames.clear()
        self.invalid_lines.clear()
        self.unanswered.clear()
        self.answers = self._default_answers()
        self.sends_invalid = False
        self.stderr = ""

    # ------------------------------------------------------------------ sending

    async def initialize(self, capabilities: Frame | None = None) -> Frame:
        """Initialize the connection, by default with all capabilities."""
        capabilities = ALL_CAPABILITIES if capabilities is None else capabilities
        answer: Frame = await self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        return answer

    async def open_session(self, **params: Any) -> str:
        """Initialize the connection, create a session and return its id."""
        await self.initialize(params.pop("capabilities", None))
        return str(
            (await self.call("session/new", **{"cwd": str(self.root), "mcpServers": [], **params}))[
                "sessionId"
            ]
        )

    async def prompt(self, session: str, text: str, **params: Any) -> Frame:
        """Send a prompt and return the answer at the end of the turn."""
        answer: Frame = await self.start_prompt(session, text, **params)[1]
        return answer

    def start_prompt(self, session: str, text: str, **params: Any) -> tuple[int, asyncio.Future[Any]]:
        """Send a prompt; return the request id and a future of the answer."""
        prompt = [{"type": "text", "text": text}]
        return self.send_request("session/prompt", sessionId=session, prompt=prompt, **params)

    async def call(self, method: str, **params: Any) -> Any:
        """Send a request and return its result."""
        return await self.send_request(method, **params)[1]

    def send_request(self, method: str, **params: Any) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; return its id and a future of the result."""
        self._next_id += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[self._next_id] = future
        self.sent_methods[self._next_id] = method
        self.write({"id": self._next_id, "method": method, "params": params})
        return self._next_id, future

    def notify(self, method: str, **params: Any) -> None:
        self.write({"method": method, "params": params})

    def write(self, frame: Frame) -> None:
        self.write_line(json.dumps({"jsonrpc": "2.0", **frame}))

    def write_line(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until the condition is true for what the agent sent; return its value."""
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self.ended)
        result = condition()
        assert result, "the agent ended before this happened"
        return result

    # ------------------------------------------------------------------ what the agent sent

    def updates(self, kind: str | None = None, session: str | None = None) -> list[Frame]:
        """Return the session updates in order, optionally of one kind or session."""
        return [
            frame["params"]["update"]
            for frame in self.frames
            if frame.get("method") == "session/update"
            and (kind is None or frame["params"]["update"]["sessionUpdate"] == kind)
            and (session is None or frame["params"]["sessionId"] == session)
        ]

    def text(self, kind: str = "agent_message_chunk") -> str:
        """Return the text of all updates of a kind."""
        return "".join(update["content"].get("text", "") for update in self.updates(kind))

    def requests(self, method: str) -> list[Frame]:
        """Return the parameters of the agent's requests or notifications of a method."""
        return [frame["params"] for frame in self.frames if frame.get("method") == method]

    def calls(self) -> list[Frame]:
        """Return the tool calls in order, each merged from its announcement and its updates."""
        calls: dict[str, Frame] = {}
        for update in self.updates():
            if "toolCallId" in update:
                calls.setdefault(update["toolCallId"], {}).update(update)
        return list(calls.values())

    # ------------------------------------------------------------------ receiving

    async def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            try:
                frame = json.loads(line)
            except ValueError:
                frame = None
            if not isinstance(frame, dict):
                self.invalid_lines.append(line.decode().rstrip("\n"))
                continue
            self.frames.append(frame)
            await self._handle(frame)
            async with self._changed:
                self._changed.notify_all()
        self.ended = True
        for future in self._pending.values():
            if not future.done():
                future.set_exception(ConnectionError("the agent ended"))
        async with self._changed:
            self._changed.notify_all()

    async def _handle(self, frame: Frame) -> None:
        if "method" in frame:
            if "id" in frame and frame["method"] not in self.unanswered:
                self.write(self._answer(frame))
            return
        future = self._pending.get(frame["id"])
        if future is None or future.done():
            return
        if "error" in frame:
            future.set_exception(RpcError(frame["error"]))
        else:
            future.set_result(frame["result"])

    def _answer(self, frame: Frame) -> Frame:
        answer = self.answers.get(frame["method"])
        if answer is None:
            return {"id": frame["id"], "error": {"code": -32601, "message": "Method not found"}}
        try:
            return {"id": frame["id"], "result": answer(frame["params"])}
        except RpcError as error:
            return {"id": frame["id"], "error": error.error}

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(1 << 16):
            self.stderr += data.decode()
            async with self._changed:
                self._changed.notify_all()

    # ------------------------------------------------------------------ files and terminals

    def _default_answers(self) -> dict[str, Callable[[Frame], Any]]:
        return {
            "session/request_permission": lambda params: choose(params, "allow_once"),
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create,
            "terminal/wait_for_exit": lambda params: {"exitCode": self._terminals[params["terminalId"]][0]},
            "terminal/output": lambda params: {
                "output": self._terminals[params["terminalId"]][1],
                "truncated": False,
            },
            "terminal/release": lambda params: {},
        }

    def _read(self, params: Frame) -> Frame:
        file = self.root / params["path"]
        if not file.is_file():
            raise RpcError({"code": -32002, "message": "Resource not found"})
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        first = params.get("line", 1) - 1
        return {"content": "".join(lines[first : first + params.get("limit", len(lines))])}

    def _write(self, params: Frame) -> Frame:
        (self.root / params["path"]).write_text(params["content"], encoding="utf-8")
        return {}

    def _create(self, params: Frame) -> Frame:
        terminal = str(uuid.uuid4())
        run = subprocess.run(
            [params["command"], *params.get("args", [])],
            cwd=params["cwd"],
            env={**os.environ, **{each["name"]: each["value"] for each in params.get("env", [])}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self._terminals[terminal] = (run.returncode, run.stdout.decode())
        return {"terminalId": terminal}


def choose(params: Frame, kind: str) -> Frame:
    """Answer a permission request with its first option of a kind."""
    option = next(option for option in params["options"] if option["kind"] == kind)
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
