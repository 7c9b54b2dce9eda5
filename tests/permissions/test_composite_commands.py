"""Composite commands are judged part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acp_tui.permissions.decision import Decision, decide
from acp_tui.permissions.rule_spec import parse_spec
from tests.support.permissions import PROJECT, command

if TYPE_CHECKING:
    from acp_tui.config.policies import Policy
    from acp_tui.permissions.rules import Rule

RULES = [parse_spec(f"execute:{words}", "allow") for words in ("git status", "git diff", "head", "pytest")]


def judge(line: str, *more: str, policy: Policy = "ask", rules: list[Rule] = RULES) -> Decision:
    """Decide about a line under the rules and further specifications such as "edit:out.txt"."""
    added = [parse_spec(spec.removeprefix("!"), "reject" if spec[0] == "!" else "allow") for spec in more]
    return decide(command(line), policy=policy, rules=[*rules, *added], project=PROJECT)


def new_parts(decision: Decision) -> list[str]:
    return [verdict.part.part_text for verdict in decision.parts if verdict.answer != "allow"]


@pytest.mark.parametrize(
    ("line", "answer", "new"),
    [
        ("git status && git diff", "allow", []),
        ("cd src && git diff | head -50", "allow", []),
        ("pytest -q || echo failed", "ask", ["echo failed"]),
        ("git diff > out.txt", "ask", ["edit out.txt"]),
        ("git diff $(rm x)", "ask", ["git diff $(rm x)"]),
        ("git diff; bash x.sh", "ask", ["bash x.sh"]),
        ("FOO=1 git diff", "ask", ["FOO=1 git diff"]),
    ],
)
def test_a_composite_is_allowed_if_each_part_is(line: str, answer: str, new: list[str]) -> None:
    decision = judge(line)
    assert (decision.answer, new_parts(decision)) == (answer, new)


def test_all_rules_that_allow_a_composite_are_named() -> None:
    decision = judge("git diff | head -5")
    assert decision.why == (
        'allowed by rules "always allow commands that begin with `git diff` in this run" and'
        ' "always allow commands that begin with `head` in this run"'
    )
    assert [rule.command for rule in decision.rules] == [("git", "diff"), ("head",)]


def test_the_new_parts_are_named() -> None:
    assert judge("pytest || echo x").why == 'Policy "ask": commands need your OK; new: `echo x`'
    assert [verdict.why for verdict in judge("pytest || A=1 git diff || b").parts] == [
        'allowed by rule "always allow commands that begin with `pytest` in this run"',
        'new: rule "always allow commands that begin with `git diff` in this run" does not apply: it sets A',
        "new",
    ]


@pytest.mark.parametrize("policy", ["accept-edits", "yolo"])
def test_a_policy_that_allows_edits_allows_redirected_output(policy: Policy) -> None:
    assert judge("git diff > out.txt", policy=policy).answer == "allow"
    assert judge("git diff > /etc/out.txt", policy=policy).answer == "ask"
    assert judge("git diff > .env", policy=policy).answer == "ask"


def test_redirected_output_needs_an_edit_rule_for_the_file() -> None:
    assert judge("git diff > out.txt", "edit:out.txt").answer == "allow"
    assert judge("git diff > out.txt", "edit:other.txt").answer == "ask"
    assert judge("git diff > /tmp/out", "edit").answer == "ask"
    assert judge("git diff > /tmp/out", "edit:/tmp/**").answer == "allow"
    assert judge("cd src && git diff > a.txt", "edit:src/a.txt").answer == "allow"
    assert judge("cd src && git diff > a.txt", "edit:a.txt").answer == "ask"


@pytest.mark.parametrize(
    "line", ["git diff > src/a", "x $(y) > src/a", "if x; then y >> src/a; fi", "(cd src; x &> a)"]
)
def test_a_reject_rule_for_edits_matches_redirected_output(line: str) -> None:
    assert judge(line, "!edit:src/**", policy="yolo").answer == "reject"
    assert judge(line, "!edit", policy="yolo").answer == "reject"
    assert judge(line, "!edit:other", policy="yolo").answer == "allow"


def test_a_reject_rule_for_edits_may_match_a_computed_file() -> None:
    assert judge("x > $FILE", "!edit:src/**", policy="yolo").answer == "ask"
    assert judge("x > /etc/$FILE", policy="yolo").answer == "ask"
    assert judge("x > $FILE", policy="yolo").answer == "allow"
