"""`acp-tui mcp`: the MCP servers given to agents. Each action is a module in `acp_tui/cli/mcp/`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from acp_tui.cli.options import add_action

if TYPE_CHECKING:
    import argparse

    from acp_tui.cli import CommandModule

ACTIONS = {
    "list": "list the servers, where each is defined, and which agents get it (default)",
    "add": "define a server, or one of the well-known ones",
    "import": "take over servers that other programs define",
    "remove": "remove a server that was added or imported",
    "enable": "turn a server on, for one agent or for all",
    "disable": "turn a server off, for one agent or for all",
    "serve": "offer acp-tui's own tools to an agent; acp-tui gives agents this command",
    "test": "connect to servers and show what they offer, or why they cannot be used",
    "call": "call a tool",
    "prompts": "list the prompts of servers, or print one",
    "resources": "list the resources of servers, or print one",
    "log": "show what a server wrote and which of its tools were called",
    "sign-in": "sign in at an http server",
    "sign-out": "delete the tokens of a server",
    "bridge": "pass an agent's messages on to a server; acp-tui gives agents this command",
}
"""The actions with their summaries. `acp_tui/cli/mcp/ACTION.py`, with _ for -, has `configure` and `run`."""
MODULES = {
    "add": "definitions.add",
    "import": "definitions.import_servers",
    "remove": "definitions.remove",
    "enable": "definitions.switch",
    "disable": "definitions.switch",
}
"""The modules with other names."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in ACTIONS.items():
        _module(name).configure(add_action(actions, name, summary))


def run(args: argparse.Namespace) -> int:
    """Run the chosen action and return the exit code."""
    return _module(args.action).run(args)


def _module(action: str) -> CommandModule:
    name = MODULES.get(action, action.replace("-", "_"))
    return cast("CommandModule", importlib.import_module(f"acp_tui.cli.mcp.{name}"))
