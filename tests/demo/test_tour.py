"""The demo's tour and what it changes in the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.demo.sample_project import BUG, FIX
from tests.support.demo_client import DemoClient, Frame, RpcError, choose

if TYPE_CHECKING:
    from pathlib import Path
pytestmark = pytest.mark.asyncio(loop_scope="session")


def _content_types(call: Frame) -> list[str]:
    return [part["type"] for part in call.get("content", [])]


async def test_the_tour_shows_a_typical_turn(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    answer = await demo.prompt(await demo.open_session(), "tour")
    assert answer["stopReason"] == "end_turn"
    assert "divided by 100" in demo.text("agent_thought_chunk")

    plans = [[entry["status"] for entry in update["entries"]] for update in demo.updates("plan")]
    assert plans[0] == ["in_progress", "pending", "pending", "pending", "pending"]
    assert plans[-1] == ["completed"] * 5
    assert len(plans) == 6

    read, edit, run = demo.calls()
    assert [call["kind"] for call in (read, edit, run)] == ["read", "edit", "execute"]
    assert {call["status"] for call in (read, edit, run)} == {"completed"}
    assert _content_types(edit) == ["diff"]
    assert _content_types(run) == ["terminal"]

    requests = demo.requests("session/request_permission")
    assert [request["toolCall"]["toolCallId"] for request in requests] == [
        edit["toolCallId"],
        run["toolCallId"],
    ]
    for request in requests:
        kinds = [option["kind"] for option in request["options"]]
        assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]
    assert requests[0]["toolCall"]["content"] == edit["content"]
    assert demo.requests("fs/read_text_file")
    assert demo.requests("fs/write_text_file")
    assert demo.requests("terminal/create")[0]["cwd"] == str(sample)
    assert demo.requests("terminal/create")[0]["env"] == [{"name": "PYTHONDONTWRITEBYTECODE", "value": "1"}]
    assert demo.requests("session/request_permission")[1]["toolCall"]["rawInput"]["env"]
    assert not (sample / "__pycache__").exists()
    assert demo.requests("terminal/release")

    assert "| Edited | `basket.py` | ✅ yes |" in demo.text()
    assert "```python" in demo.text()
    assert "not a language model" in demo.text()
    assert "`Ctrl+T` opens a new tab, `F4` lists the sessions and `Alt+C` shows the usage" in demo.text()


async def test_the_tour_fixes_the_sample_project(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    await demo.prompt(await demo.open_session(), "tour")
    text = (sample / "basket.py").read_text()
    assert FIX in text
    assert BUG not in text


async def test_the_tour_works_without_client_capabilities(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    await demo.prompt(await demo.open_session(capabilities={}), "/tour")
    assert FIX in (sample / "basket.py").read_text()
    run = demo.calls()[-1]
    assert run["status"] == "completed"
    assert "\x1b[32m" in run["content"][0]["content"]["text"]
    assert {frame["method"] for frame in demo.frames if "method" in frame} == {
        "session/update",
        "session/request_permission",
    }


async def test_the_tour_suggests_only_supported_commands(demo: DemoClient, sample: Path) -> None:
    await demo.prompt(await demo.open_session(capabilities={}), "tour")
    assert "`/permission`: questions an agent can ask you" in demo.text()
    assert "/elicit" not in demo.text()


async def test_terminal_output_is_sent_in_meta_if_supported(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    await demo.prompt(await demo.open_session(capabilities={"_meta": {"terminal_output": True}}), "tour")
    metas = [update["_meta"] for update in demo.updates("tool_call_update") if "_meta" in update]
    assert metas[0]["terminal_info"]["cwd"] == str(sample)
    assert metas[-1]["terminal_exit"]["exit_code"] == 0
    pieces = [meta["terminal_output"]["data"] for meta in metas if "terminal_output" in meta]
    assert "all passed" in "".join(pieces)
    run = demo.calls()[-1]
    assert run["content"] == [{"type": "terminal", "terminalId": metas[0]["terminal_info"]["terminal_id"]}]


async def test_rejected_tool_calls_change_nothing(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    demo.answers["session/request_permission"] = lambda params: choose(params, "reject_once")
    answer = await demo.prompt(await demo.open_session(), "tour")
    assert answer["stopReason"] == "end_turn"
    assert BUG in (sample / "basket.py").read_text()
    assert not demo.requests("fs/write_text_file")
    assert not demo.requests("terminal/create")
    assert [call["status"] for call in demo.calls()] == ["completed", "failed", "failed"]
    assert "The bug is still there" in demo.text()


async def test_a_cancelled_permission_ends_the_turn(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    demo.answers["session/request_permission"] = lambda params: {"outcome": {"outcome": "cancelled"}}
    answer = await demo.prompt(await demo.open_session(), "tour")
    assert answer["stopReason"] == "cancelled"
    assert BUG in (sample / "basket.py").read_text()


async def test_always_is_remembered_for_the_kind_of_tool_call(demo: DemoClient, folder: Path) -> None:
    demo.answers["session/request_permission"] = lambda params: choose(params, "allow_always")
    session = await demo.open_session()
    await demo.prompt(session, "/edit")
    await demo.prompt(session, "/edit")
    assert len(demo.requests("session/request_permission")) == 1
    await demo.prompt(session, "/terminal")
    assert len(demo.requests("session/request_permission")) == 2
    assert len((folder / "acp-tui-demo.txt").read_text().splitlines()) == 2


async def test_auto_mode_does_not_ask(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    session = await demo.open_session()
    await demo.call("session/set_mode", sessionId=session, modeId="auto")
    await demo.prompt(session, "tour")
    assert not demo.requests("session/request_permission")
    assert FIX in (sample / "basket.py").read_text()


async def test_plan_mode_changes_nothing(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    session = await demo.open_session()
    await demo.call("session/set_mode", sessionId=session, modeId="plan")
    await demo.prompt(session, "tour")
    assert not demo.requests("session/request_permission")
    assert BUG in (sample / "basket.py").read_text()
    reasons = [call["content"][-1]["content"]["text"] for call in demo.calls()][1:]
    assert all("plan mode" in reason for reason in reasons)
    assert len(reasons) == 2


@pytest.mark.parametrize("capabilities", [None, {}])
async def test_in_other_folders_the_tour_writes_only_its_own_file(
    demo: DemoClient, folder: Path, capabilities: Frame | None
) -> None:
    await demo.prompt(await demo.open_session(capabilities=capabilities), "tour")
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "acp-tui-demo.txt"]
    assert "You can delete this file" in (folder / "acp-tui-demo.txt").read_text()
    assert "I only ever write one file here, `acp-tui-demo.txt`" in demo.text()
    assert [call["status"] for call in demo.calls()] == ["completed"] * 3


async def test_in_a_folder_without_an_overview_file_the_tour_does_not_claim_to_read_one(
    demo: DemoClient, folder: Path
) -> None:
    (folder / "README.md").unlink()
    await demo.prompt(await demo.open_session(), "tour")
    assert "I read at most one file" in demo.text()
    assert "such as the README, if there is one" in demo.text("agent_thought_chunk")


async def test_a_second_tour_finds_the_bug_fixed(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    session = await demo.open_session()
    await demo.prompt(session, "tour")
    before = (sample / "basket.py").read_text()
    assert (await demo.prompt(session, "tour"))["stopReason"] == "end_turn"
    assert (sample / "basket.py").read_text() == before
    assert (sample / "acp-tui-demo.txt").exists()
    assert "The bug is already fixed" in demo.text()
    assert demo.text().count("The fix is one line") == 1


async def test_a_file_that_cannot_be_read_is_not_overwritten(demo: DemoClient, folder: Path) -> None:
    own = folder / "acp-tui-demo.txt"
    own.write_text("mine\n")
    demo.answers["fs/read_text_file"] = lambda params: _fail("not now")
    session = await demo.open_session()
    await demo.prompt(session, "/edit")
    await demo.prompt(session, "tour")
    assert own.read_text() == "mine\n"
    assert [call["kind"] for call in demo.calls()] == ["read", "read", "read", "execute"]


def _fail(message: str) -> Frame:
    raise RpcError({"code": -32603, "message": message})


async def test_requests_the_client_refuses_are_not_worked_around(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    for method in ("fs/read_text_file", "terminal/create"):
        demo.answers[method] = lambda params: _fail("not allowed")
    assert (await demo.prompt(await demo.open_session(), "tour"))["stopReason"] == "end_turn"
    assert BUG in (sample / "basket.py").read_text()
    read, run = demo.calls()
    for call in (read, run):
        assert call["status"] == "failed"
        assert "not allowed" in call["content"][-1]["content"]["text"]


async def test_a_failed_write_is_reported(demo: DemoClient, sample: Path) -> None:
    demo.root = sample
    demo.answers["fs/write_text_file"] = lambda params: _fail("the disk is full")
    await demo.prompt(await demo.open_session(), "/edit")
    edit = demo.calls()[-1]
    assert edit["status"] == "failed"
    assert [part["type"] for part in edit["content"]] == ["diff", "content"]
    assert "the disk is full" in edit["content"][1]["content"]["text"]
    assert "was not changed" in demo.text()
