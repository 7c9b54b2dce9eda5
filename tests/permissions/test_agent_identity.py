"""Agent identities in rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from acp_tui.config.agent_catalogue import Launch
from acp_tui.permissions.rule_matching import applies
from acp_tui.permissions.rule_store import RuleStore
from acp_tui.permissions.rules import (
    AgentIdentity,
    Rule,
    describe_rule,
    from_dict,
    identity_of,
    to_dict,
)
from tests.support.permissions import PROJECT, command, narrowest_rule

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE, KIMI = ("python3", "/x/launch.py", "claude-code"), ("python3", "/x/launch.py", "kimi-code")
REMOVED = Rule(decision="allow", kind="execute", command=("ls",), scope="everywhere", agent="launch.py")


def rule_for(agent: AgentIdentity) -> Rule:
    rule = narrowest_rule(command("ls"), decision="allow", agent=agent, project=PROJECT)
    assert rule is not None
    return rule


def launch(*words: str, ad_hoc: bool = True) -> Launch:
    return Launch("launch.py", "launch.py", list(words), ad_hoc=ad_hoc)


def store_with(*rules: Rule) -> RuleStore:
    for rule in rules:
        RuleStore().add(rule)
    store = RuleStore()
    store.catalogue = lambda: {"claude-code", "demo"}
    return store


def test_an_ad_hoc_agent_is_identified_by_its_whole_command() -> None:
    rule = rule_for(identity_of(launch(*CLAUDE)))
    assert applies(rule, agent=identity_of(launch(*CLAUDE)), project=None)
    assert not applies(rule, agent=identity_of(launch(*KIMI)), project=None)
    assert not applies(rule, agent=identity_of(launch("python3", "/x/launch.py claude-code")), project=None)


def test_an_ad_hoc_agent_with_another_name_is_another_agent() -> None:
    rule = rule_for(identity_of(launch(*CLAUDE), "Claude Code"))
    assert applies(rule, agent=identity_of(launch(*CLAUDE), "Claude Code"), project=None)
    assert not applies(rule, agent=identity_of(launch(*CLAUDE), "Kimi"), project=None)
    assert not applies(rule, agent=identity_of(launch(*CLAUDE)), project=None)


def test_a_reject_rule_cannot_be_avoided_by_another_name() -> None:
    rule = rule_for(identity_of(launch(*CLAUDE), "Claude Code")).evolve(decision="reject")
    assert applies(rule, agent=identity_of(launch(*CLAUDE), "Kimi"), project=None)
    assert not applies(rule, agent=identity_of(launch(*KIMI), "Claude Code"), project=None)


def test_a_known_agent_is_identified_by_its_id() -> None:
    catalogued = identity_of(Launch("claude-code", "Claude Code", ["npx", "x"]), "any name")
    rule = rule_for(catalogued)
    assert rule.agent == "claude-code"
    assert applies(rule, agent=identity_of(Launch("claude-code", "", ["/new/path"])), project=None)
    assert not applies(
        rule, agent=identity_of(Launch("claude-code", "", ["claude-code"], ad_hoc=True)), project=None
    )


def test_a_rule_masks_secrets_in_the_command() -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 6
    rules = [rule_for(identity_of(launch("agent", "--api-key", key))) for key in (secret, secret + "x")]
    assert secret not in json.dumps(to_dict(rules[0])) + describe_rule(rules[0])
    assert rules[0].agent != rules[1].agent
    assert describe_rule(rule_for(identity_of(launch(*CLAUDE), "Claude"))).endswith(
        ", for Claude (`python3 /x/launch.py claude-code`)"
    )


def test_a_rule_for_an_ad_hoc_agent_is_read_back() -> None:
    rule = rule_for(identity_of(launch(*CLAUDE), "Claude Code"))
    read_back = from_dict(json.loads(json.dumps(to_dict(rule))))
    assert read_back is not None
    assert read_back == rule
    assert describe_rule(read_back) == describe_rule(rule)


def test_an_allow_rule_for_an_unknown_agent_is_unused_and_reported(home: Path) -> None:
    store = store_with(REMOVED)
    [rule] = store.rules()
    assert rule.agent == "launch.py"
    assert store.is_unused(rule)
    assert not applies(rule, agent=identity_of(launch(*CLAUDE)), project=None)
    [notice] = store.notices
    assert 'for launch.py" is no longer used' in notice


@pytest.mark.parametrize("rule", [REMOVED.evolve(decision="reject"), REMOVED.evolve(agent="claude-code")])
def test_reject_rules_and_rules_for_known_agents_are_not_reported(home: Path, rule: Rule) -> None:
    store = store_with(rule)
    assert [store.is_unused(each) for each in store.rules()] == [False]
    assert store.notices == []
