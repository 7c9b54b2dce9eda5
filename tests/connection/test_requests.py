"""Requests from the agent: each gets exactly one answer, even if it is withdrawn or the connection closes."""

from __future__ import annotations

import asyncio
import errno
import json
from typing import TYPE_CHECKING, Any

import pytest

from acp_tui.connection.errors import AgentGone
from acp_tui.errors import Refusal
from acp_tui.session.state import Notice
from tests.support.connection import SESSION, Client, text
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.connection.conftest import MakeClient

CANCELLED = {"code": -32800, "message": "Request cancelled"}
NOT_ALLOWED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


def answered_ids(client: Client) -> list[Any]:
    """Return the ids of the answers that were sent to the agent, in order."""
    return [frame["id"] for frame in client.frames("sent") if "method" not in frame]


async def answer_to(client: Client, method: str, params: Any, request_id: Any = "one") -> dict[str, Any]:
    """Return the answer that the agent gets to a request."""
    connection = await client.open()
    await connection.prompt(SESSION, text(json.dumps({"method": method, "params": params, "id": request_id})))
    assert answered_ids(client) == [request_id]
    answer: dict[str, Any] = client.heard()
    assert answer.pop("jsonrpc") == "2.0"
    assert answer.pop("id") == request_id
    return answer


@pytest.mark.parametrize("request_id", ["text", "", 0, 7, -1])
async def test_request_ids_may_be_strings_or_numbers(client: MakeClient, request_id: str | int) -> None:
    agent = client("faulty", "asks")

    async def read(params: dict[str, Any]) -> dict[str, Any]:
        return {"content": params["path"]}

    agent.handlers["fs/read_text_file"] = read
    answer = await answer_to(agent, "fs/read_text_file", {"sessionId": SESSION, "path": "/a"}, request_id)
    assert answer == {"result": {"content": "/a"}}


async def test_a_result_of_none_is_sent_as_an_empty_object(client: MakeClient) -> None:
    agent = client("faulty", "asks")

    async def release(_: dict[str, Any]) -> None:
        return None

    agent.handlers["terminal/release"] = release
    assert await answer_to(agent, "terminal/release", {}) == {"result": {}}


