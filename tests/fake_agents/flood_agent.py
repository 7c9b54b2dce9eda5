#!/usr/bin/env python3
"""A stand-alone ACP v1 agent that sends the amount of data that the prompt asks for.

Pure standard library (Python 3.9+), no SDK: newline-delimited JSON-RPC 2.0 on
stdin and stdout.  It measures clients under load, so all frames are valid,
deterministic and cheap to generate; texts are generated before the time is measured.

Prompt grammar (the first word of the prompt text picks the load):

    flood N SIZE [KIND] [RATE]   N chunks of SIZE characters of Markdown
                                 KIND: text (default) | code | lists | tables | plain
                                 RATE: chunks per second, 0 = without pauses
    fence LINES [PER]            LINES lines of code in fences of PER lines (default: all in one),
                                 in chunks of 40 characters
    thoughts N SIZE [RATE]       the same as agent_thought_chunk, then one short message
    tools N [LINES]              N tool calls, pending -> in_progress -> completed,
                                 each completed with a diff of LINES lines (default 20)
    plan N                       N plan updates over a list of 12 entries
    terminal LINES               one terminal/create that prints LINES lines, then
                                 wait_for_exit, output and release
    bigdiff LINES                one edit whose diff has LINES lines (one in ten changed)
    permission                   one edit permission request with all four kinds
    mixed N                      a realistic turn: thoughts, text, N tools, plan, text
    ask TEXT                     echoes TEXT

Every turn ends with a line `END-OF-FLOOD-<turn>` sent as an agent message chunk,
and then the session/prompt response (stopReason end_turn, or cancelled).

Environment:
    FLOOD_STATS   a file to which one JSON line per turn is appended: what was sent,
                  how long writing took (which shows the backpressure of the client), and
                  every message from the client that was neither a known request nor
                  an answer to a request of this agent.
    FLOOD_STARTUP seconds to sleep before answering initialize (default 0).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOCOL_VERSION = 1

# --------------------------------------------------------------------------- text

HEADINGS = ("Findings", "What changed", "Why it failed", "Next steps", "Trade-offs")
SENTENCES = (
    "The parser keeps one token of look-ahead, so **the fallback path** never runs twice. ",
    "I traced the call through `resolve_path()` and it returns early when the cache is warm. ",
    "Both branches write to the same buffer; the second one is *only* reached after a retry. ",
    "See [the design note](docs/design.md) for the reason the lock is taken before the read. ",
)
CODE = '''```python
def merge(left: list[int], right: list[int]) -> list[int]:
    """Merge two sorted lists."""
    result: list[int] = []
    while left and right:
        result.append((left if left[0] <= right[0] else right).pop(0))
    return result + left + right
```

'''
TABLE = (
    "| Module | Lines | Covered | Note |\n"
    "| --- | ---: | ---: | --- |\n"
    "| `reader.py` | 210 | 97% | tokenizer |\n"
    "| `writer.py` | 180 | 88% | needs a retry test |\n"
    "| `cache.py` | 95 | 100% | unchanged |\n\n"
)
LIST = (
    "- Split `load()` into a reader and a decoder\n"
    "- Keep the public signature\n"
    "  - except for `strict`, which moves to a keyword\n"
    "- Add a regression test for the empty file\n\n"
)
NUMBERED = "1. Read the header\n2. Check the version\n3. Map the sections\n\n"
QUOTE = "> A file that cannot be read is reported once, with its path.\n\n"


def section(number: int, kind: str) -> str:
    """Return one section of Markdown; `number` varies the wording."""
    if kind == "plain":
        return "".join(SENTENCES[(number + step) % 4] for step in range(4)).replace("*", "") + "\n\n"
    if kind == "code":
        return CODE
    if kind == "lists":
        return LIST + NUMBERED
    if kind == "tables":
        return TABLE
    paragraph = "".join(SENTENCES[(number + step) % 4] for step in range(3)) + "\n\n"
    parts = [f"## {HEADINGS[number % len(HEADINGS)]} {number}\n\n", paragraph]
    parts.append((LIST, CODE, NUMBERED, QUOTE + TABLE)[number % 4])
    return "".join(parts)


def chunks(count: int, size: int, kind: str) -> list[str]:
    """Return `count` chunks of exactly `size` characters of a Markdown text."""
    need = count * size
    parts: list[str] = []
    have = number = 0
    while have < need:
        text = section(number, kind)
        parts.append(text)
        have += len(text)
        number += 1
    text = "".join(parts)[:need]
    return [text[index * size : (index + 1) * size] for index in range(count)]


def open_fence(text: str) -> bool:
    """Return True if the text ends inside a code fence."""
    return sum(line.startswith("```") for line in text.split("\n")) % 2 == 1


def old_and_new(lines: int, every: int = 10) -> tuple[str, str]:
    """Return two versions of a Python file with `lines` lines, of which one in `every` differs."""
    old, new = [], []
    for number in range(lines):
        line = f"    value_{number} = compute(source[{number}], offset={number % 97})"
        old.append(line)
        new.append(line.replace("compute", "recompute") + "  # checked" if number % every == 0 else line)
    return "def run(source):\n" + "\n".join(old) + "\n", "def run(source):\n" + "\n".join(new) + "\n"


# ---------------------------------------------------------------------- transport


class Cancelled(Exception):  # noqa: N818  # not an error
    """The turn was cancelled."""


class Agent:
    """Reads in the main thread and runs each turn in its own thread."""

    def __init__(self) -> None:
        self.out = sys.stdout.buffer
        self.lock = threading.Lock()
        self.next_id = 0
        self.waiting: dict[int, dict[str, Any]] = {}
        self.cancelled: dict[str, threading.Event] = {}
        self.cwd: dict[str, str] = {}
        self.turn = 0
        self.sessions = 0
        self.stray: list[Any] = []
        self.client_capabilities: dict[str, Any] = {}

    def write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self.lock:
            self.out.write(data)
            self.out.flush()

    def update(self, session: str, **update: Any) -> None:
        if self.cancelled[session].is_set():
            raise Cancelled
        self.write(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}
        )

    def say(self, session: str, text: str, thought: bool = False) -> None:
        kind = "agent_thought_chunk" if thought else "agent_message_chunk"
        self.update(session, sessionUpdate=kind, content={"type": "text", "text": text})

    def call(self, method: str, params: dict[str, Any], timeout: float = 600.0) -> dict[str, Any]:
        """Send a request and return the answer, with its result or error."""
        done = threading.Event()
        with self.lock:
            self.next_id += 1
            number = self.next_id
            slot: dict[str, Any] = {"event": done}
            self.waiting[number] = slot
        self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if not done.wait(timeout):
            return {"error": {"message": "no answer in time"}}
        answer: dict[str, Any] = slot["answer"]
        return answer

    # ---- receiving

    def serve(self) -> None:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except ValueError:
                self.stray.append(line.decode("utf-8", "replace")[:200])
                continue
            if "method" in message:
                self.incoming(message)
            elif isinstance(message.get("id"), int) and message["id"] in self.waiting:
                slot = self.waiting.pop(message["id"])
                slot["answer"] = message
                slot["event"].set()
            else:
                self.stray.append(message)

    def incoming(self, message: dict[str, Any]) -> None:
        method, params, ident = message["method"], message.get("params") or {}, message.get("id")
        result: dict[str, Any] = {}
        if method == "initialize":
            time.sleep(float(os.environ.get("FLOOD_STARTUP", "0")))
            self.client_capabilities = params.get("clientCapabilities", {})
            result = {
                "protocolVersion": PROTOCOL_VERSION,
                "agentInfo": {"name": "flood-agent", "title": "Flood", "version": "1"},
                "agentCapabilities": {
                    "loadSession": True,
                    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                },
                "authMethods": [],
            }
        elif method in ("session/new", "session/load"):
            self.sessions += 1
            session = params.get("sessionId") or f"flood-{self.sessions}"
            self.cwd[session] = params.get("cwd", "/")
            self.cancelled[session] = threading.Event()
            result = {"sessionId": session} if method == "session/new" else {}
        elif method == "session/prompt":
            threading.Thread(target=self.prompt, args=(ident, params), daemon=True).start()
            return
        elif method == "session/cancel":
            self.cancelled.setdefault(params.get("sessionId", ""), threading.Event()).set()
        elif ident is not None:
            self.write(
                {"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": f"no {method} here"}}
            )
            return
        if ident is not None:
            self.write({"jsonrpc": "2.0", "id": ident, "result": result})

    # ---- turns

    def prompt(self, ident: Any, params: dict[str, Any]) -> None:
        session = params["sessionId"]
        self.cancelled[session].clear()
        self.turn += 1
        turn = self.turn
        blocks = [block for block in params["prompt"] if block.get("type") == "text"]
        words = " ".join(block.get("text", "") for block in blocks).split()
        stats: dict[str, Any] = {"turn": turn, "prompt": " ".join(words)[:80]}
        reason = "end_turn"
        try:
            run = getattr(self, "do_" + (words[0] if words else ""), None)
            started = time.monotonic()
            if run is None:
                self.say(session, f"I know: {' '.join(names())}\n")
            else:
                run(session, words[1:], stats)
            stats["seconds"] = round(time.monotonic() - started, 4)
            self.say(session, f"\n\nEND-OF-FLOOD-{turn}\n")
        except Cancelled:
            reason = "cancelled"
        stats["stopReason"] = reason
        stats["stray"] = self.stray
        self.stray = []
        if path := os.environ.get("FLOOD_STATS"):
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(stats) + "\n")
        self.write({"jsonrpc": "2.0", "id": ident, "result": {"stopReason": reason}})

    def stream(
        self, session: str, pieces: list[str], rate: float, thought: bool, stats: dict[str, Any]
    ) -> None:
        started = time.monotonic()
        for number, piece in enumerate(pieces):
            if rate:
                ahead = started + number / rate - time.monotonic()
                if ahead > 0:
                    time.sleep(ahead)
            self.say(session, piece, thought)
        stats["chunks"] = len(pieces)
        stats["write_seconds"] = round(time.monotonic() - started, 4)
        if open_fence("".join(pieces)):
            self.say(session, "\n```\n", thought)

    def do_flood(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        count, size = int(args[0]), int(args[1])
        kind = args[2] if len(args) > 2 else "text"
        rate = float(args[3]) if len(args) > 3 else 0.0
        if kind == "thoughts":
            self.do_thoughts(session, [args[0], args[1], *args[3:4]], stats)
            return
        self.stream(session, chunks(count, size, kind), rate, False, stats)

    def do_fence(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        lines = int(args[0])
        per = int(args[1]) if len(args) > 1 else lines
        code = CODE.split("\n")[1:-3]
        parts = []
        for first in range(0, lines, per):
            inside = (code[number % len(code)] for number in range(first, min(first + per, lines)))
            parts.append("```python\n" + "\n".join(inside) + "\n```\n\n")
        text = "".join(parts)
        self.stream(session, [text[at : at + 40] for at in range(0, len(text), 40)], 0.0, False, stats)

    def do_thoughts(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        rate = float(args[2]) if len(args) > 2 else 0.0
        self.stream(session, chunks(int(args[0]), int(args[1]), "text"), rate, True, stats)

    def do_tools(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        count = int(args[0])
        old, new = old_and_new(int(args[1]) if len(args) > 1 else 20)
        first = int(args[2]) if len(args) > 2 else 0
        started = time.monotonic()
        for number in range(first, first + count):
            ident = f"call-{self.turn}-{number}"
            path = f"{self.cwd[session]}/src/module_{number}.py"
            self.update(
                session,
                sessionUpdate="tool_call",
                toolCallId=ident,
                title=f"Edit src/module_{number}.py",
                kind="edit",
                status="pending",
                locations=[{"path": path, "line": 1}],
                rawInput={"path": path},
            )
            self.update(session, sessionUpdate="tool_call_update", toolCallId=ident, status="in_progress")
            self.update(
                session,
                sessionUpdate="tool_call_update",
                toolCallId=ident,
                status="completed",
                content=[{"type": "diff", "path": path, "oldText": old, "newText": new}],
            )
        stats["write_seconds"] = round(time.monotonic() - started, 4)

    def do_plan(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        count = int(args[0])
        for number in range(count):
            at = number * 12 // max(1, count)
            entries = [
                {
                    "content": f"Step {entry + 1}: change module {entry} and run its tests",
                    "priority": ("high", "medium", "low")[entry % 3],
                    "status": "completed" if entry < at else "in_progress" if entry == at else "pending",
                }
                for entry in range(12)
            ]
            self.update(session, sessionUpdate="plan", entries=entries)

    def do_terminal(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        lines = int(args[0])
        script = (
            f"import sys\nfor i in range({lines}):\n"
            "    sys.stdout.write('\\x1b[32mline %06d\\x1b[0m compiling module %d of it\\n' % (i, i))"
        )
        answer = self.call(
            "terminal/create",
            {
                "sessionId": session,
                "command": sys.executable,
                "args": ["-c", script],
                "cwd": self.cwd[session],
                "outputByteLimit": 1 << 20,
            },
        )
        if "result" not in answer:
            stats["error"] = answer
            return
        terminal = {"sessionId": session, "terminalId": answer["result"]["terminalId"]}
        self.update(
            session,
            sessionUpdate="tool_call",
            toolCallId=f"term-{self.turn}",
            title="Run the build",
            kind="execute",
            status="in_progress",
            content=[{"type": "terminal", "terminalId": terminal["terminalId"]}],
        )
        stats["exit"] = self.call("terminal/wait_for_exit", terminal).get("result")
        output = self.call("terminal/output", terminal).get("result", {})
        stats["output_chars"] = len(output.get("output", ""))
        stats["truncated"] = output.get("truncated")
        self.call("terminal/release", terminal)
        self.update(
            session, sessionUpdate="tool_call_update", toolCallId=f"term-{self.turn}", status="completed"
        )

    def do_bigdiff(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        old, new = old_and_new(int(args[0]))
        path = f"{self.cwd[session]}/src/generated.py"
        ident = f"big-{self.turn}"
        self.update(
            session,
            sessionUpdate="tool_call",
            toolCallId=ident,
            title="Edit src/generated.py",
            kind="edit",
            status="in_progress",
            locations=[{"path": path}],
        )
        self.update(
            session,
            sessionUpdate="tool_call_update",
            toolCallId=ident,
            status="completed",
            content=[{"type": "diff", "path": path, "oldText": old, "newText": new}],
        )

    def do_permission(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        old, new = old_and_new(int(args[0]) if args else 20)
        path = f"{self.cwd[session]}/src/guarded.py"
        answer = self.call(
            "session/request_permission",
            {
                "sessionId": session,
                "toolCall": {
                    "toolCallId": f"perm-{self.turn}",
                    "title": "Edit src/guarded.py",
                    "kind": "edit",
                    "status": "pending",
                    "content": [{"type": "diff", "path": path, "oldText": old, "newText": new}],
                },
                "options": [
                    {"optionId": kind, "name": kind.replace("_", " ").capitalize(), "kind": kind}
                    for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
                ],
            },
        )
        stats["permission"] = answer.get("result", answer.get("error"))
        self.say(session, f"permission answer: `{json.dumps(stats['permission'])}`\n")

    def do_mixed(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        count = int(args[0])
        self.stream(session, chunks(200, 40, "text"), 0, True, stats)
        for number in range(count):
            self.do_plan(session, ["1"], stats)
            self.stream(session, chunks(50, 40, "text"), 0, False, stats)
            self.do_tools(session, ["1", "20", str(number)], stats)
        self.stream(session, chunks(200, 40, "text"), 0, False, stats)

    def do_ask(self, session: str, args: list[str], stats: dict[str, Any]) -> None:
        self.say(session, " ".join(args) + "\n")


def names() -> Iterator[str]:
    """Yield the names of the loads."""
    return (name[3:] for name in vars(Agent) if name.startswith("do_"))


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        print("loads:", *names())
    else:
        Agent().serve()
