"""`acp-tui mcp`: the MCP servers given to agents. Each action is a module in `acp_tui/cli/mcp/`."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, Any, cast

from acp_tui.cli.options import add_action

if TYPE_CHECKING:
    from acp_tui.cli import CommandModule

ACTIONS = {
    "list": "list the servers (default): where each is defined, and which agents get it",
    "add": "add a server of your own, or a well-known one",
    "import": "copy servers that other programs define",
    "remove": "remove a server that was added or imported",
    "enable": "turn a server on, for one agent or for all",
    "disable": "turn a server off, for one agent or for all",
    "serve": "offer acp-tui's own tools to an agent (agents run this command, not you)",
    "test": "connect to servers and show what they offer, or why they cannot be used",
    "call": "call a tool",
    "prompts": "list the prompts of servers, or print one",
    "resources": "list the resources of servers, or print one",
    "log": "show the output of a server and the calls to its tools",
    "sign-in": "sign in to an HTTP server",
    "sign-out": "delete the tokens of a server",
    "bridge": "forward an agent's messages to a server (agents run this command, not you)",
}
"""The actions of `acp-tui mcp`, each with its summary for the help. `_module` returns an action's module."""
MODULES = {
    "import": "import_servers",
    "enable": "switch",
    "disable": "switch",
}
"""The modules in `acp_tui.cli.mcp` that are not named after their action, by action."""


class _LazyActions(argparse._SubParsersAction):  # type: ignore[type-arg]  # not subscriptable in Python 3.11
    """An argparse action that imports only the chosen module, because several import `asyncio` (40 ms)."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Add the arguments of the chosen action, and parse them."""
        if values[0] in ACTIONS:
            _module(values[0]).configure(self.choices[values[0]])
        super().__call__(parser, namespace, values, option_string)


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(action=_LazyActions, dest="action", metavar="ACTION", required=True)
    for name, summary in ACTIONS.items():
        add_action(actions, name, summary)


def run(args: argparse.Namespace) -> int:
    return _module(args.action).run(args)


def _module(action: str) -> CommandModule:
    name = MODULES.get(action, action.replace("-", "_"))
    return cast("CommandModule", importlib.import_module(f"acp_tui.cli.mcp.{name}"))
