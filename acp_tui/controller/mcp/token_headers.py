"""Passes the user's sign-in tokens to agents that connect to an MCP server directly.

A token is passed only if the server's settings contain `send_token = true`, because the agent can read the
token and cannot renew it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_tui.config import mcp
from acp_tui.session.events import Noticed
from acp_tui.session.text.safe_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_tui.config.mcp import Server


async def add_tokens(sent: list[dict[str, Any]], servers: Iterable[Server]) -> list[Noticed]:
    """Add the user's tokens to the servers in `sent` that have a URL and `send_token`.

    Return one notice for each of these servers: that the token was added, or why there is none. `sent`
    contains the servers as ACP objects; `servers` contains the definitions of the servers.
    """
    definitions = {server.name: server for server in servers if server.sign_in and server.sign_in.send_token}
    targets = [target for target in sent if target["name"] in definitions and "url" in target]
    return [await _add_token(target, definitions[target["name"]]) for target in targets]


async def _add_token(target: dict[str, Any], server: Server) -> Noticed:
    from acp_tui.mcp.sign_in.actions import token_header
    from acp_tui.mcp.sign_in.errors import SignInError

    name = visible_line(server.name)
    try:
        header = await token_header(mcp.resolve_server(server))
    except SignInError as error:
        return Noticed("warning", f"The agent gets no token for {name}. {error}")
    if header is None:
        advice = f"run `acp-tui mcp sign-in {name}` and start a new session"
        return Noticed("warning", f"The agent gets no token for {name}: you are not signed in; {advice}.")
    target["headers"] = [*target["headers"], {"name": "Authorization", "value": header.value}]
    return Noticed("info", f"The agent was given your token for {name}. The token {header.describe_end()}.")
