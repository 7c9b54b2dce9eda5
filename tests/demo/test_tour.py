"""The tour: what it shows, what it does to the folder, and what it leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.demo.sample_files import BUG, FIX
from tests.support.demo_client import Driver, Frame, RpcError, choose

if TYPE_CHECKING:
    from pathlib import Path
pytestmark = pytest.mark.asyncio(loop_scope="session")


def _content(call: Frame) -> list[str]:
    return [part["type"] for part in call.get("content", [])]


async def test_it_shows_what_a_coding_agent_does(demo: Driver, sample: Path) -> None:
    demo.root = sample
    answer = await demo.prompt(await demo.open(), "tour")
    assert answer["stopReason"] == "end_turn"
    assert "divided by 100" in demo.text("agent_thought_chunk")

    plans = [[entry["status"] for entry in update["entries"]] for update in demo.updates("plan")]
    assert plans[0] == ["in_progress", "pending", "pending", "pending", "pending"]
    assert plans[-1] == ["completed"] * 5
    assert len(plans) == 6

    read, edit, run = demo.calls()
    assert [call["kind"] for call in (read, edit, run)] == ["read", "edit", "execute"]
    assert {call["status"] for call in (read, edit, run)} == {"completed"}
    assert _content(edit) == ["diff"]
    assert _content(run) == ["terminal"]

    asked = demo.requests("session/request_permission")
    assert [request["toolCall"]["toolCallId"] for request in asked] == [edit["toolCallId"], run["toolCallId"]]
    for request in asked:
        kinds = [option["kind"] for option in request["options"]]
        assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]
    assert asked[0]["toolCall"]["content"] == edit["content"]
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


async def test_it_repairs_the_sample_project(demo: Driver, sample: Path) -> None:
    demo.root = sample
    await demo.prompt(await demo.open(), "tour")
    text = (sample / "basket.py").read_text()
    assert FIX in text
    assert BUG not in text


async def test_it_does_it_all_itself_for_a_client_that_offers_nothing(demo: Driver, sample: Path) -> None:
    demo.root = sample
    await demo.prompt(await demo.open(capabilities={}), "/tour")
    assert FIX in (sample / "basket.py").read_text()
    run = demo.calls()[-1]
    assert run["status"] == "completed"
    assert "\x1b[32m" in run["content"][0]["content"]["text"]
    assert {frame["method"] for frame in demo.frames if "method" in frame} == {
        "session/update",
        "session/request_permission",
    }


async def test_it_recommends_only_what_the_client_can_show(demo: Driver, sample: Path) -> None:
    await demo.prompt(await demo.open(capabilities={}), "tour")
    assert "`/permission`: questions an agent can ask you" in demo.text()
    assert "/elicit" not in demo.text()


async def test_its_own_terminal_is_told_in_meta_to_a_client_that_shows_it(demo: Driver, sample: Path) -> None:
    demo.root = sample
    await demo.prompt(await demo.open(capabilities={"_meta": {"terminal_output": True}}), "tour")
    metas = [update["_meta"] for update in demo.updates("tool_call_update") if "_meta" in update]
    assert metas[0]["terminal_info"]["cwd"] == str(sample)
    assert metas[-1]["terminal_exit"]["exit_code"] == 0
    pieces = [meta["terminal_output"]["data"] for meta in metas if "terminal_output" in meta]
    assert "all passed" in "".join(pieces)
    run = demo.calls()[-1]
    assert run["content"] == [{"type": "terminal", "terminalId": metas[0]["terminal_info"]["terminal_id"]}]


async def test_what_is_rejected_is_not_done(demo: Driver, sample: Path) -> None:
    demo.root = sample
    demo.answers["session/request_permission"] = lambda params: choose(params, "reject_once")
    answer = await demo.prompt(await demo.open(), "tour")
    assert answer["stopReason"] == "end_turn"
    assert BUG in (sample / "basket.py").read_text()
    assert not demo.requests("fs/write_text_file")
    assert not demo.requests("terminal/create")
    assert [call["status"] for call in demo.calls()] == ["completed", "failed", "failed"]
    assert "The bug is still there" in demo.text()


async def test_a_cancelled_permission_ends_the_turn(demo: Driver, sample: Path) -> None:
    demo.root = sample
    demo.answers["session/request_permission"] = lambda params: {"outcome": {"outcome": "cancelled"}}
    answer = await demo.prompt(await demo.open(), "tour")
    assert answer["stopReason"] == "cancelled"
    assert BUG in (sample / "basket.py").read_text()


async def test_always_is_remembered_for_the_kind_of_call(demo: Driver, folder: Path) -> None:
    demo.answers["session/request_permission"] = lambda params: choose(params, "allow_always")
    session = await demo.open()
    await demo.prompt(session, "/edit")
    await demo.prompt(session, "/edit")
    assert len(demo.requests("session/request_permission")) == 1
    await demo.prompt(session, "/terminal")
    assert len(demo.requests("session/request_permission")) == 2
    assert len((folder / "acp-tui-demo.txt").read_text().splitlines()) == 2


async def test_in_auto_mode_it_does_not_ask(demo: Driver, sample: Path) -> None:
    demo.root = sample
    session = await demo.open()
    await demo.call("session/set_mode", sessionId=session, modeId="auto")
    await demo.prompt(session, "tour")
    assert not demo.requests("session/request_permission")
    assert FIX in (sample / "basket.py").read_text()


async def test_in_plan_mode_it_changes_nothing(demo: Driver, sample: Path) -> None:
    demo.root = sample
    session = await demo.open()
    await demo.call("session/set_mode", sessionId=session, modeId="plan")
    await demo.prompt(session, "tour")
    assert not demo.requests("session/request_permission")
    assert BUG in (sample / "basket.py").read_text()
    reasons = [call["content"][-1]["content"]["text"] for call in demo.calls()][1:]
    assert all("plan mode" in reason for reason in reasons)
    assert len(reasons) == 2


@pytest.mark.parametrize("capabilities", [None, {}])
async def test_elsewhere_it_writes_one_file_of_its_own(
    demo: Driver, folder: Path, capabilities: Frame | None
) -> None:
    await demo.prompt(await demo.open(capabilities=capabilities), "tour")
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "acp-tui-demo.txt"]
    assert "You can delete this file" in (folder / "acp-tui-demo.txt").read_text()
    assert "I only ever write one file here, `acp-tui-demo.txt`" in demo.text()
    assert [call["status"] for call in demo.calls()] == ["completed"] * 3


async def test_a_second_tour_finds_the_bug_repaired(demo: Driver, sample: Path) -> None:
    demo.root = sample
    session = await demo.open()
    await demo.prompt(session, "tour")
    before = (sample / "basket.py").read_text()
    assert (await demo.prompt(session, "tour"))["stopReason"] == "end_turn"
    assert (sample / "basket.py").read_text() == before
    assert (sample / "acp-tui-demo.txt").exists()
    assert "The bug is already fixed" in demo.text()
    assert demo.text().count("The fix is one line") == 1


async def test_a_file_that_cannot_be_read_is_not_overwritten(demo: Driver, folder: Path) -> None:
    own = folder / "acp-tui-demo.txt"
    own.write_text("mine\n")
    demo.answers["fs/read_text_file"] = lambda params: _no("not now")
    session = await demo.open()
    await demo.prompt(session, "/edit")
    await demo.prompt(session, "tour")
    assert own.read_text() == "mine\n"
    assert [call["kind"] for call in demo.calls()] == ["read", "read", "read", "execute"]


def _no(message: str) -> Frame:
    raise RpcError({"code": -32603, "message": message})


async def test_a_refusal_of_the_client_is_not_worked_around(demo: Driver, sample: Path) -> None:
    demo.root = sample
    for method in ("fs/read_text_file", "terminal/create"):
        demo.answers[method] = lambda params: _no("not in my house")
    assert (await demo.prompt(await demo.open(), "tour"))["stopReason"] == "end_turn"
    assert BUG in (sample / "basket.py").read_text()
    read, run = demo.calls()
    for call in (read, run):
        assert call["status"] == "failed"
        assert "not in my house" in call["content"][-1]["content"]["text"]


async def test_a_file_that_cannot_be_written_is_said(demo: Driver, sample: Path) -> None:
    demo.root = sample
    demo.answers["fs/write_text_file"] = lambda params: _no("the disk is full")
    await demo.prompt(await demo.open(), "/edit")
    edit = demo.calls()[-1]
    assert edit["status"] == "failed"
    assert [part["type"] for part in edit["content"]] == ["diff", "content"]
    assert "the disk is full" in edit["content"][1]["content"]["text"]
    assert "is as it was" in demo.text()
