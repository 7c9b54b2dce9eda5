"""An MCP server on standard input and output: `python mcp_server.py LOG TOOL …`.

Notes the methods it is asked for in LOG, a line each. Its tools take no arguments and answer `pong`.
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
        # Claude Code offers other tools to the model only after a search.
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
