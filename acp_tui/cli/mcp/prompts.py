"""`acp-tui mcp prompts`: lists the prompts of servers, or prints a prompt with its arguments filled in."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.inspections import print_offers
from acp_tui.cli.mcp.server_selection import server_named
from acp_tui.cli.mcp.server_session import block_text, connected
from acp_tui.cli.options import OK, add_file_option, assignment
from acp_tui.console import content_stream, print_json

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.calls import PromptResult
    from acp_tui.mcp.inspection import Inspection, PromptInfo


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the server (default: all)")
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="print this prompt")
    parser.add_argument(
        "arguments", nargs="*", type=assignment, metavar="KEY=VALUE", help="an argument of the prompt"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the prompts, or one prompt."""
    if args.prompt is None:
        return print_offers(args, _document, _rows, lists=("prompts",))
    server = server_named(args.name, args.mcp_config)
    result = asyncio.run(_get(server, args.prompt, dict(args.arguments)))
    if args.json:
        print_json({"server": server.name, "prompt": args.prompt, **asdict(result)})
        return OK
    for message in result.messages:
        print(f"{message.role}:\n{block_text(message.content)}\n", file=content_stream())
    return OK


async def _get(server: ResolvedServer, name: str, arguments: dict[str, str]) -> PromptResult:
    from acp_tui.mcp.calls import get_prompt

    async with connected(server, "prompts") as (connection, _):
        return await get_prompt(connection, name, arguments)


def _document(found: Inspection) -> dict[str, Any]:
    return {"prompts": [asdict(each) for each in found.prompts]}


def _rows(found: Inspection) -> list[tuple[str, str]]:
    return [(_usage(prompt), prompt.description or prompt.title) for prompt in found.prompts]


def _usage(prompt: PromptInfo) -> str:
    words = [f"{each.name}=…" if each.required else f"[{each.name}=…]" for each in prompt.arguments]
    return " ".join([prompt.name, *words])
