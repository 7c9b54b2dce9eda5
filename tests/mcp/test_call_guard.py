"""The record of a call that passed the bridge, whatever the server has answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from acp_tui.config.mcp import ResolvedServer
from acp_tui.controller.mcp.bridge_host import CallRecords
from acp_tui.mcp.bridge.bridge import AppCallGuard
from acp_tui.mcp.server_recorder import BURST_LINES

if TYPE_CHECKING:
    from acp_tui.mcp.app_link import AppLink
    from acp_tui.session.events import McpCalled


class FakeLink:
    """Keeps what is sent to the app."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []

    def post(self, method: str, **params: Any) -> None:
        self.posted.append({"method": method, **params})


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("result", [nested(900), {"text": "x" * 40_000_000}], ids=["deep", "long"])
async def test_a_result_that_cannot_be_recorded_as_a_whole_is_cut(result: Any) -> None:
    link, noted = FakeLink(), list["McpCalled"]()
    AppCallGuard(cast("AppLink", link), "s").record("t", {}, 0.0, result=result, error=None)
    assert len(json.dumps(link.posted)) < 1_000_000
    records = CallRecords(ResolvedServer("s", "stdio"), noted.append)  # type: ignore[arg-type]
    for answer in (link.posted[0]["result"], nested(900)):
        await records.add("t", {}, answer, None, 1.0)
    assert [call.tool for call in noted] == ["t", "t"]
    assert "…" in json.dumps(noted[0].result, ensure_ascii=False)


def test_a_flood_of_output_is_not_sent_to_the_app() -> None:
    link = FakeLink()
    guard = AppCallGuard(cast("AppLink", link), "s")
    for _ in range(10):
        guard.log("stderr", "x\n" * BURST_LINES)
    assert len(link.posted) < 3
