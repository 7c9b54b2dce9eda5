"""`acp-tui mcp log NAME`: prints a server's log: the server's output and the calls of its tools."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from acp_tui.cli.mcp.server_selection import servers_here
from acp_tui.cli.mcp.server_session import block_text
from acp_tui.cli.options import OK, add_file_option
from acp_tui.config.paths import paths
from acp_tui.console import content_stream, print_message
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line, json_text, visible_excerpt
from acp_tui.store.mcp_log import McpLog, read_logs

DEFAULT_LINES = 200
MAX_EXCERPT = 300


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the server")
    about = f"number of records to print, counted from the end (default: {DEFAULT_LINES})"
    parser.add_argument("--lines", type=_count, default=DEFAULT_LINES, metavar="COUNT", help=about)
    parser.add_argument("--json", action="store_true", help="print each record as a line of JSON")
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the last records of the log."""
    records = _records(args.name, args.mcp_config)
    for record in records[max(len(records) - args.lines, 0) :]:
        print(json_text(record) if args.json else record_line(record), file=content_stream())
    if not records:
        print_message(f'There is no log of an MCP server "{args.name}".')
    return OK


def _records(name: str, mcp_config_files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the log of the server that the name stands for here; otherwise of any server of this name.

    Raises `UserError` if there is neither such a server nor a log.
    """
    try:
        server = servers_here(mcp_config_files).defined(name)
    except UserError:
        records = read_logs(paths().state, name)
        if not records:
            raise
        return records
    return McpLog(paths().state, name, str(server.file)).read()


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of records, got {text!r}")
    return int(text)


def record_line(record: dict[str, Any]) -> str:
    at = record.get("at")
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) if isinstance(at, int | float) else "?"
    return escape_line(f"{moment}  {record.get('source', '')}  {record.get('kind', '?')}  {_text(record)}")


def _text(record: dict[str, Any]) -> str:
    match record.get("kind"):
        case "stderr" | "stdout":
            return str(record.get("line", ""))
        case "log":
            data = record.get("data")
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            return " ".join(filter(None, (str(record.get("level", "")), str(record.get("logger", "")), text)))
        case "connected":
            return f"protocol {record.get('protocol', '')} {record.get('server', '')}"
        case "failed":
            return str(record.get("sentence", ""))
        case "changed":
            return f"the list of {record.get('list', '')}"
        case "call":
            outcome = record.get("failure") or _result(record.get("result"))
            arguments = visible_excerpt(record.get("arguments"), MAX_EXCERPT)
            return f"{record.get('tool', '')} {arguments} → {outcome} ({record.get('seconds', 0)} s)"
    return ""


def _result(result: Any) -> str:
    """Return the content of a call's result, shortened."""
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, list) or not content:
        return visible_excerpt(result, MAX_EXCERPT)
    text = " ".join(block_text(block) for block in content if isinstance(block, dict))
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT]}…"
