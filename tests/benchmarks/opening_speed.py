"""How long a long session takes to open, from the start of the program to the first screenful.

    python -m tests.benchmarks.opening_speed

The log has 5,000 entries and 100,000 chunks. Prints the seconds of `--resume` and of `replay --speed max`,
on the wall and of CPU, and for comparison those of a session of one turn.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support.cli import execute_json, script
from tests.support.terminal import Terminal

TURNS, THOUGHTS, CHUNKS = 1000, 20, 80
PIECES = ("a word and `another` ", "of **prose**, ", "\n\n- an item ", "\n\n```python\nx = 1\n```\n\n")
LAST_WORDS = "the last words"
AGENT = script(capabilities={"sessionCapabilities": {"resume": {}}})
RUNS = 3


def write_log(log: Path, turns: int) -> None:
    """Append turns to a log: a prompt, thoughts, a tool call and an answer each."""
    now = time.time()
    with log.open("a", encoding="utf-8") as file:
        for number, (direction, frame) in enumerate(
            pair for turn in range(turns) for pair in turn_frames(turn, is_last=turn == turns - 1)
        ):
            record = {"t": now + number / 100, "dir": direction, "frame": frame}
            file.write(json.dumps(record, separators=(",", ":")) + "\n")


def turn_frames(turn: int, *, is_last: bool) -> list[tuple[str, dict[str, Any]]]:
    prompt = [{"type": "text", "text": f"Please look at module {turn}."}]
    call = {"jsonrpc": "2.0", "id": 1000 + turn}
    params: dict[str, Any] = {"sessionId": "session-1", "prompt": prompt}
    tool = {"toolCallId": f"call-{turn}", "title": f"Read module_{turn}.py", "kind": "read"}
    return [
        ("sent", {**call, "method": "session/prompt", "params": params}),
        *[("received", chunk("I look at it. ", "agent_thought_chunk"))] * THOUGHTS,
        ("received", update({"sessionUpdate": "tool_call", **tool, "status": "pending"})),
        ("received", update({"sessionUpdate": "tool_call_update", **tool, "status": "completed"})),
        *[("received", chunk(PIECES[number % len(PIECES)])) for number in range(CHUNKS)],
        *([("received", chunk(f"\n\n{LAST_WORDS}"))] if is_last else []),
        ("received", {**call, "result": {"stopReason": "end_turn"}}),
    ]


def chunk(text: str, kind: str = "agent_message_chunk") -> dict[str, Any]:
    return update({"sessionUpdate": kind, "content": {"type": "text", "text": text}})


def update(content: dict[str, Any]) -> dict[str, Any]:
    params = {"sessionId": "session-1", "update": content}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def measure(*args: str, home: Path) -> tuple[float, float]:
    """Return the seconds on the wall and of CPU until the last words of the session are on the screen."""
    began, cpu = time.perf_counter(), cpu_of_children()
    with Terminal(*args, cwd=home) as terminal:
        while LAST_WORDS.encode() not in terminal.raw:
            terminal._read(0.5)
        shown = time.perf_counter() - began
    return shown, cpu_of_children() - cpu


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure a short and a long session in turns."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        os.environ["ACP_TUI_HOME"] = name
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
        logs = {}
        for turns in (1, TURNS):
            logs[turns] = Path(execute_json("hello", command=AGENT, cwd=home)["log"])
            write_log(logs[turns], turns)
        for _ in range(RUNS):
            for turns, log in logs.items():
                for command in (
                    ("--resume", log.parent.name, "--command", AGENT),
                    ("replay", log.parent.name, "--speed", "max"),
                ):
                    wall, cpu = measure(*command, home=home)
                    print(f"{command[0]:9} {turns:5} turns: {wall:5.2f} s, CPU {cpu:5.2f} s")


if __name__ == "__main__":
    main()
