"""The calls to an agent: parameters, results, and calls that the agent does not support."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.connection.errors import NotSupported
from acp_tui.connection.params import SessionSetup, TraceContext
from acp_tui.errors import UserError
from acp_tui.session.state import Agent, ConfigOption
from tests.support.connection import SESSION, text
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acp_tui.connection.agent_connection import AgentConnection
    from tests.connection.conftest import MakeClient

STDIO = {"name": "files", "command": "/bin/files"}
HTTP = {"name": "web", "type": "http", "url": "https://example.org"}
SSE = {
    "name": "events",
    "type": "sse",
    "url": "https://example.org",
    "headers": [{"name": "A", "value": "b"}],
}
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
FILE = {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


async def test_initialize_sends_the_client_name_and_known_capabilities_only(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.start()
    known = {"terminal": True, "session": {"notices": {}}, "_meta": {"terminal_output": True}}
    await connection.initialize({**known, "nonsense": 1})
    params = agent.frames("sent")[0]["params"]
    assert params.pop("clientInfo").keys() == {"name", "title", "version"}
    assert params == {"protocolVersion": 1, "clientCapabilities": known}


async def test_mcp_servers_are_sent_with_their_empty_lists(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.initialize()
    result = await connection.new_session(SessionSetup("/w", ["/x"], [{**STDIO, "more": 1}, HTTP, SSE]))
    assert result["sessionId"] == SESSION
    assert agent.heard() == {
        "cwd": "/w",
        "additionalDirectories": ["/x"],
        "mcpServers": [
            {"name": "files", "command": "/bin/files", "args": [], "env": []},
            {**HTTP, "headers": []},
            SSE,
        ],
    }


async def test_load_and_resume_send_all_parameters(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.initialize()
    expected = {"sessionId": "old", "cwd": "/w", "additionalDirectories": ["/x"], "mcpServers": []}
    opened = [
        await connection.load_session("old", SessionSetup("/w", ["/x"])),
        await connection.resume_session("old", SessionSetup("/w", ["/x"])),
    ]
    assert opened == [{}, {}]  # the agent answered with null
    asked = {frame["method"]: frame["params"] for frame in agent.frames("sent")[1:]}
    assert asked == dict.fromkeys(["session/load", "session/resume"], expected)


async def test_prompt_returns_the_agents_stop_reason(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.open()
    blocks = [*text("look"), IMAGE, AUDIO, FILE, LINK]
    assert await connection.prompt(SESSION, blocks) == "max_tokens"
    assert agent.heard() == {"sessionId": SESSION, "prompt": blocks}


@pytest.mark.parametrize(
    ("call", "method", "params"),
    [
        (lambda c: c.authenticate("login"), "authenticate", {"methodId": "login"}),
        (lambda c: c.set_mode("s", "ask"), "session/set_mode", {"sessionId": "s", "modeId": "ask"}),
        (lambda c: c.set_model("s", "one"), "session/set_model", {"sessionId": "s", "modelId": "one"}),
        (
            lambda c: c.set_config_option("s", "effort", "high"),
            "session/set_config_option",
            {"sessionId": "s", "configId": "effort", "value": "high"},
        ),
        (
            lambda c: c.set_config_option("s", "fast", True),
            "session/set_config_option",
            {"sessionId": "s", "configId": "fast", "type": "boolean", "value": True},
        ),
        (lambda c: c.call("extension/anything", {"x": [1]}), "extension/anything", {"x": [1]}),
    ],
)
async def test_calls_send_exactly_their_parameters(
    client: MakeClient,
    call: Callable[[AgentConnection], Awaitable[Any]],
    method: str,
    params: dict[str, Any],
) -> None:
    agent = client("complete")
    connection = await agent.open()
    await call(connection)
    sent = agent.frames("sent")[-1]
    assert (sent["method"], sent["params"]) == (method, params)
    assert agent.heard() == params


async def test_cancel_is_a_notification(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.open()
    await connection.cancel(SESSION)
    assert agent.frames("sent")[-1] == {
        "jsonrpc": "2.0",
        "method": "session/cancel",
        "params": {"sessionId": SESSION},
    }


NOT_SUPPORTED: list[tuple[Callable[[AgentConnection], Awaitable[Any]], str]] = [
    (lambda c: c.load_session("s", SessionSetup("/w")), "does not support loading sessions"),
    (lambda c: c.resume_session("s", SessionSetup("/w")), "does not support resuming sessions"),
    (lambda c: c.new_session(SessionSetup("/w", ["/x"])), "does not support additional directories"),
    (
        lambda c: c.new_session(SessionSetup("/w", [], [HTTP])),
        'does not support MCP servers over http, such as "web"',
    ),
    (
        lambda c: c.new_session(SessionSetup("/w", [], [SSE])),
        'does not support MCP servers over sse, such as "events"',
    ),
    (lambda c: c.prompt("s", [IMAGE]), "does not accept images"),
    (lambda c: c.prompt("s", [AUDIO]), "does not accept audio"),
    (lambda c: c.prompt("s", [FILE]), "does not accept embedded files"),
    (lambda c: c.prompt("s", [{"type": "video"}]), 'no content type "video"'),
    (lambda c: c.set_mode("s", "ask"), 'Mode "ask" is not available: Scripted Agent offers none'),
    (lambda c: c.set_model("s", "one"), 'Model "one" is not available: Scripted Agent offers none'),
    (
        lambda c: c.set_config_option("s", "effort", "low"),
        'Option "effort" is not available: Scripted Agent offers none',
    ),
    (lambda c: c.authenticate("login"), 'no sign-in method "login"'),
]


async def test_calls_the_agent_does_not_support_are_not_sent(client: MakeClient) -> None:
    agent = client("faulty", "errors")
    connection = await agent.initialize()
    for call, words in NOT_SUPPORTED:
        with pytest.raises(NotSupported, match=words):
            await call(connection)
    assert [frame["method"] for frame in agent.frames("sent")] == ["initialize"]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        (
            "effort",
            "extreme",
            'Value "extreme" of option "effort" is not available: Scripted Agent offers low, high',
        ),
        ("effort", True, "is of type select and cannot be set to True"),
        ("fast", "on", "is of type boolean and cannot be set to 'on'"),
        ("odd", "blue", "is of type colour and cannot be set to 'blue'"),
        ("none", "x", 'Option "none" is not available: Scripted Agent offers effort, fast'),
    ],
)
async def test_options_accept_only_available_values(
    client: MakeClient, option: str, value: str | bool, words: str
) -> None:
    connection = await client("complete").open()
    with pytest.raises(NotSupported, match=words):
        await connection.set_config_option(SESSION, option, value)


async def test_calls_before_initialize_raise(client: MakeClient) -> None:
    connection = await client("complete").start()
    with pytest.raises(NotSupported, match="has not been initialized"):
        await connection.new_session(SessionSetup("/w"))


async def test_cancelling_a_call_sends_cancel_request(client: MakeClient) -> None:
    agent = client("faulty", "never_answers_prompts")
    connection = await agent.open()
    turn = asyncio.ensure_future(connection.prompt(SESSION, text("go")))
    await until(agent.said)
    asked = agent.frames("sent")[-1]["id"]
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await until(lambda: len(agent.said()) == 2)
    assert agent.heard() == {"requestId": asked}


async def test_frames_are_observed_in_wire_order_before_they_take_effect(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.open()
    seen: list[int] = []
    await connection.prompt(SESSION, text("go"))
    seen.append(len(agent.records))
    assert [record.at for record in agent.records] == list(range(len(agent.records)))
    assert [(record.direction, record.frame.get("method", "answer")) for record in agent.records] == [
        ("sent", "initialize"),
        ("received", "answer"),
        ("sent", "session/new"),
        ("received", "session/update"),
        ("received", "answer"),
        ("sent", "session/prompt"),
        ("received", "session/update"),
        ("received", "answer"),
    ]
    assert seen == [8]


async def test_the_observed_line_is_the_line_on_the_wire(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.open()
    words = "naïve \ud83d half \u2028 sign"
    await connection.prompt(SESSION, text(words))
    assert agent.heard()["prompt"] == text(words)
    for record, line in zip(agent.records, agent.lines, strict=True):
        assert line is not None
        assert "\n" not in line
        assert json.loads(line) == record.frame


async def test_a_failing_observer_does_not_end_the_connection(client: MakeClient) -> None:
    agent = client("complete")
    connection = await agent.open()

    def fail(*_: object) -> None:
        raise RuntimeError("a fault in reading")

    connection._transport.observe = fail
    assert await connection.prompt(SESSION, text("go")) == "max_tokens"


async def test_invalid_parameters_are_reported(client: MakeClient) -> None:
    connection = await client("complete").open()
    with pytest.raises(UserError, match='Cannot send "broken" to the agent: command: Field required'):
        await connection.new_session(SessionSetup("/w", [], [{"name": "broken"}]))
    with pytest.raises(UserError, match=r"PromptRequest.*text: Field required"):
        await connection.prompt(SESSION, [{"type": "text"}])


async def test_the_trace_context_of_the_environment_is_sent(
    client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEPARENT", "00-aa-bb-01")
    monkeypatch.setenv("TRACESTATE", "x=y")
    agent = client("complete")
    connection = await agent.open()
    await connection.call("extension/anything", {"_meta": {"own": 1}})
    await connection.cancel(SESSION)
    metas = [frame["params"].get("_meta") for frame in agent.frames("sent")]
    trace = {"traceparent": "00-aa-bb-01", "tracestate": "x=y"}
    assert metas == [trace, trace, {**trace, "own": 1}, None]


TRACEPARENT = "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01"


@pytest.mark.parametrize("setting", [TRACEPARENT, "random", "off"])
async def test_a_chosen_trace_context_is_sent_with_prompts_only(
    setting: str, client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEPARENT", "00-aa-bb-01")
    agent = client("complete")
    connection = await agent.start(trace=TraceContext(setting))
    await connection.initialize({})
    await connection.new_session(SessionSetup("/"))
    for _ in range(2):
        await connection.prompt(SESSION, text("go"))
    opening, *prompts = [frame["params"].get("_meta") for frame in agent.frames("sent")][1:]
    assert opening is None
    sent = [(meta or {}).get("traceparent", "") for meta in prompts]
    if setting == "random":
        assert all(re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", value) for value in sent)
        assert sent[0] != sent[1]
    else:
        assert sent == ["" if setting == "off" else setting] * 2


async def test_the_agent_inherits_the_environment_and_gets_its_own_variables(
    client: MakeClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("FROM_US", "yes")
    monkeypatch.setenv("FROM_BOTH", "ours")
    agent = client("faulty", "reports_environment", FROM_BOTH="the agent's")
    connection = await agent.open()
    await connection.prompt(SESSION, text("go"))
    heard = agent.heard()
    assert (heard["env"]["FROM_US"], heard["env"]["FROM_BOTH"]) == ("yes", "the agent's")
    assert heard["cwd"] == str(tmp_path)
    assert heard["group"] == heard["session"] == connection.pid
    assert heard["files"] == [0, 1, 2]
    assert heard["ignored"] == []


async def test_a_select_option_without_choices_accepts_no_value(client: MakeClient) -> None:
    agent = client("faulty", "errors")
    connection = await agent.initialize()
    agent.session.agent = Agent()
    agent.session.config_options = [ConfigOption("a", "A", "select", "x")]
    with pytest.raises(
        NotSupported, match='Value "x" of option "a" is not available: Scripted Agent offers none'
    ):
        await connection.set_config_option(SESSION, "a", "x")


class Caller:
    """Stands for the screen in whose context a call is made."""


async def test_the_time_limit_of_a_call_does_not_keep_its_context(client: MakeClient) -> None:
    current: ContextVar[Caller] = ContextVar("current")
    connection = await client("complete").start()

    async def call() -> weakref.ref[Caller]:
        caller = Caller()
        current.set(caller)
        await connection.initialize({}, timeout=1000)
        return weakref.ref(caller)

    # asyncio removes a cancelled timer early only if it is the next one.
    next_timer = asyncio.get_running_loop().call_later(500, gc.collect)
    caller = await asyncio.create_task(call())

    def is_freed() -> bool:
        gc.collect()
        return caller() is None

    await until(is_freed)
    next_timer.cancel()
