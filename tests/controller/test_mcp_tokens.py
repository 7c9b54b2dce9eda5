"""Tokens in the MCP servers that an agent is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp_tui.config.mcp_sources import from_json_file
from acp_tui.mcp.sign_in.token_store import StoredSignIn, TokenStore

if TYPE_CHECKING:
    from tests.controller.conftest import Converse
    from tests.support.scripted_conversation import ScriptedConversation

URL = "https://calendar.example.com/mcp"
TOKEN = "the-access-token-1"
OFFERS = json.dumps({"capabilities": {"mcpCapabilities": {"http": True}}})


def _sign_in() -> None:
    store = TokenStore(URL)
    expires_at = 4_102_444_800.0  # in the year 2100
    store.write(StoredSignIn(store.url, TOKEN, expires_at=expires_at, client={"client_id": "c"}))


def _conversation(converse: Converse, folder: Path, *, send_token: bool) -> ScriptedConversation:
    file = folder / "mcp.json"
    server = {"url": URL, "sign_in": {"send_token": send_token}, "connection": "direct"}
    file.write_text(json.dumps({"mcpServers": {"calendar": server}}))
    return converse("script", OFFERS, servers=from_json_file(file))


async def _headers_sent(chat: ScriptedConversation) -> Any:
    await chat.open()
    await chat.prompt(["report_params", "session/new"])
    [server] = json.loads(chat.said())["mcpServers"]
    return server["headers"]


async def test_token_is_sent_if_the_settings_say_so(converse: Converse, tmp_path: Path) -> None:
    _sign_in()
    chat = _conversation(converse, tmp_path, send_token=True)
    assert await _headers_sent(chat) == [{"name": "Authorization", "value": f"Bearer {TOKEN}"}]
    [notice] = chat.notices()
    assert notice.startswith("The agent was given your token for calendar. The token expires 2")
    assert chat.conversation.log_path is not None
    assert TOKEN not in Path(chat.conversation.log_path).read_text()


async def test_token_is_not_sent_otherwise(converse: Converse, tmp_path: Path) -> None:
    _sign_in()
    chat = _conversation(converse, tmp_path, send_token=False)
    assert await _headers_sent(chat) == []
    assert chat.notices() == []


async def test_missing_sign_in_is_said(converse: Converse, tmp_path: Path) -> None:
    chat = _conversation(converse, tmp_path, send_token=True)
    assert await _headers_sent(chat) == []
    [notice] = chat.notices()
    assert notice.startswith("The agent gets no token for calendar: you are not signed in")
