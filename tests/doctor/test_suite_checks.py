"""The checks of sign-in, MCP, questions, steering, subagents, extensions and odd messages.

Each runs on an agent that follows the protocol, and on one that violates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.doctor.suite.check_table import CHECKS
from acp_tui.doctor.suite.client import HOPELESS_SECONDS, Patience
from tests.doctor import test_suite
from tests.fake_agents.concurrent_agent import FAULTS, SIGN_IN
from tests.support.cli import agent, run
from tests.support.suite import check_agent

if TYPE_CHECKING:
    from pathlib import Path

IMPATIENT_SECONDS = 2
"""How long to wait for the answers of an agent that leaves some out."""
NEEDS_SIGN_IN = ("authenticate", "logout")
WATCHED = {"own-extensions-underscore": "custom-request-answered", "schema-elicitation": "elicitation-mode"}
"""Checks that watch what another check sees."""


def test_every_check_has_a_fault() -> None:
    assert {check.name for check in CHECKS} - {*test_suite.NAMES} == {*FAULTS}


@pytest.mark.parametrize("name", FAULTS)
def test_check_fails_on_an_agent_with_the_fault(name: str, tmp_path: Path) -> None:
    sign_in = SIGN_IN if name in NEEDS_SIGN_IN else None

    names = [name, WATCHED.get(name, name)]
    results = check_agent(names, tmp_path, name, timeout=IMPATIENT_SECONDS, sign_in=sign_in)

    (result,) = (result for result in results if result.check.name == name)

    assert (result.status, bool(result.evidence)) == ("fail", True), result.detail


def test_evidence_contains_what_came_before_the_check(tmp_path: Path) -> None:
    results = check_agent(["initialize", "auth-method-ids"], tmp_path, "auth-method-ids")

    frames = [record.frame for record in results[-1].evidence]
    assert [frame.get("method") for frame in frames] == ["initialize", None]
    assert frames[1]["result"]["authMethods"]


def test_agent_without_a_fault_passes_the_checks(tmp_path: Path) -> None:
    results = check_agent([*FAULTS], tmp_path, sign_in=SIGN_IN)

    others = {result.check.name: result.detail for result in results if result.status != "pass"}
    assert others == {
        "auth-required-has-methods": "the agent opens sessions without a sign-in",
    }


def test_agent_that_sends_nothing_is_not_started_for_every_check(tmp_path: Path) -> None:
    command = agent("faulty", "never_answers")

    ended = run(
        "doctor",
        "--suite",
        "--command",
        command,
        "--timeout",
        "1",
        "--check",
        "robustness",
        "--json",
        ACP_TUI_HOME=str(tmp_path),
    )

    reasons = [check["detail"] for check in ended.result["checks"]]
    assert reasons[:2] == ["initialize was not answered within 1 s"] * 2
    assert {*reasons[2:]} == {"the agent has sent no message since its first start; see the handshake"}


def test_unanswered_method_is_waited_for_less_until_it_is_answered() -> None:
    patience = Patience(60)
    limits = []
    for answered in (False, False, True, False):
        patience.note("session/prompt", answered=answered)
        limits.append(patience.limit("session/prompt"))

    assert limits == [60, HOPELESS_SECONDS, 60, 60]
    assert patience.limit("session/new") == 60
