"""`acp-tui mcp remove NAME`: removes a server that was added with `add` or `import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.cli.mcp.server_selection import servers_here
from acp_tui.config.paths import mcp_file
from acp_tui.console import print_json
from acp_tui.errors import UserError
from acp_tui.session.safe_text import escape_line

if TYPE_CHECKING:
    import argparse

    from acp_tui.store.own_mcp_servers import OwnMcpServers


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the server")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Remove the server from `mcp.toml`. Raises `UserError` if `mcp.toml` does not define the server."""
    from acp_tui.store.own_mcp_servers import change_own_servers

    def remove(own: OwnMcpServers) -> None:
        if args.name not in own.servers:
            server = servers_here().defined(args.name)
            raise UserError(
                f"{args.name} is defined in {server.origin}, which acp-tui does not change; "
                f"remove it there, or turn it off with `acp-tui mcp disable {args.name}`."
            )
        del own.servers[args.name]
        own.states.pop(args.name, None)

    change_own_servers(remove)
    if args.json:
        print_json({"removed": args.name, "file": str(mcp_file())})
    else:
        print(escape_line(f"Removed {args.name} from {mcp_file()}."))
    return 0
