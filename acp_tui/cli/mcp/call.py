"""`acp-tui mcp call NAME TOOL JSON`: calls a tool and prints its result."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.server_selection import server_named
from acp_tui.cli.mcp.server_session import connected, print_result
from acp_tui.cli.options import CANCELLED, FAILED, OK, add_file_option
from acp_tui.console import print_json, print_message
from acp_tui.errors import UsageError, UserError
from acp_tui.session.safe_text import escape_invisible_line, escape_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.calls import CallResult, Progress
    from acp_tui.mcp.connection import McpConnection

MAX_FAULTS = 3
"""The maximum number of faults to name in the warning about the arguments."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the server")
    parser.add_argument("tool", metavar="TOOL", help="the tool")
    about = "the arguments as a JSON object; - reads stdin"
    parser.add_argument("arguments", nargs="?", default="{}", metavar="JSON", help=about)
    parser.add_argument("--excluded", action="store_true", help="call a tool that is not offered to agents")
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.epilog = (
        "exit codes: 0 for a result, 1 for an error of the tool or the server, 2 for wrong arguments, "
        "130 if cancelled"
    )
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Call the tool. Return 1 if its result is an error."""
    arguments = _arguments(sys.stdin.read() if args.arguments == "-" else args.arguments)
    server = server_named(args.name, args.mcp_config)
    if not args.excluded and not server.allows_tool(args.tool):
        raise UsageError(
            f"The tool {args.tool} is excluded by the definition of {server.name}; "
            "use --excluded to call it nevertheless."
        )
    try:
        result, seconds = asyncio.run(_call(server, args.tool, arguments))
    except KeyboardInterrupt:
        tool, name = escape_line(args.tool), escape_line(server.name)
        message = f"Cancelled the call to the tool {tool} on the server {name}."
        raise UserError(message, exit_code=CANCELLED) from None
    if args.json:
        print_json(
            {
                "server": server.name,
                "tool": args.tool,
                "content": result.content,
                "structured_content": result.structured,
                "is_error": result.is_error,
                "seconds": seconds,
            }
        )
    else:
        print_result(result.content, result.structured)
    if result.is_error:
        print_message(f"The tool {args.tool} on the server {server.name} reported an error.")
        return FAILED
    return OK


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The arguments are not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise UsageError('The arguments must be a JSON object, such as {"path": "/tmp"}.')
    return value


async def _call(server: ResolvedServer, tool: str, arguments: dict[str, Any]) -> tuple[CallResult, float]:
    """Call the tool. Return its result and the duration in seconds. Raises `ServerFailure`."""
    from acp_tui.mcp.calls import call_tool
    from acp_tui.mcp.failures import ServerFailure

    async with connected(server, "call") as (connection, recorder):
        await _warn_of_faults(connection, tool, arguments)
        start = time.monotonic()
        try:
            result = await call_tool(connection, tool, arguments, on_progress=_print_progress)
        except (ServerFailure, asyncio.CancelledError) as error:
            sentence = str(error) or "Cancelled."
            recorder.call_failed(tool, arguments, sentence, time.monotonic() - start)
            raise
        seconds = round(time.monotonic() - start, 3)
        recorder.called(tool, arguments, result, seconds)
    return result, seconds


async def _warn_of_faults(connection: McpConnection, name: str, arguments: dict[str, Any]) -> None:
    """Say what in the arguments does not match the tool's schema. The server decides whether to accept it."""
    from acp_tui.mcp.inspection import find_tool
    from acp_tui.mcp.schema_validation import SchemaValidator

    tool = await find_tool(connection, name)
    faults = SchemaValidator(tool.input_schema).faults(arguments) if tool is not None else []
    if faults:
        problems = escape_invisible_line("; ".join(fault.sentence for fault in faults[:MAX_FAULTS]))
        print_message(
            f"The arguments do not match the schema of the tool {escape_invisible_line(name)}: {problems}. "
            "They are sent nevertheless."
        )


def _print_progress(progress: Progress) -> None:
    done = f"{progress.done:g}" + (f" of {progress.total:g}" if progress.total is not None else "")
    print_message(f"{done} {progress.message}".rstrip())
