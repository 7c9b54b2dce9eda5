"""How turns end, and how they are stopped."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.demo_client import Driver, RpcError

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from tests.demo.conftest import Start

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _begin(demo: Driver, session: str, text: str) -> tuple[int, asyncio.Future[Any]]:
    """A prompt that has begun to be answered."""
    begun = demo.begin_prompt(session, text)
    await demo.until(lambda: demo.updates("agent_message_chunk", session))
    return begun


async def test_stop_reasons(demo: Driver) -> None:
    session = await demo.open()
    for reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"):
        assert (await demo.prompt(session, f"/stop {reason}"))["stopReason"] == reason
    assert (await demo.prompt(session, "/silence"))["stopReason"] == "end_turn"


async def test_a_stop_reason_that_does_not_exist(demo: Driver) -> None:
    demo.odd = True
    assert (await demo.prompt(await demo.open(), "/stop unknown"))["stopReason"] == "_demo_reason"


_READABLE = (
    *("message", "details", "text", "http", "nested", "list", "empty"),
    *("long", "escape", "missing", "auth", "cancelled", "null"),
)


async def test_errors_of_many_shapes(demo: Driver) -> None:
    demo.odd = True
    session = await demo.open()
    codes: dict[str, Any] = {}
    for shape in [
        "message",
        "details",
        "text",
        "http",
        "nested",
        "list",
        "empty",
        "long",
        "escape",
        "missing",
        "auth",
        "cancelled",
        "null",
    ]:
        with pytest.raises(RpcError) as error:
            await demo.prompt(session, f"/error {shape}")
        codes[shape] = error.value.error
    assert codes["message"]["message"].startswith("The demo failed on purpose")
    assert "on purpose" in codes["details"]["data"]["details"]
    assert isinstance(codes["text"]["data"], str)
    assert codes["http"]["code"] == 429
    assert codes["auth"]["code"] == -32000
    assert codes["null"] == {"code": None, "message": None}
    with pytest.raises(RpcError) as error:
        await demo.prompt(session, "/error bare")
    assert isinstance(error.value.error, str)
    # After all of that the session still works.
    assert (await demo.prompt(session, "/silence"))["stopReason"] == "end_turn"


@pytest.mark.parametrize("command", ["/slow 999", "/flood 1000000 40"])
async def test_a_cancel_ends_the_turn(demo: Driver, command: str) -> None:
    session = await demo.open()
    answer = (await _begin(demo, session, command))[1]
    demo.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"


async def test_a_cancel_ends_a_turn_that_waits_for_the_client(demo: Driver) -> None:
    demo.silent.add("session/request_permission")
    session = await demo.open()
    answer = demo.begin_prompt(session, "/edit")[1]
    await demo.until(lambda: demo.requests("session/request_permission"))
    demo.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"
    # What was still open is not told as running when the session comes back.
    mark = len(demo.frames)
    await demo.call("session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    again = [frame["params"]["update"] for frame in demo.frames[mark:] if "params" in frame]
    assert {update["status"] for update in again if update["sessionUpdate"] == "tool_call"} <= {
        "completed",
        "failed",
    }


async def test_a_prompt_can_be_taken_back(demo: Driver) -> None:
    session = await demo.open()
    request_id, answer = await _begin(demo, session, "/slow 999")
    demo.notify("$/cancel_request", requestId=request_id)
    with pytest.raises(RpcError) as error:
        await answer
    assert error.value.code == -32800
    demo.notify("$/cancel_request", requestId=request_id)  # too late: nothing happens
    demo.notify("$/cancel_request", requestId="unknown")
    assert (await demo.prompt(session, "/silence"))["stopReason"] == "end_turn"


async def test_a_prompt_taken_back_in_the_same_breath(demo: Driver) -> None:
    session = await demo.open()
    request_id, answer = demo.begin_prompt(session, "/slow 999")
    demo.notify("$/cancel_request", requestId=request_id)
    with pytest.raises(RpcError) as error:
        await answer
    assert error.value.code == -32800


async def test_a_second_prompt_has_to_wait(demo: Driver) -> None:
    session = await demo.open()
    first = (await _begin(demo, session, "/slow 999"))[1]
    with pytest.raises(RpcError) as error:
        await demo.prompt(session, "hello")
    assert error.value.code == -32600
    other = (await demo.call("session/new", cwd=str(demo.root), mcpServers=[]))["sessionId"]
    assert (await demo.prompt(other, "/silence"))["stopReason"] == "end_turn"
    demo.notify("session/cancel", sessionId=session)
    assert (await first)["stopReason"] == "cancelled"


async def test_a_stuck_agent_ignores_a_cancel(demo: Driver) -> None:
    session = await demo.open()
    answer = (await _begin(demo, session, "/hang"))[1]
    demo.notify("session/cancel", sessionId=session)
    # It answers everything else, so it did receive the cancel.
    await demo.call("session/set_mode", sessionId=session, modeId="ask")
    assert not answer.done()
    await demo.call("session/close", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"


@pytest.mark.parametrize(("how", "code"), [("", 3), ("7", 7), ("zero", 0), ("signal", -signal.SIGKILL)])
async def test_a_crash(start: Start, folder: Path, how: str, code: int) -> None:
    demo = await start(folder)
    demo.odd = True
    session = await demo.open()
    with pytest.raises(ConnectionError):
        await demo.prompt(session, f"/crash {how}")
    assert "the last line before the end" in await demo.stop()
    assert demo.process.returncode == code
    assert demo.text() == "I am about to die."
    if how == "signal":
        after = await start(folder)
        await after.initialize()
        await after.call("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        assert after.text("user_message_chunk") == "/crash signal"


async def test_something_comes_after_the_turn(demo: Driver) -> None:
    await demo.prompt(await demo.open(), "/later")
    await demo.until(lambda: "after the turn" in demo.text())
    answered = next(
        index for index, frame in enumerate(demo.frames) if "stopReason" in frame.get("result", {})
    )
    assert any("after" in str(frame) for frame in demo.frames[answered + 1 :])


async def test_no_command_of_its_own_outlives_it(start: Start, folder: Path) -> None:
    script = f"exec {sys.executable} -c 'import os, time; print(os.getpid(), flush=True); time.sleep(999)'"

    async def running(demo: Driver) -> tuple[str, int, asyncio.Future[Any]]:
        session = await demo.open(capabilities={})
        answer = demo.begin_prompt(session, f"/terminal {script}")[1]
        shown = await demo.until(lambda: [call["content"] for call in demo.calls() if "content" in call])
        return session, int(shown[0][0]["content"]["text"]), answer

    cancelled = await start(folder)
    session, pid, answer = await running(cancelled)
    cancelled.notify("session/cancel", sessionId=session)
    assert (await answer)["stopReason"] == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

    for ending in ("stop", "terminate"):
        demo = await start(folder)
        _, pid, _ = await running(demo)
        if ending == "terminate":
            demo.process.terminate()
        await demo.stop()
        assert demo.process.returncode == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
