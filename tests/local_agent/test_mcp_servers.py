"""The MCP servers of the built-in agent, over each transport, with servers that change, fail and die."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import mcp_types as types
import pytest
from acp.schema import AcpMcpServer, EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio, SseMcpServer

from acp_tui.local_agent import mcp_servers
from acp_tui.local_agent.mcp_servers import McpServers, PromptError
from tests.support.leftovers import MARK, processes_with
from tests.support.mcp_servers import stdio_command
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acp_tui.local_agent.mcp_servers import McpServer
    from tests.support.mcp_servers import HttpServers, ServerLog

MODERN = "2026-07-28"


class Session:
    """Servers as a session of the agent has them, and what it was told."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.changes = 0
        self.servers = McpServers(self.problems.append, self._count)

    def _count(self) -> None:
        self.changes += 1

    @property
    def tools(self) -> list[str]:
        return [spec.name for spec in self.servers.specs()]

    async def text(self, tool: str, **arguments: object) -> str:
        """Call a tool that does not fail, and return the text of its result."""
        result = await self.servers.call(tool, arguments)
        assert not result.is_error, result.text
        return result.text


@asynccontextmanager
async def session(*servers: McpServer, cwd: Path) -> AsyncIterator[Session]:
    """Start servers, and close them at the end."""
    opened = Session()
    try:
        await opened.servers.start(servers, cwd)
        yield opened
    finally:
        reported = list(opened.problems)
        await opened.servers.close()
        assert opened.problems == reported


def stdio(name: str, *options: str, **env: str) -> McpServerStdio:
    command, *args = stdio_command(*options, name=name)
    variables = [EnvVariable(name=key, value=value) for key, value in env.items()]
    return McpServerStdio(name=name, command=command, args=args, env=variables)


def http(name: str, url: str, **headers: str) -> HttpMcpServer:
    given = [HttpHeader(name=key.replace("_", "-"), value=value) for key, value in headers.items()]
    return HttpMcpServer(type="http", name=name, url=url, headers=given)


def sse(name: str, url: str, **headers: str) -> SseMcpServer:
    given = [HttpHeader(name=key.replace("_", "-"), value=value) for key, value in headers.items()]
    return SseMcpServer(type="sse", name=name, url=url, headers=given)


# --------------------------------------------------------------------------- transports


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
async def test_a_tool_of_a_process_is_called_whatever_revision_it_speaks(
    version: str, tmp_path: Path
) -> None:
    async with session(stdio("notes", "--protocol", version), cwd=tmp_path) as opened:
        assert await opened.text("notes__echo", text="hi") == "hi"
        assert opened.problems == []


async def test_tools_of_http_and_sse_servers_are_called_with_their_headers(
    http_servers: HttpServers, tmp_path: Path
) -> None:
    web = http("web", http_servers.url("/key/mcp"), X_Key="open sesame")
    old = sse("old", http_servers.url("/sse"), X_Mine="yes")
    async with session(web, old, cwd=tmp_path) as opened:
        assert await opened.text("web__echo", text="hi") == "hi"
        assert '"x-mine": "yes"' in await opened.text("old__headers", names=["x-mine"])


async def test_a_process_gets_its_variables_and_starts_in_the_folder_of_the_session(tmp_path: Path) -> None:
    async with session(stdio("notes", MINE="yes"), cwd=tmp_path) as opened:
        found = await opened.text("notes__environment", names=["MINE"])
        assert f'"cwd": "{tmp_path}"' in found
        assert '"MINE": "yes"' in found


async def test_what_a_process_writes_to_stderr_goes_to_the_agents_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with session(stdio("notes", "--stderr", "three notes found"), cwd=tmp_path):
        pass
    assert "three notes found" in capfd.readouterr().err


# --------------------------------------------------------------------------- names and results


async def test_names_have_only_characters_that_models_accept_and_are_mapped_back(tmp_path: Path) -> None:
    long = f"my notes. {'x' * 60}"
    async with session(stdio(long), cwd=tmp_path) as opened:
        name = opened.tools[0]
        assert name == f"my_notes__{'x' * 18}___{'x' * 26}__echo"
        assert len(name) == 63
        assert opened.servers.title(name) == f"{long}: echo"
        assert await opened.text(name, text="hi") == "hi"


async def test_all_pages_of_a_list_are_read(tmp_path: Path) -> None:
    async with session(stdio("notes", "--page-size", "2", "--tools", "20"), cwd=tmp_path) as opened:
        assert "notes__tool-20" in opened.tools


async def test_every_kind_of_content_reaches_the_model(tmp_path: Path) -> None:
    async with session(stdio("notes"), cwd=tmp_path) as opened:
        result = await opened.servers.call("notes__content", {})
        assert [image.media_type for image in result.images] == ["image/png"]
        assert result.images[0].data.startswith(b"\x89PNG")
        for part in ("plain text", "[audio]", "test://readme:\nembedded text"):
            assert part in result.text


def test_an_image_of_an_unknown_type_is_named_only() -> None:
    image = types.ImageContent(type="image", data="AAAA", mime_type="png")
    result = mcp_servers._tool_result(types.CallToolResult(content=[image]))
    assert (result.text, result.images) == ("[image]", ())


async def test_an_error_of_a_tool_goes_back_to_the_model(tmp_path: Path) -> None:
    async with session(stdio("notes"), cwd=tmp_path) as opened:
        failed = await opened.servers.call("notes__fail", {})
        unknown = await opened.servers.call("notes__nothing", {})
        assert (failed.is_error, failed.text) == (True, "it failed")
        assert (unknown.is_error, unknown.text) == (True, "There is no tool notes__nothing any more.")


