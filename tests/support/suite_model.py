"""A model for the conformance suite: it answers each of the prompts with the calls that are asked for."""

from __future__ import annotations

from typing import Any

from acp_tui.doctor.suite.mcp_probe import TOOL


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


STEPS = [{"content": step, "status": "pending"} for step in ("Boil water", "Add tea", "Wait")]
NUMBERS = "".join(f"number {number}\n" for number in range(1, 301))

RULES: list[dict[str, Any]] = [
    {"when": "single word pong|only job", "role": "user", "answer": "pong"},
    {"when": "count from 1 to 300", "role": "user", "answer": {"text": NUMBERS, "delay": 0.02}},
    {"when": r"Read the file (\S+) (?:with|in)", "role": "user", "answer": _call("read", path="{1}")},
    {
        "when": r"In the file (\S+), replace",
        "role": "user",
        "answer": _call("edit", path="{1}", old="two", new="deux"),
    },
    {"when": "shell command `(.+?)` with", "role": "user", "answer": _call("run", command="{1}")},
    {"when": "plan or to-do tool", "role": "user", "answer": _call("plan", entries=STEPS)},
    {
        "when": "asking the user a question",
        "role": "user",
        "answer": _call("ask", question="Red or blue?", options=["red", "blue"]),
    },
    {"when": f"MCP tool {TOOL}", "role": "user", "answer": _call(f"acp-tui-probe__{TOOL}")},
    {"when": "(.*)", "role": "tool", "answer": "The result is: {1}"},
]
