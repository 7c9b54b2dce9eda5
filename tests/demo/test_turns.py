"""How turns of the demo end and how they are cancelled."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.demo_client import ALL_CAPABILITIES, DemoClient, RpcError

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from tests.demo.conftest import StartDemo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _start_turn(demo: DemoClient, session: str, text: str) -> tuple[int, asyncio.Future[Any]]:
    """Send a prompt and wait for the first chunk; return the request id and a future of the answer."""
    started = demo.start_prompt(session, text)
    await demo.until(lambda: demo.updates("agent_message_chunk", session))
    return started


async def test_every_stop_reason_can_be_requested(demo: DemoClient) -> None:
    session = await demo.open_session()
    for reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"):
        assert (await demo.prompt(session, f"/stop {reason}"))["stopReason"] == reason
    assert (await demo.prompt(session, "/silence"))["stopReason"] == "end_turn"


async def test_an_unknown_stop_reason_can_be_requested(demo: DemoClient) -> None:
    demo.sends_invalid = True
    assert (await demo.prompt(await demo.open_session(), "/stop unknown"))["stopReason"] == "_demo_reason"


OBJECT_SHAPES = (
    *("message", "details", "text", "http", "nested", "list", "empty"),
    *("long", "escape", "missing", "auth", "cancelled", "null"),
)


async def test_errors_come_in_many_shapes(demo: DemoClient) -> None:
    demo.sends_invalid = True
    session = await demo.open_session()
    codes: dict[str, Any] = {}
    for shape in OBJECT_SHAPES:
        with pytest.raises(RpcError) as error:
            await demo.prompt(session, f"/error {shape}")
        codes[shape] = error.value.error
    assert codes["message"]["message"].startswith("A simulated error")
    assert "data.details" in codes["details"]["data"]["details"]
    assert isinstance(codes["text"]["data"], str)
    assert codes["http"]["code"] == 429
    assert codes["auth"]["code"] == -32000
    assert codes["null"] == {"code": None, "message": None}
    with pytest.raises(RpcError) as error:
        await demo.prompt(session, "/error bare")
    assert isinstance(error.value.error, str)
    # The session still works.
    assert (await demo.prompt(session, "/silence"))["stopReason"] == "end_turn"


@pytest.mark.parametrize("command", ["/slow 999", "/flood 1000000 40"])
async def test_cancel_ends_the_turn(demo: DemoClient, command: str) -> None:
    session = await demo.open_session()
    answer = (await _start_turn(demo, session, command))[1]
    demo.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"


async def test_cancel_ends_a_turn_that_waits_for_permission(demo: DemoClient) -> None:
    demo.unanswered.add("session/request_permission")
    session = await demo.open_session()
    answer = demo.start_prompt(session, "/edit")[1]
    await demo.until(lambda: demo.requests("session/request_permission"))
    demo.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"
    # After a reload no tool call is shown as running.
    start = len(demo.frames)
    await demo.call("session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    replayed = [frame["params"]["update"] for frame in demo.frames[start:] if "params" in frame]
    assert {update["status"] for update in replayed if update["sessionUpdate"] == "tool_call"} <= {
        "completed",
        "failed",
    }


async def test_cancel_request_cancels_the_prompt(demo: DemoClient) -> None:
    session = await demo.open_session()
    request_id, answer = await _start_turn(demo, session, "/slow 999")
    demo.notify("$/cancel_request", requestId=request_id)
    with pytest.raises(RpcError) as error:
        await answer
    assert error.value.code == -32800
    demo.notify("$/cancel_request", requestId=request_id)  # too late, so ignored
    demo.notify("$/cancel_request", requestId="unknown")
    assert (await demo.prompt(session, "/silence"))["stopReason"] == "end_turn"


async def test_cancel_request_right_after_the_prompt_cancels_it(demo: DemoClient) -> None:
    session = await demo.open_session()
    request_id, answer = demo.start_prompt(session, "/slow 999")
    demo.notify("$/cancel_request", requestId=request_id)
    with pytest.raises(RpcError) as error:
        await answer
    assert error.value.code == -32800


async def test_a_second_prompt_during_a_turn_is_an_error(demo: DemoClient) -> None:
    session = await demo.open_session()
    first = (await _start_turn(demo, session, "/slow 999"))[1]
    with pytest.raises(RpcError) as error:
        await demo.prompt(session, "hello")
    assert error.value.code == -32600
    other = (await demo.call("session/new", cwd=str(demo.root), mcpServers=[]))["sessionId"]
    assert (await demo.prompt(other, "/silence"))["stopReason"] == "end_turn"
    demo.notify("session/cancel", sessionId=session)
    assert (await first)["stopReason"] == "cancelled"


async def test_hang_ignores_cancel(demo: DemoClient) -> None:
    session = await demo.open_session()
    answer = (await _start_turn(demo, session, "/hang"))[1]
    demo.notify("session/cancel", sessionId=session)
    # The agent answers other requests, so it received the cancel.
    await demo.call("session/set_mode", sessionId=session, modeId="ask")
    assert not answer.done()
    await demo.call("session/close", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"


@pytest.mark.parametrize(("how", "code"), [("", 3), ("7", 7), ("zero", 0), ("signal", -signal.SIGKILL)])
async def test_crash_ends_the_process(start: StartDemo, folder: Path, how: str, code: int) -> None:
    demo = await start(folder)
    demo.sends_invalid = True
    session = await demo.open_session()
    with pytest.raises(ConnectionError):
        await demo.prompt(session, f"/crash {how}")
    assert "the last line before the end" in await demo.stop()
    assert demo.process.returncode == code
    assert demo.text() == "I am about to crash."
    if how == "signal":
        after = await start(folder)
        await after.initialize()
        await after.call("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        assert after.text("user_message_chunk") == "/crash signal"


async def test_later_sends_a_message_after_the_turn(demo: DemoClient) -> None:
    await demo.prompt(await demo.open_session(), "/later")
    await demo.until(lambda: "after the turn" in demo.text())
    answered = next(
        index for index, frame in enumerate(demo.frames) if "stopReason" in frame.get("result", {})
    )
    assert any("after" in str(frame) for frame in demo.frames[answered + 1 :])


async def test_running_commands_end_with_the_turn_and_with_the_agent(start: StartDemo, folder: Path) -> None:
    script = f"exec {sys.executable} -c 'import os, time; print(os.getpid(), flush=True); time.sleep(999)'"

    async def start_command(demo: DemoClient) -> tuple[str, int, asyncio.Future[Any]]:
        session = await demo.open_session(capabilities={})
        seen = len(demo.calls())
        answer = demo.start_prompt(session, f"/terminal {script}")[1]
        shown = await demo.until(
            lambda: [call["content"] for call in demo.calls()[seen:] if "content" in call]
        )
        return session, int(shown[0][0]["content"]["text"]), answer

    cancelled = await start(folder)
    session, pid, answer = await start_command(cancelled)
    cancelled.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

    for demo, ending in ((cancelled, "stop"), (await start(folder), "terminate")):
        _, pid, _ = await start_command(demo)
        if ending == "terminate":
            demo.process.terminate()
        await demo.stop()
        assert demo.process.returncode == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_subagents_work_at_once_and_outlive_the_turn(demo: DemoClient) -> None:
    demo.sends_invalid = True  # the SDK has no models for them
    session = await demo.open_session(capabilities={**ALL_CAPABILITIES, "subagents": {}})
    demo.unanswered.add("session/request_permission")
    await demo.prompt(session, "/subagents")
    reader, tester = demo.updates("subagent_update", session)[:2]
    assert (reader["capabilities"], tester["capabilities"]) == ({}, {"cancel": {}})
    (asked,) = demo.requests("session/request_permission")
    assert asked["sessionId"] == tester["sessionId"]
    (answer,) = demo.updates("agent_message_chunk", reader["sessionId"])
    assert answer["content"]["text"].startswith("It is a small")
    demo.notify("session/cancel", sessionId=tester["sessionId"])
    await demo.until(
        lambda: demo.updates("subagent_update", session)[-1]["state"].get("stopReason") == "cancelled"
    )
    demo.unanswered.clear()
    before = len(demo.frames)
    await demo.call("session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    replayed = [
        frame["params"]["sessionId"]
        for frame in demo.frames[before:]
        if frame.get("method") == "session/update"
    ]
    assert {reader["sessionId"], tester["sessionId"]} < set(replayed)


async def test_a_message_is_taken_into_the_running_turn(demo: DemoClient) -> None:
    session = await demo.open_session()
    message = {"sessionId": session, "prompt": [{"type": "text", "text": "hurry up"}]}
    _, answer = await _start_turn(demo, session, "/slow 1")
    assert await demo.call("_session/steering", **message) == {"outcome": "injected"}
    assert (await answer)["stopReason"] == "end_turn"
    assert 'you said: "hurry up"' in demo.text()
    outcome = await demo.call("_session/steering", **message)
    assert outcome == {"outcome": "promptRequired", "reason": "noRunningTurn"}
