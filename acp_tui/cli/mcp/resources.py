"""`acp-tui mcp resources`: lists the resources of servers, or prints one resource."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from acp_tui.cli.mcp.inspections import print_offers
from acp_tui.cli.mcp.server_selection import server_named
from acp_tui.cli.mcp.server_session import connected, print_blocks
from acp_tui.cli.options import OK, add_file_option
from acp_tui.console import print_json

if TYPE_CHECKING:
    import argparse

    from acp_tui.config.mcp import ResolvedServer
    from acp_tui.mcp.inspection import Inspection


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the server (default: all)")
    parser.add_argument("uri", nargs="?", metavar="URI", help="print this resource")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_file_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the resources, or the content of one."""
    if args.uri is None:
        return print_offers(args, _document, _rows, lists=("resources", "resource_templates"))
    server = server_named(args.name, args.mcp_config)
    contents = asyncio.run(_read(server, args.uri))
    if args.json:
        print_json({"server": server.name, "contents": [block["resource"] for block in contents]})
    else:
        print_blocks(contents)
    return OK


async def _read(server: ResolvedServer, uri: str) -> list[dict[str, Any]]:
    from acp_tui.mcp.calls import read_resource

    async with connected(server, "resources") as (connection, _):
        return await read_resource(connection, uri)


def _document(found: Inspection) -> dict[str, Any]:
    return {
        "resources": [asdict(each) for each in found.resources],
        "templates": [asdict(each) for each in found.templates],
    }


def _rows(found: Inspection) -> list[tuple[str, str]]:
    resources = [(each.uri, each.description or each.title or each.name) for each in found.resources]
    templates = [(each.uri_template, each.description or each.title or each.name) for each in found.templates]
    return resources + templates
