"""The facts about MCP servers, and their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.store import mcp_facts
from acp_tui.store.mcp_facts import McpFacts, ServerTest, ServerUse, ToolChanges
from acp_tui.store.mcp_log import MAX_LOG_BYTES, McpLog

if TYPE_CHECKING:
    from pathlib import Path


def test_each_fact_is_kept_when_another_is_added(tmp_path: Path) -> None:
    facts = McpFacts(tmp_path, clock=lambda: 5.0)
    facts.add_test("files", "d1", ServerTest(3.0, "connected", tools=2))
    facts.accept_tools("files", "d1", {"read": "a"})
    facts.add_sent([("files", "d1")], agent="claude", session="s1")
    facts.add_use("files", "d1", tool="read", evidence="the bridge")
    facts.remember_mode("files", "d1", "auto")
    known = McpFacts(tmp_path).read("files", "d1")
    assert known.tested == ServerTest(3.0, "connected", tools=2)
    assert known.accepted is not None
    assert known.accepted.digests == {"read": "a"}
    assert known.sent is not None
    assert known.sent.agent == "claude"
    assert known.used == ServerUse(5.0, "read", "the bridge")
    assert known.mode == "auto"


def test_facts_belong_to_one_definition(tmp_path: Path) -> None:
    facts = McpFacts(tmp_path)
    facts.add_test("files", "d1", ServerTest(3.0, "connected"))
    assert facts.read("files", "d2").tested is None
    assert facts.read("other", "d1").tested is None


def test_tools_are_compared_with_the_accepted_ones(tmp_path: Path) -> None:
    facts = McpFacts(tmp_path)
    assert not facts.read("files", "d1").tool_changes({"read": "a"})
    facts.accept_tools("files", "d1", {"read": "a", "write": "b", "old": "c"})
    changes = facts.read("files", "d1").tool_changes({"read": "a", "write": "B", "new": "d"})
    assert changes == ToolChanges(added=("new",), removed=("old",), changed=("write",))


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"servers": 1}', b'{"servers": {"d1 files": {"tested": {"at": "x"}, "agreed": 3}}}'],
)
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mcp-facts.json").write_bytes(content)
    facts = McpFacts(tmp_path)
    assert facts.read("files", "d1").tested is None
    facts.add_test("files", "d1", ServerTest(1.0, "failed", "It failed."))
    assert facts.read("files", "d1").tested == ServerTest(1.0, "failed", "It failed.")
    assert (tmp_path / "mcp-facts.json").stat().st_mode & 0o777 == 0o600


def test_the_oldest_definitions_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_facts, "MAX_SERVERS", 2)
    times = iter(range(1, 10))
    facts = McpFacts(tmp_path, clock=lambda: float(next(times)))
    for digest in ("d1", "d2", "d3"):
        facts.remember_mode("files", digest, "auto")
    assert [facts.read("files", digest).mode for digest in ("d1", "d2", "d3")] == [None, "auto", "auto"]


def test_the_log_masks_secrets_and_cuts_long_texts(tmp_path: Path) -> None:
    log = McpLog(tmp_path, "../evil name", clock=lambda: 1.0)
    log.add("call", tool="login", arguments={"password": "hunter2"}, result={"text": "x" * 10_000})
    assert log.path.parent == tmp_path / "mcp-logs"
    assert log.path.stat().st_mode & 0o777 == 0o600
    (record,) = log.read()
    assert (record["at"], record["kind"], record["tool"]) == (1.0, "call", "login")
    assert record["arguments"] == {"password": "[redacted]"}
    assert len(record["result"]["text"]) < 3000


def test_the_log_is_limited_in_size(tmp_path: Path) -> None:
    log = McpLog(tmp_path, "files")
    for number in range(700):
        log.add("stderr", line=f"{number} " + "x" * 1990)
    assert log.path.stat().st_size <= MAX_LOG_BYTES
    assert log.read()[-1]["line"].startswith("699 ")
