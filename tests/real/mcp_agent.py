"""Runs a real agent whose model calls the tools of MCP servers: `python mcp_agent.py RIG NAME`.

The marker `mock:tool [["SERVER/TOOL", {ARGUMENTS}], …]` in a prompt makes the mock model in the folder
RIG call these tools one after the other, under the names that the agent gives them.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from typing import Any

MARKER = re.compile(r"mock:tool +(\[.*\])")

Item = dict[str, Any]


def turn(rig: Any, conversation: list[Item], tools: list[Item]) -> Item | None:
    """Return what the model says next; None if the last prompt does not contain the marker."""
    prompts = [number for number, item in enumerate(conversation) if item["role"] == "user"]
    marked = [number for number in prompts if rig.MARK.search(conversation[number]["text"])]
    found = MARKER.search(conversation[marked[-1]]["text"]) if marked else None
    if found is None or not tools:
        return None
    since = conversation[marked[-1] + 1 :]
    searches = sum(item.get("searches", 0) for item in since)
    step = sum(item["role"] == "tool" for item in since) - searches
    calls = json.loads(found[1])
    if step >= len(calls):
        return {"text": "All tools have answered.\n"}
    name, arguments = calls[step]
    names = [tool["name"] for tool in tools]
    if matching := [one for one in names if rig.squash(one).endswith(rig.squash(name))]:
        return {"calls": [{"name": matching[0], "args": arguments, "id": rig.new_id("call_")}]}
    search = next((one for one in names if rig.squash(one) == "toolsearch"), None)
    if search is None or searches > step:
        return {"text": f"There is no tool {name}.\n"}
    # Claude Code shows the model the tools of MCP servers only after a search.
    query = {"query": f"select:mcp__{name.replace('/', '__')}", "max_results": 8}
    return {"calls": [{"name": search, "args": query, "id": rig.new_id("call_")}]}


def main() -> int:
    folder = sys.argv.pop(1)
    sys.path.insert(0, folder)
    rig: Any = importlib.import_module("mockllm")
    scripted = rig.script
    rig.script = lambda conversation, tools, *more: (
        turn(rig, conversation, tools) or scripted(conversation, tools, *more)
    )
    result: int = importlib.import_module("launch").main()
    return result


if __name__ == "__main__":
    sys.exit(main())
