"""The checks of the conformance suite, with an agent that conforms, and with the same agent with a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_tui.doctor.suite.bench import read_prompts
from acp_tui.doctor.suite.check_table import CHECKS, STORED
from acp_tui.doctor.suite.runner import select_checks
from tests.fake_agents import conformant
from tests.support.suite import check_agent

PROMPTS = read_prompts(Path(conformant.__file__).with_name("conformant_prompts.toml"))
GROUPS = (
    "messages",
    "handshake",
    "sessions",
    "prompt content",
    "tool calls",
    "permissions",
    "cancel",
    "files",
    "terminals",
    "modes and options",
    STORED,
)
"""The groups of checks that this agent has the faults for."""
NAMES = [check.name for check in select_checks(GROUPS)]
SILENT_FAULTS = frozenset({"refused-write", "close-cancels"})
"""Faults by which the agent does not answer."""


def test_the_table_has_unique_names_and_a_sentence_for_each_check() -> None:
    names = [check.name for check in CHECKS]
    assert len(names) == len(set(names))
    assert len(names) >= 60
    assert all(check.sentence and check.address.startswith("https://") for check in CHECKS)


@pytest.mark.parametrize("check", NAMES)
def test_each_check_fails_on_an_agent_with_the_fault(check: str, tmp_path: Path) -> None:
    timeout = 2 if check in SILENT_FAULTS else 30
    [result] = check_agent([check], tmp_path, check, module="conformant", prompts=PROMPTS, timeout=timeout)
    assert (result.status, bool(result.detail)) == ("fail", True), result.detail


def test_an_agent_without_a_fault_passes_every_check(tmp_path: Path) -> None:
    results = check_agent(NAMES, tmp_path, module="conformant", prompts=PROMPTS)
    others = {result.check.name: result.detail for result in results if result.status != "pass"}
    assert others == {"error-object": "the agent sent no error"}


def test_an_unknown_stop_reason_is_no_stop_reason(tmp_path: Path) -> None:
    [result] = check_agent(["stop-reason"], tmp_path, "own-stop-reason", module="conformant", prompts=PROMPTS)
    assert (result.status, result.detail) == ("fail", "the turn ended with 'done', which is no StopReason")


def test_every_kind_of_fault_is_listed_with_its_number(tmp_path: Path) -> None:
    names = ["next-prompt", "schema-session-prompt"]
    results = check_agent(names, tmp_path, "own-stop-reason", module="conformant", prompts=PROMPTS)
    [result] = [one for one in results if one.check.name == "schema-session-prompt"]
    lines = result.detail.splitlines()
    assert len(lines) == 2, result.detail
    assert all(line.endswith(" times)") for line in lines)