async def test_a_huge_result_is_cut(tmp_path: Path) -> None:
    async with session(stdio("notes"), cwd=tmp_path) as opened:
        text = await opened.text("notes__big", characters=1_000_000)
        assert len(text) < 60_000
        assert text.endswith("[950,000 more characters were left out]")


async def test_cancelling_a_call_tells_the_server(server_log: ServerLog, tmp_path: Path) -> None:
    async with session(stdio("notes"), cwd=tmp_path) as opened:
        call = asyncio.create_task(opened.text("notes__wait", path=str(tmp_path / "never")))
        await until(server_log.calls)
        call.cancel()
        await until(lambda: "notifications/cancelled" in server_log.methods())
        assert await opened.text("notes__echo", text="still there") == "still there"


# --------------------------------------------------------------------------- prompts


async def test_a_prompt_is_a_slash_command_with_a_hint(tmp_path: Path) -> None:
    async with session(stdio("my notes"), cwd=tmp_path) as opened:
        greet, summary = opened.servers.prompts()
        assert (greet.name, greet.hint) == ("mcp:my_notes:greet", "<name> [style]")
        assert (summary.name, summary.hint) == ("mcp:my_notes:summary", "")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("Ann", "Write a friendly greeting for Ann."),
        ("Ann very formal", "Write a very formal greeting for Ann."),
    ],
)
async def test_what_is_typed_after_the_command_becomes_arguments(
    typed: str, answer: str, tmp_path: Path
) -> None:
    async with session(stdio("notes"), cwd=tmp_path) as opened:
        assert await opened.servers.get_prompt("mcp:notes:greet", typed) == answer


async def test_a_missing_argument_is_named(tmp_path: Path) -> None:
    async with session(stdio("notes"), cwd=tmp_path) as opened:
        with pytest.raises(PromptError, match="prompt greet: Missing required argument: name"):
            await opened.servers.get_prompt("mcp:notes:greet", "")


# --------------------------------------------------------------------------- changes, failures, deaths


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
async def test_a_list_that_changes_is_read_again(version: str, tmp_path: Path) -> None:
    async with session(stdio("notes", "--protocol", version), cwd=tmp_path) as opened:
        await opened.text("notes__change")
        await until(lambda: "notes__added" in opened.tools)
        assert "notes__add" not in opened.tools


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/key/mcp", "it answered HTTP 401 Unauthorized"),
        ("/status/503", "it answered HTTP 503 Service Unavailable"),
        ("/page", "Unexpected content type: text/html; charset=utf-8"),
    ],
)
async def test_an_http_server_that_cannot_be_used_is_reported(
    path: str, reason: str, http_servers: HttpServers, tmp_path: Path
) -> None:
    async with session(http("web", http_servers.url(path)), stdio("notes"), cwd=tmp_path) as opened:
        assert opened.problems == [f"The MCP server web cannot be used: {reason}."]
        assert "notes__echo" in opened.tools


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (
            McpServerStdio(name="x", command="/no/such", args=[], env=[]),
            "[Errno 2] No such file or directory",
        ),
        (stdio("x", "--exit", "3"), "it has ended"),
        (stdio("x", "--bad-handshake"), "3 validation errors for InitializeResult"),
        (stdio("x", "--error", "tools/list"), "tools/list does not work today"),
        (AcpMcpServer(type="acp", name="x", server_id="1"), "MCP over ACP is not supported"),
        (sse("x", "http://127.0.0.1:9/sse"), "All connection attempts failed"),
    ],
)
async def test_a_server_that_cannot_be_used_is_reported(
    server: McpServer, reason: str, tmp_path: Path
) -> None:
    async with session(server, stdio("notes"), cwd=tmp_path) as opened:
        assert len(opened.problems) == 1
        assert opened.problems[0].startswith(f"The MCP server x cannot be used: {reason}")
        assert "notes__echo" in opened.tools


async def test_a_slow_server_does_not_hold_up_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mcp_servers, "START_SECONDS", 0.5)
    go = tmp_path / "go"
    async with session(stdio("slow", "--start-when", str(go)), cwd=tmp_path) as opened:
        assert opened.problems == ["The MCP server slow is still starting. Its tools will follow."]
        go.touch()
        await until(lambda: "slow__echo" in opened.tools)
        assert await opened.text("slow__echo", text="hi") == "hi"


async def test_a_mute_server_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mcp_servers, "CONNECT_SECONDS", 0.5)
    async with session(stdio("mute", "--mute"), cwd=tmp_path) as opened:
        assert opened.problems == ["The MCP server mute cannot be used: it did not answer in time."]


async def test_a_server_that_dies_is_reported_and_skipped(tmp_path: Path) -> None:
    async with session(stdio("notes"), stdio("other"), cwd=tmp_path) as opened:
        crashed = await opened.servers.call("notes__crash", {})
        assert (crashed.is_error, crashed.text) == (True, "notes could not call crash: it has ended.")
        assert opened.problems == ["The MCP server notes is not used any more: it has ended."]
        assert not any(name.startswith("notes__") for name in opened.tools)
        assert await opened.text("other__echo", text="hi") == "hi"


# --------------------------------------------------------------------------- what is left


@pytest.mark.parametrize("options", [(), ("--stay",)])
async def test_closing_ends_the_processes(options: tuple[str, ...], tmp_path: Path) -> None:
    mark = f"closed-{tmp_path}"
    async with session(stdio("notes", *options, **{MARK: mark}), cwd=tmp_path):
        assert processes_with(mark)
    await until(lambda: not processes_with(mark))
