"""Finding out what a server offers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from acp_tui.config.paths import paths
from acp_tui.mcp.connection import connect
from acp_tui.mcp.failures import FailureCause
from acp_tui.mcp.inspection import MAX_ITEMS, MAX_PAGES, inspect
from acp_tui.store.mcp_facts import McpFacts
from tests.support.mcp_servers import stdio_server

if TYPE_CHECKING:
    from tests.support.mcp_servers import HttpServers, ServerLog


async def test_everything_a_server_offers_is_described() -> None:
    found = await inspect(stdio_server())
    assert (found.status, found.failure, found.notes) == ("connected", None, [])
    assert found.server_info["name"] == "script"
    assert found.instructions == "Use these tools in tests."
    assert {"tools", "prompts", "resources"} <= set(found.capabilities)
    echo = found.tools[0]
    assert (echo.name, echo.title, echo.claims) == ("echo", "Echo", ["only reads"])
    assert echo.input_schema["required"] == ["text"]
    assert [argument.required for argument in found.prompts[0].arguments] == [True, False]
    assert found.resources[1].mime_type == "image/png"
    assert found.templates[0].uri_template == "test://notes/{name}"
    assert json.loads(json.dumps(found.as_json()))["tools"][0]["name"] == "echo"


async def test_all_pages_are_read() -> None:
    found = await inspect(stdio_server("--page-size", "3", "--tools", "20"))
    everything = await inspect(stdio_server("--tools", "20"))
    assert found.tools == everything.tools
    assert found.notes == []


async def test_a_list_without_end_is_cut_with_a_note() -> None:
    found = await inspect(stdio_server("--page-size", "1", "--tools", str(MAX_PAGES)))
    assert len(found.tools) == MAX_PAGES
    assert found.notes == [f"Its list of tools has more than {MAX_PAGES} pages; the rest is left out."]
    found = await inspect(stdio_server("--tools", str(MAX_ITEMS + 1)))
    assert len(found.tools) == MAX_ITEMS
    assert found.notes == [f"Its list of tools has more than {MAX_ITEMS:,} items; the rest is left out."]


async def test_the_first_lines_of_noise_are_kept_and_the_others_counted() -> None:
    lines = [word for number in range(60) for word in ("--noise", f"line {number}")]
    found = await inspect(stdio_server(*lines))
    assert found.noise == [f"line {number}" for number in range(50)]
    assert found.notes == ["10 more lines on its stdout are not MCP messages."]


async def test_the_digest_of_a_changed_tool_differs() -> None:
    before = await inspect(stdio_server())
    after = await inspect(stdio_server("--changed"))
    old, new = before.tool_digests, after.tool_digests
    assert old.keys() != new.keys()
    assert [name for name in old if name in new and old[name] != new[name]]


async def test_a_result_that_is_not_an_object_fails_its_request_at_once() -> None:
    found = await inspect(stdio_server("--garble", "prompts/list"))
    assert (found.status, found.failure, found.prompts) == ("connected", None, [])
    assert found.failed_lists["prompts"] == (
        "script could not list its prompts: it sent an answer that does not follow the protocol: "
        "its result is not an object."
    )
    assert found.noise == []


async def test_a_handshake_whose_answer_is_not_a_response_says_what_is_wrong() -> None:
    found = await inspect(stdio_server("--garble", "initialize"))
    assert found.failure is not None
    assert found.failure.cause == FailureCause.HANDSHAKE
    assert "its answer does not follow the protocol: its result is not an object" in found.failure.sentence


async def test_a_list_that_fails_does_not_affect_the_others() -> None:
    found = await inspect(stdio_server("--error", "prompts/list"))
    assert (found.status, found.failure, found.prompts) == ("connected", None, [])
    assert found.tools
    assert found.resources
    [note] = found.notes
    assert note == (
        "script could not list its prompts: it answered with an error: "
        'prompts/list does not work today (-32603): {"reason": "a test"}.'
    )
    assert (found.failed_lists, found.lists_tools) == ({"prompts": note}, True)


async def test_a_server_that_can_list_nothing_has_failed() -> None:
    lists = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
    found = await inspect(stdio_server("--error", *lists))
    assert found.status == "failed"
    assert found.failure is not None
    assert found.failure.cause is FailureCause.ANSWER
    assert "could not list its tools" in found.failure.sentence


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
async def test_invalid_parts_of_answers_are_left_out_and_named(version: str) -> None:
    found = await inspect(stdio_server("--sloppy", "--protocol", version))
    whole = await inspect(stdio_server("--protocol", version))
    assert [tool.name for tool in found.tools] == [tool.name for tool in whole.tools]
    assert "Its tool unfinished is left out: it has no inputSchema." in found.notes
    assert "Its capability experimental.listChanged is not an object and is ignored." in found.notes
    assert "completions" in found.capabilities


async def test_two_tools_of_one_name_are_noted() -> None:
    found = await inspect(stdio_server("--twice"))
    assert found.notes == ["2 of its tools have the name echo; agents can call only one of them."]


async def test_a_server_that_wants_a_sign_in(http_servers: HttpServers) -> None:
    found = await inspect(http_servers.server("/guarded/x/mcp"))
    assert found.status == "needs sign-in"


async def test_a_stdio_server_of_the_newest_revision_is_started_once_the_second_time(
    server_log: ServerLog,
) -> None:
    server = replace(stdio_server("--protocol", "2026-07-28"), digest="d1")
    for starts in (2, 3):
        async with connect(server):
            assert len(server_log.messages("start")) == starts
    assert McpFacts(paths().state).read(server.name, "d1").mode == "auto"
