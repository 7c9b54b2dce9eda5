"""The text that lists a conversation's policy and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.config.policies import POLICY_SUMMARIES

if TYPE_CHECKING:
    from acp_tui.controller import Conversation
    from acp_tui.permissions.rule_store import RuleStore


def permission_list(conversation: Conversation, rule_store: RuleStore) -> str:
    """Return the policy, the rules of the command line, and the remembered rules with their ids."""
    from acp_tui.permissions.rules import describe_rule

    policy = conversation.options.policy
    lines = [f"Policy: {policy}. {POLICY_SUMMARIES[policy]}."]
    if conversation.options.run_rules:
        lines += ["", "Rules of this run:"]
        lines += [f"  {describe_rule(rule)}" for rule in conversation.options.run_rules]
    remembered = rule_store.rules()
    lines += ["", "Remembered rules:" if remembered else "No rules are remembered."]
    lines += [f"  {describe_rule(rule)}  ({rule.id})" for rule in remembered]
    if remembered:
        lines += ["", "`acp-tui permissions revoke ID` removes a rule."]
    return "\n".join(lines)