async def test_a_refusal_is_an_error_answer(client: MakeClient) -> None:
    agent = client("faulty", "asks")

    async def refuse(_: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(-32002, "Resource not found", {"path": "/a"})

    agent.handlers["fs/read_text_file"] = refuse
    error = {"code": -32002, "message": "Resource not found", "data": {"path": "/a"}}
    assert await answer_to(agent, "fs/read_text_file", {}) == {"error": error}


@pytest.mark.parametrize(
    ("error", "details"),
    [
        (ZeroDivisionError("in /home/me/.local/state/acp-tui/permissions.json"), "ZeroDivisionError"),
        (OSError(errno.EMFILE, "Too many open files", "/home/me/x"), "OSError: Too many open files"),
        (PermissionError(errno.EACCES, "/home/me/x"), "PermissionError: Permission denied"),
    ],
)
async def test_an_unexpected_exception_is_an_internal_error_without_paths(
    client: MakeClient, error: Exception, details: str
) -> None:
    agent = client("faulty", "asks")

    async def fail(_: dict[str, Any]) -> dict[str, Any]:
        raise error

    agent.handlers["fs/read_text_file"] = fail
    answer = await answer_to(agent, "fs/read_text_file", {})
    assert answer["error"]["code"] == -32603
    assert answer["error"]["data"] == {"details": details}


@pytest.mark.parametrize("method", ["fs/list", "_vendor/thing", "session/prompt", ""])
async def test_unknown_methods_are_answered_with_method_not_found(client: MakeClient, method: str) -> None:
    agent = client("faulty", "asks")
    answer = await answer_to(agent, method, {})
    assert answer == {"error": {"code": -32601, "message": "Method not found", "data": {"method": method}}}
    assert agent.served == []


@pytest.mark.parametrize("params", [None, [1], "text"])
async def test_params_must_be_an_object(client: MakeClient, params: Any) -> None:
    answer = await answer_to(client("faulty", "asks"), "fs/read_text_file", params)
    assert answer["error"]["code"] == -32602


async def test_a_request_withdrawn_before_its_handler_began_is_answered(client: MakeClient) -> None:
    agent = client("faulty", "withdraws_at_once")
    connection = await agent.open()
    assert await connection.prompt(SESSION, text("go")) == "end_turn"
    assert agent.heard() == [
        {"jsonrpc": "2.0", "id": "perm", "result": NOT_ALLOWED},
        {"jsonrpc": "2.0", "id": "wait", "error": CANCELLED},
    ]
    assert sorted(answered_ids(agent)) == ["perm", "wait"]


async def test_a_request_withdrawn_later_is_answered_once(client: MakeClient) -> None:
    agent = client("faulty", "withdraws_later")
    connection = await agent.open()
    turn = asyncio.ensure_future(connection.prompt(SESSION, text("go")))
    await until(lambda: agent.served)
    await connection.cancel(SESSION)  # the agent then withdraws its request
    assert await turn == "end_turn"
    assert agent.heard() == {"jsonrpc": "2.0", "id": 5, "result": {"action": "cancel"}}
    assert answered_ids(agent) == [5]


async def test_a_duplicate_id_gets_one_answer_and_can_be_reused_afterwards(client: MakeClient) -> None:
    agent = client("faulty", "same_id_twice")

    async def output(_: dict[str, Any]) -> dict[str, Any]:
        return {"output": "", "truncated": False}

    agent.handlers["terminal/output"] = output
    connection = await agent.open()
    await connection.prompt(SESSION, text("go"))
    assert agent.heard() == ["same", "other", "same"]
    assert answered_ids(agent) == ["same", "other", "same"]
    [fault] = [entry for entry in agent.session.entries if isinstance(entry, Notice)]
    assert fault.text.startswith("A request (terminal/output) reuses the id of a pending request")
    assert [frame["id"] for frame in agent.frames("received") if "method" in frame and "id" in frame] == [
        *("same", "same", "other", "same")
    ]


async def pending(agent: Client, file: Path) -> asyncio.Future[str]:
    """Start a turn with four pending requests."""
    connection = await agent.open()
    turn = asyncio.ensure_future(connection.prompt(SESSION, text(str(file))))
    await until(lambda: len(agent.served) == 4)
    return turn


ANSWERED = [
    {"jsonrpc": "2.0", "id": 0, "result": NOT_ALLOWED},
    {"jsonrpc": "2.0", "id": 1, "result": {"action": "cancel"}},
    {"jsonrpc": "2.0", "id": 2, "error": CANCELLED},
    {"jsonrpc": "2.0", "id": 3, "error": CANCELLED},
]


async def test_pending_requests_are_answered_on_close(client: MakeClient, tmp_path: Path) -> None:
    agent = client("faulty", "asks_and_waits")
    turn = await pending(agent, tmp_path / "answers")
    await agent.connection.close()
    assert json.loads((tmp_path / "answers").read_text()) == ANSWERED
    assert sorted(answered_ids(agent)) == [0, 1, 2, 3]
    await asyncio.wait([turn])
    assert turn.exception() is not None


async def test_answer_pending_returns_after_the_answers_are_written(
    client: MakeClient, tmp_path: Path
) -> None:
    agent = client("faulty", "asks_and_waits")
    turn = await pending(agent, tmp_path / "answers")
    await agent.connection.answer_pending()
    answers = [frame for frame in agent.frames("sent") if "method" not in frame]
    assert sorted(answers, key=lambda answer: answer["id"]) == ANSWERED
    await until((tmp_path / "answers").exists)
    turn.cancel()


async def test_pending_requests_are_cancelled_when_the_agent_exits(
    client: MakeClient, tmp_path: Path
) -> None:
    agent = client("script")
    asked, given_up = asyncio.Event(), asyncio.Event()

    async def ask(_: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        try:
            await asyncio.Event().wait()
            raise AssertionError
        finally:
            given_up.set()

    agent.handlers["session/request_permission"] = ask
    connection = await agent.open()
    steps = [
        ["request", "session/request_permission", {}, "one"],
        ["wait_for_file", str(tmp_path / "go")],
        ["exit", 3],
    ]
    turn = asyncio.ensure_future(connection.prompt(SESSION, text(json.dumps(steps))))
    await asked.wait()
    (tmp_path / "go").touch()
    await given_up.wait()
    await asyncio.wait([turn])
    assert isinstance(turn.exception(), AgentGone)
    assert [ended.code for ended in agent.exits] == [3]


async def test_notifications_are_never_answered(client: MakeClient) -> None:
    agent = client("faulty", "notifies")
    connection = await agent.open()
    await connection.prompt(SESSION, text("go"))
    assert [frame for frame in agent.frames("sent") if "method" not in frame] == []
    assert agent.served == []
