"""Sessions of the demo (new, list, load, resume, fork, close, delete), modes, options and sign-in."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.demo_client import DemoClient, Frame, RpcError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.demo.conftest import StartDemo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _error(demo: DemoClient, method: str, **params: Any) -> Frame:
    """Send a request that must fail; return its error."""
    with pytest.raises(RpcError) as raised:
        await demo.call(method, **params)
    assert isinstance(raised.value.error, dict)
    return raised.value.error


# --------------------------------------------------------------------------- initialization


async def test_initialize_reports_name_and_capabilities(demo: DemoClient) -> None:
    answer = await demo.initialize()
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"]["name"] == "acp-tui-demo"
    assert answer["authMethods"] == []
    capabilities = answer["agentCapabilities"]
    assert capabilities["loadSession"] is True
    assert capabilities["promptCapabilities"] == {"image": True, "audio": True, "embeddedContext": True}
    sessions = {"list", "delete", "additionalDirectories", "fork", "resume", "close"}
    assert set(capabilities["sessionCapabilities"]) == sessions


async def test_commands_and_usage_follow_the_session_id(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.until(lambda: demo.updates("usage_update", session))
    commands = demo.updates("available_commands_update", session)[0]["availableCommands"]
    assert {"tour", "plan", "edit", "terminal", "elicit", "error", "usage"} <= {
        command["name"] for command in commands
    }
    assert all(command["description"] for command in commands)
    answered = next(
        index for index, frame in enumerate(demo.frames) if "sessionId" in frame.get("result", {})
    )
    first_update = next(
        index for index, frame in enumerate(demo.frames) if frame.get("method") == "session/update"
    )
    assert answered < first_update


# --------------------------------------------------------------------------- modes and options


def _value(options: list[Frame], name: str) -> Any:
    return next(option["currentValue"] for option in options if option["id"] == name)


async def test_mode_and_mode_option_stay_in_sync(demo: DemoClient) -> None:
    await demo.initialize()
    answer = await demo.call("session/new", cwd=str(demo.root), mcpServers=[])
    session = answer["sessionId"]
    assert answer["modes"]["currentModeId"] == "ask"
    assert [(option["id"], option["type"]) for option in answer["configOptions"]] == [
        ("mode", "select"),
        ("model", "select"),
        ("pace", "select"),
        ("thoughts", "boolean"),
    ]
    assert _value(answer["configOptions"], "pace") == "instant"

    await demo.call("session/set_mode", sessionId=session, modeId="plan")
    assert demo.updates("current_mode_update")[-1]["currentModeId"] == "plan"
    assert _value(demo.updates("config_option_update")[-1]["configOptions"], "mode") == "plan"

    answer = await demo.call("session/set_config_option", sessionId=session, configId="mode", value="auto")
    assert _value(answer["configOptions"], "mode") == "auto"
    assert demo.updates("current_mode_update")[-1]["currentModeId"] == "auto"

    await demo.prompt(session, "/mode ask")
    assert demo.updates("current_mode_update")[-1]["currentModeId"] == "ask"


async def test_setting_an_option_returns_all_options_and_takes_effect(demo: DemoClient) -> None:
    session = await demo.open_session()
    answer = await demo.call(
        "session/set_config_option", sessionId=session, configId="thoughts", type="boolean", value=False
    )
    assert len(answer["configOptions"]) == 4
    assert _value(answer["configOptions"], "thoughts") is False
    await demo.prompt(session, "tour")
    assert not demo.updates("agent_thought_chunk")

    await demo.call("session/set_config_option", sessionId=session, configId="model", value="orrery-200k")
    assert demo.updates("usage_update")[-1]["size"] == 200_000

    for name, value in (("pace", "warp"), ("nothing", "1"), ("thoughts", "perhaps")):
        wrong = await _error(demo, "session/set_config_option", sessionId=session, configId=name, value=value)
        assert wrong["code"] == -32602
    assert (await _error(demo, "session/set_mode", sessionId=session, modeId="chaos"))["code"] == -32602


async def test_boolean_options_need_a_client_capability(demo: DemoClient) -> None:
    await demo.initialize({})
    answer = await demo.call("session/new", cwd=str(demo.root), mcpServers=[])
    assert {option["type"] for option in answer["configOptions"]} == {"select"}


# --------------------------------------------------------------------------- load, resume, fork, list, delete


async def test_load_replays_the_session_in_another_process(start: StartDemo, sample: Path) -> None:
    first = await start(sample)
    session = await first.open_session()
    await first.call("session/set_mode", sessionId=session, modeId="auto")
    await first.prompt(session, "tour")
    await first.stop()

    second = await start(sample)
    await second.initialize()
    answer = await second.call("session/load", sessionId=session, cwd=str(sample), mcpServers=[])
    assert answer["modes"]["currentModeId"] == "auto"
    assert second.text("user_message_chunk") == "tour"
    assert second.text() == first.text()
    assert second.text("agent_thought_chunk") == first.text("agent_thought_chunk")
    # Whole messages instead of chunks, final tool calls, and text instead of terminals.
    assert len(second.updates("agent_message_chunk")) == 2
    assert [call["status"] for call in second.calls()] == ["completed"] * 3
    run = second.calls()[-1]
    assert "all passed" in run["content"][0]["content"]["text"]
    assert second.updates("plan")[-1] == first.updates("plan")[-1]
    # The replay comes before the answer.
    kinds = [
        frame["params"]["update"]["sessionUpdate"] if "params" in frame else "" for frame in second.frames
    ]
    answered = next(index for index, frame in enumerate(second.frames) if "modes" in frame.get("result", {}))
    assert kinds.index("user_message_chunk") < kinds.index("plan") < answered
    assert not set(kinds[answered:]) & {"agent_message_chunk", "tool_call", "plan"}
    # The session can be continued.
    assert (await second.prompt(session, "/silence"))["stopReason"] == "end_turn"


async def test_resume_does_not_replay_and_opens_no_forgotten_session(start: StartDemo, folder: Path) -> None:
    first = await start(folder)
    session, forgotten = await first.open_session(), await first.open_session()
    await first.prompt(session, "/title A good name")
    await first.prompt(forgotten, "/forget")
    await first.stop()
    second = await start(folder)
    await second.initialize()
    directories = [str(folder / "more")]
    await second.call(
        "session/resume", sessionId=session, cwd=str(folder), additionalDirectories=directories, mcpServers=[]
    )
    assert not second.updates("agent_message_chunk")
    await second.prompt(session, "/session")
    assert f"| additional folders | `{directories[0]}` |" in second.text()
    for method in ("session/load", "session/resume"):
        error = await _error(second, method, sessionId=forgotten, cwd=str(folder), mcpServers=[])
        assert error["code"] == -32002
    listed = (await second.call("session/list", cwd=str(folder)))["sessions"]
    assert [each["sessionId"] for each in listed] == [session]


async def test_a_fork_shares_only_the_earlier_history(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/title Original")
    fork = (await demo.call("session/fork", sessionId=session, cwd=str(demo.root), mcpServers=[]))[
        "sessionId"
    ]
    await demo.prompt(fork, "/mode plan")
    start = len(demo.frames)
    await demo.call("session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    original = json.dumps(demo.frames[start:])
    assert "/title Original" in original
    assert "/mode plan" not in original
    start = len(demo.frames)
    await demo.call("session/load", sessionId=fork, cwd=str(demo.root), mcpServers=[])
    assert "/title Original" in json.dumps(demo.frames[start:])
    assert "/mode plan" in json.dumps(demo.frames[start:])


async def test_a_refused_prompt_is_removed_from_the_history(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "/title Kept")
    assert (await demo.prompt(session, "/refuse"))["stopReason"] == "refusal"
    start = len(demo.frames)
    await demo.call("session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    replayed = json.dumps(demo.frames[start:])
    assert "/title Kept" in replayed
    assert "/refuse" not in replayed
    assert "I will not do that" not in replayed


async def test_list_has_pages_and_starts_with_the_latest(demo: DemoClient, tmp_path: Path) -> None:
    await demo.initialize()
    created = []
    for index in range(23):
        cwd = tmp_path if index == 0 else demo.root
        created.append((await demo.call("session/new", cwd=str(cwd), mcpServers=[]))["sessionId"])
        await demo.prompt(created[-1], f"prompt {index}")
    await demo.call("session/new", cwd=str(demo.root), mcpServers=[])  # not listed, because it has no prompt

    page = await demo.call("session/list")
    assert [session["sessionId"] for session in page["sessions"]] == created[:-21:-1]
    assert page["sessions"][0]["title"] == "prompt 22"
    rest = await demo.call("session/list", cursor=page["nextCursor"])
    assert [session["sessionId"] for session in rest["sessions"]][:3] == created[2::-1]
    here = await demo.call("session/list", cwd=str(demo.root))
    last = await demo.call("session/list", cwd=str(demo.root), cursor=here["nextCursor"])
    assert last.get("nextCursor") is None
    listed = [session["sessionId"] for session in here["sessions"] + last["sessions"]]
    assert listed == created[:0:-1]
    elsewhere = await demo.call("session/list", cwd=str(tmp_path))
    assert [session["sessionId"] for session in elsewhere["sessions"]] == created[:1]


async def test_closed_sessions_can_be_resumed_and_deleted_ones_cannot(demo: DemoClient) -> None:
    session = await demo.open_session()
    await demo.prompt(session, "hello")
    assert await demo.call("session/close", sessionId=session) == {}
    assert (await _error(demo, "session/prompt", sessionId=session, prompt=[]))["code"] == -32002
    await demo.call("session/resume", sessionId=session, cwd=str(demo.root), mcpServers=[])
    assert await demo.call("session/delete", sessionId=session) == {}
    assert (await demo.call("session/list", cwd=str(demo.root)))["sessions"] == []
    gone = await _error(demo, "session/load", sessionId=session, cwd=str(demo.root), mcpServers=[])
    assert gone["code"] == -32002
    assert session in gone["message"]
    assert await demo.call("session/delete", sessionId="never-was") == {}


async def test_close_and_delete_cancel_the_running_turn(demo: DemoClient) -> None:
    await demo.initialize()
    for method in ("session/close", "session/delete"):
        session = (await demo.call("session/new", cwd=str(demo.root), mcpServers=[]))["sessionId"]
        answer = demo.start_prompt(session, "/slow 999")[1]
        await demo.until(partial(demo.updates, "agent_message_chunk", session))
        await demo.call(method, sessionId=session)
        assert (await answer)["stopReason"] == "cancelled"
    assert len((await demo.call("session/list", cwd=str(demo.root)))["sessions"]) == 1


async def test_the_store_is_private_and_session_ids_cannot_reach_other_files(
    start: StartDemo, folder: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    demo = await start(folder, "--store", str(store))
    session = await demo.open_session()
    assert (store / "sessions" / f"{session}.json").stat().st_mode & 0o777 == 0o600
    assert (store / "sessions").stat().st_mode & 0o777 == 0o700
    await demo.prompt(session, "hello")
    (store / "sessions" / "broken.json").write_text("{")
    assert len((await demo.call("session/list"))["sessions"]) == 1
    secret = store / "secret.json"
    secret.write_text("{}")
    for hostile_id in ("../secret", str(secret.with_suffix("")), "", f"../sessions/{session}", f"{session}/"):
        await demo.call("session/delete", sessionId=hostile_id)
        wrong = await _error(demo, "session/load", sessionId=hostile_id, cwd=str(tmp_path), mcpServers=[])
        assert wrong["code"] == -32002
    assert secret.exists()
    await demo.call("session/load", sessionId=session, cwd=str(folder), mcpServers=[])


async def test_the_conversation_continues_if_it_cannot_be_saved(start: StartDemo, folder: Path) -> None:
    demo = await start(folder, "--store", str(folder / "README.md" / "store"))
    demo.sends_invalid = True
    assert (await demo.prompt(await demo.open_session(), "tour"))["stopReason"] == "end_turn"
    assert "| Ran |" in demo.text()
    await demo.until(lambda: "cannot save the session" in demo.stderr)
    assert "Traceback" not in demo.stderr


# --------------------------------------------------------------------------- sign-in


async def test_a_required_sign_in_is_enforced(start: StartDemo, folder: Path) -> None:
    demo = await start(folder, env={"ACP_TUI_DEMO_AUTH": "1"})
    demo.sends_invalid = True  # it writes to stderr
    answer = await demo.initialize({})
    assert [method["id"] for method in answer["authMethods"]] == ["demo"]  # the other needs a capability
    answer = await demo.initialize()
    assert [method["id"] for method in answer["authMethods"]] == ["demo", "demo-terminal"]
    assert answer["agentCapabilities"]["auth"] == {"logout": {}}
    new = {"cwd": str(folder), "mcpServers": []}
    refused = await _error(demo, "session/new", **new)
    assert refused["code"] == -32000
    assert [method["id"] for method in refused["data"]["authMethods"]] == ["demo", "demo-terminal"]
    assert (await _error(demo, "authenticate", methodId="demo-terminal"))["code"] == -32602

    await demo.call("authenticate", methodId="demo")
    session = (await demo.call("session/new", **new))["sessionId"]
    await demo.call("logout")
    assert (await _error(demo, "session/prompt", sessionId=session, prompt=[]))["code"] == -32000
    await demo.call("authenticate", methodId="demo")
    await demo.prompt(session, "/logout")
    assert (await _error(demo, "session/list"))["code"] == -32000


async def test_signin_is_refused_until_the_user_has_signed_in(start: StartDemo, folder: Path) -> None:
    demo = await start(folder)
    demo.sends_invalid = True  # it writes to stderr
    session = await demo.open_session()
    await demo.prompt(session, "hello")
    refused = await _error(demo, "session/prompt", sessionId=session, prompt=_text("/signin"))
    assert refused["code"] == -32000
    await demo.call("authenticate", methodId="demo")
    await demo.prompt(session, "/signin")
    assert "You are signed in" in demo.text()
    await demo.until(lambda: "enter the code" in demo.stderr)


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


async def test_sign_in_on_a_terminal(start: StartDemo, folder: Path) -> None:
    assert await _sign_in("n") == 1
    demo = await start(folder, "--auth")
    await demo.initialize()
    assert (await _error(demo, "session/new", cwd=str(folder), mcpServers=[]))["code"] == -32000
    assert await _sign_in("y") == 0
    assert await demo.call("session/new", cwd=str(folder), mcpServers=[])


async def _sign_in(answer: str) -> int:
    """Run the terminal sign-in as a client does; return the exit code."""
    master, slave = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "acp_tui.demo", "--auth", "--sign-in"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    os.write(master, f"{answer}\n".encode())
    try:
        return await process.wait()
    finally:
        os.close(master)
