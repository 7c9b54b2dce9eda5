"""Calling tools, getting prompts and reading resources."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from acp_tui.mcp.calls import Progress, call_tool, get_prompt, read_resource
from acp_tui.mcp.connection import connect
from acp_tui.mcp.failures import FailureCause, ServerFailure
from tests.support.mcp_servers import stdio_server
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.mcp_servers import HttpServers, ServerLog

BOTH_GENERATIONS = pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])


async def test_the_result_of_a_tool_has_blocks_as_in_acp() -> None:
    async with connect(stdio_server()) as connection:
        result = await call_tool(connection, "content", {})
    kinds = [block["type"] for block in result.content]
    assert {"text", "image", "audio", "resource_link", "resource"} <= set(kinds)
    assert result.content[kinds.index("image")]["mimeType"] == "image/png"


async def test_structured_results_and_results_that_are_errors() -> None:
    async with connect(stdio_server()) as connection:
        added = await call_tool(connection, "add", {"a": 1, "b": 2})
        failed = await call_tool(connection, "fail", {"message": "no luck"})
    assert added.structured == {"sum": 3}
    assert (failed.is_error, failed.content) == (True, [{"type": "text", "text": "no luck"}])


@pytest.mark.parametrize("option", ["--sloppy", "--error=tools/list"])
async def test_a_result_is_shown_whatever_the_server_says_about_the_tool(option: str) -> None:
    async with connect(stdio_server(option)) as connection:
        result = await call_tool(connection, "add", {"a": 1, "b": 2})
    assert (result.structured, result.is_error) == ({"sum": 3}, False)


@BOTH_GENERATIONS
async def test_progress_is_reported(version: str) -> None:
    reports: list[Progress] = []
    async with connect(stdio_server("--protocol", version)) as connection:
        await call_tool(connection, "progress", {"steps": 2}, on_progress=reports.append)
    assert [report.done for report in reports] == [1, 2]
    assert reports[0].total == 2


@BOTH_GENERATIONS
async def test_a_cancelled_call_is_cancelled_on_the_server(
    version: str, tmp_path: Path, server_log: ServerLog
) -> None:
    started: list[Progress] = []
    async with connect(stdio_server("--protocol", version)) as connection:
        arguments = {"path": str(tmp_path / "never")}
        call = asyncio.create_task(call_tool(connection, "wait", arguments, on_progress=started.append))
        await until(lambda: started)
        call.cancel()
        await asyncio.wait([call])
        await until(lambda: server_log.messages("notifications/cancelled"))
        again = await call_tool(connection, "echo", {"text": "still there"})
    assert again.content == [{"type": "text", "text": "still there"}]


async def test_a_call_over_http_is_cancelled_by_closing_it(http_servers: HttpServers, tmp_path: Path) -> None:
    started: list[Progress] = []
    async with connect(http_servers.server()) as connection:
        arguments = {"path": str(tmp_path / "never")}
        call = asyncio.create_task(call_tool(connection, "wait", arguments, on_progress=started.append))
        await until(lambda: started)
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()


async def test_a_call_that_takes_too_long_names_the_call_timeout(tmp_path: Path) -> None:
    server = replace(stdio_server(), timeout=0.2)
    async with connect(server) as connection:
        with pytest.raises(ServerFailure) as raised:
            await call_tool(connection, "wait", {"path": str(tmp_path / "never")})
    assert raised.value.cause is FailureCause.TIMEOUT
    assert "did not answer the request to call wait within 0.2 s (the call timeout)" in raised.value.sentence


async def test_an_unknown_tool_is_a_failure_with_the_servers_words() -> None:
    async with connect(stdio_server()) as connection:
        with pytest.raises(ServerFailure) as raised:
            await call_tool(connection, "no-such-tool", {})
    assert raised.value.cause is FailureCause.ANSWER
    assert raised.value.sentence.startswith("script could not call no-such-tool: it answered with an error")


async def test_prompts_and_resources() -> None:
    async with connect(stdio_server()) as connection:
        prompt = await get_prompt(connection, "greet", {"name": "Ada"})
        contents = await read_resource(connection, "test://logo")
    assert prompt.messages[0].role == "user"
    assert "Ada" in prompt.messages[0].content["text"]
    assert contents[0]["type"] == "resource"
    assert contents[0]["resource"]["mimeType"] == "image/png"
