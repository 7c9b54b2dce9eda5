"""An MCP server on stdin and stdout: `python mcp_server.py LOG TOOL …`.

It writes the methods of its requests to LOG, one per line. Its tools take no arguments and return `pong`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def result_of(method: str, params: dict[str, Any], tools: list[str]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "board", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        # Without this, Claude Code offers tools to the model only after a search.
        more = {"inputSchema": {"type": "object", "properties": {}}, "_meta": {"anthropic/alwaysLoad": True}}
        return {"tools": [{"name": name, "description": name, **more} for name in tools]}
    return {"content": [{"type": "text", "text": "pong"}]} if method == "tools/call" else {}


def main() -> None:
    log, *tools = sys.argv[1:]
    for line in sys.stdin:
        request = json.loads(line)
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(request["method"] + "\n")
        if "id" in request:
            result = result_of(request["method"], request.get("params", {}), tools)
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
