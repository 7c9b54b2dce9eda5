"""The client that the official conformance suite tests: `python -m tests.mcp.conformance_client URL`.

It connects as acp-tui does, signs in if the server asks for it, and calls every tool. Nobody is asked: the
"browser" of the sign-in is an HTTP client, and forms are sent with the values that they start with.
MCP_CONFORMANCE_SCENARIO and MCP_CONFORMANCE_CONTEXT, which the suite sets, say what else a scenario needs.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import httpx2

from acp_tui.config.mcp import ResolvedServer, SignInSettings
from acp_tui.mcp.callbacks import ElicitationRequest, ServerHandlers
from acp_tui.mcp.calls import call_tool
from acp_tui.mcp.connection import connect
from acp_tui.mcp.failures import ServerFailure
from acp_tui.mcp.inspection import Inspection, ToolInfo, describe
from acp_tui.mcp.sign_in.actions import provider_for
from acp_tui.mcp.sign_in.interaction import SignInInteraction
from acp_tui.schema_form.schema_reader import read_form
from acp_tui.schema_form.values import FormAnswer, initial_entries, read_values

if TYPE_CHECKING:
    from acp_tui.mcp.sign_in.interaction import AuthorizationUrl

CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json"
"""The client id of the scenario `auth/basic-cimd`."""

SAMPLES = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


class Browser:
    """Signs in by itself: opens the address and follows it to the page where acp-tui listens."""

    def __init__(self) -> None:
        self._visits: set[asyncio.Task[None]] = set()

    def interaction(self) -> SignInInteraction:
        """Return what the sign-in asks and shows."""
        return SignInInteraction(self._show, self._confirm, None, self._allow, lambda text: _print(text))

    async def _show(self, url: AuthorizationUrl) -> None:
        task = asyncio.create_task(self._visit(url.url))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)

    async def _confirm(self, url: AuthorizationUrl) -> bool:
        return False  # `_show` has opened it

    async def _allow(self, sentence: str) -> bool:
        return True  # the suite's authorization servers listen on ports of their own

    async def _visit(self, url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            await http.get(url)


def sign_in_settings(context: dict[str, Any]) -> SignInSettings:
    """Return the settings with the credentials that a scenario gives to its client."""
    client_id, secret = context.get("client_id", ""), context.get("client_secret", "")
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    if "client-credentials" in scenario:
        return SignInSettings(client_id=client_id, client_secret=secret, grant="client_credentials")
    metadata_url = "" if client_id else CLIENT_METADATA_URL
    return SignInSettings(
        client_id=client_id,
        client_secret=secret,
        client_metadata_url=metadata_url,
        allow_missing_pkce=scenario.startswith("auth/2025-03-26"),  # without metadata, which announces PKCE
    )


async def answer_with_defaults(request: ElicitationRequest) -> FormAnswer:
    """Send a form with the values that its fields start with."""
    form = read_form(request.schema)
    entries = initial_entries(form, {})
    values = read_values(form, entries, lambda pattern, text: re.search(pattern, text) is not None)
    return FormAnswer("accept", values.content)


def sample_arguments(tool: ToolInfo, first: ToolInfo) -> dict[str, Any]:
    """Return arguments for a tool: a value for each required property."""
    if tool.name == "json_schema_echo":  # compares the schema of the first tool with the one it has sent
        return {"schema": first.input_schema}
    schema = tool.input_schema
    properties = schema.get("properties", {})
    return {name: SAMPLES.get(properties[name].get("type"), "text") for name in schema.get("required", [])}


async def run(url: str) -> int:
    """Play the part of the client. Return the exit code."""
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    server = ResolvedServer("conformance", "http", url=url, sign_in=sign_in_settings(context))
    auth = provider_for(server, Browser().interaction())
    try:
        async with connect(
            server, auth=auth, handlers=ServerHandlers(on_elicitation=answer_with_defaults)
        ) as connection:
            found = Inspection(server.name, 0)
            await describe(connection, found)
            calls = [(call["name"], call["arguments"]) for call in context.get("toolCalls", [])]
            calls = calls or [(tool.name, sample_arguments(tool, found.tools[0])) for tool in found.tools]
            for name, arguments in calls:
                try:
                    await call_tool(connection, name, arguments)
                except ServerFailure as failure:
                    _print(failure.sentence)
    except ServerFailure as failure:
        _print(failure.sentence)
        return 1
    return 0


def _print(sentence: str) -> None:
    print(sentence, file=sys.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:  # tokens of other scenarios must not be found
        os.environ["ACP_TUI_HOME"] = home
        sys.exit(asyncio.run(run(sys.argv[1])))
