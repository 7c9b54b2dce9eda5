"""Decides about a request: first by rules, then by the policy, which can leave the decision to the user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from acp_tui.config.policies import POLICIES, Policy
from acp_tui.permissions.rule_matching import applies, find_obstacle, is_sum_of_parts, matches, strongest
from acp_tui.permissions.rules import describe_rule
from acp_tui.session.text.invisible import reveal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.permissions.agent_identity import AgentIdentity
    from acp_tui.permissions.rules import Rule
    from acp_tui.permissions.subject import Subject

Action = Literal["allow", "reject", "ask"]

# What each policy does with each kind of request, in the order of POLICIES.
_TABLE: dict[str, tuple[Action, ...]] = {
    "served read": ("allow", "allow", "allow", "allow", "allow"),
    "reading": ("reject", "allow", "ask", "allow", "allow"),
    "changing": ("reject", "reject", "ask", "allow", "allow"),
    "running": ("reject", "reject", "ask", "ask", "allow"),
    "anything": ("reject", "reject", "ask", "ask", "allow"),
    "concerning": ("reject", "reject", "ask", "ask", "ask"),
}
_ROWS = {
    "read": "reading",
    "search": "reading",
    "think": "reading",
    "edit": "changing",
    "delete": "changing",
    "move": "changing",
    "execute": "running",
}
_REMEMBERING = frozenset({"ask", "accept-edits", "yolo"})
MAX_NAMED = 4
"""The maximum number of parts of a command to name as not allowed yet when the user is asked."""
MAX_NAME = 60
"""Longer parts of a command are cut to this number of characters in the reason for asking the user."""


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """The answer to one part of a composite command."""

    part: Subject
    answer: Action  # "ask" if the part is new (nothing allows or rejects it) or a reject rule may apply
    why: str
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a request; `why` says which rules or which policy gave the answer."""

    answer: Action
    by: Literal["rule", "policy"]
    why: str
    rules: tuple[Rule, ...] = ()  # several if they allow the parts of a composite command
    parts: tuple[PartVerdict, ...] = ()  # of a composite command, whatever the answer

    @property
    def rule(self) -> Rule | None:
        """The first of `rules`; None if the policy decided."""
        return self.rules[0] if self.rules else None


def decide(
    subject: Subject,
    *,
    policy: Policy,
    rules: Iterable[Rule] = (),
    run_rules: Iterable[Rule] = (),
    agent: AgentIdentity | None = None,
    project: str | None = None,
    interactive: bool = True,
) -> Decision:
    """Allow or reject a request, or return "ask" if the user has to decide.

    Of the saved `rules`, those that reject apply under every policy; those that allow apply only under the
    policies ask, accept-edits and yolo. `run_rules` (`--allow`, `--reject`) apply under every policy. If
    `interactive` is false, requests are rejected instead of returning "ask".
    """
    remembered = [rule for rule in rules if policy in _REMEMBERING or rule.decision == "reject"]
    in_force = [rule for rule in (*run_rules, *remembered) if applies(rule, agent=agent, project=project)]
    parts = tuple(_judge_part(part, policy, in_force, project) for part in subject.parts)
    decision = replace(_decide(subject, parts, policy, in_force, project), parts=parts)
    if decision.answer == "ask" and not interactive:
        return replace(decision, answer="reject", why=f"{decision.why}, but there is nobody to ask")
    return decision


def _decide(
    subject: Subject,
    parts: Sequence[PartVerdict],
    policy: Policy,
    in_force: Sequence[Rule],
    project: str | None,
) -> Decision:
    found = {rule: matches(rule, subject, project=project) for rule in in_force}
    deciding = strongest(rule for rule, match in found.items() if match == "yes")
    if deciding is not None and deciding.decision == "reject":
        return _by_rules([deciding])
    by_policy = _by_policy(subject, policy)
    unclear = strongest(rule for rule, match in found.items() if match == "perhaps")
    if unclear is not None:
        if by_policy.answer == "reject":
            return by_policy
        return Decision("ask", "rule", f'rule "{describe_rule(unclear)}" may or may not apply', (unclear,))
    if deciding is not None:
        return _by_rules([deciding])
    by_rules = any(v.rule for v in parts) and all(v.answer == "allow" for v in parts)
    if by_rules and by_policy.answer != "allow" and is_sum_of_parts(subject):
        return _by_parts(parts, policy)
    return by_policy if by_policy.answer != "ask" else _with_obstacle(by_policy, parts, in_force, subject)


def _judge_part(part: Subject, policy: Policy, in_force: Sequence[Rule], project: str | None) -> PartVerdict:
    """Decide about one part of a composite command as if it were a separate request."""
    decision = _decide(part, (), policy, in_force, project)
    if decision.answer != "ask" or decision.by == "rule":
        return PartVerdict(part, decision.answer, decision.why, decision.rule)
    reason = part.not_plain or _reason(part) or _obstacle(in_force, part)
    return PartVerdict(part, "ask", reveal_line(f"new: {reason}") if reason else "new")


def _by_parts(parts: Sequence[PartVerdict], policy: Policy) -> Decision:
    """Return the decision that allows a composite command because all its parts are allowed."""
    rules = tuple(dict.fromkeys(verdict.rule for verdict in parts if verdict.rule is not None))
    decision = _by_rules(rules)
    if all(verdict.rule is not None for verdict in parts):
        return decision
    return replace(decision, why=f'{decision.why} and policy "{policy}"')


def _with_obstacle(
    by_policy: Decision, parts: Sequence[PartVerdict], in_force: Sequence[Rule], subject: Subject
) -> Decision:
    """Add to the policy's decision why no rule allows the request, if the reason is known.

    The reason lists the parts that are not allowed yet, or says why a rule does not apply.
    """
    new = [verdict.part for verdict in parts if verdict.answer != "allow"]
    if subject.not_plain is None and 0 < len(new) < len(parts):
        return replace(by_policy, why=f"{by_policy.why}; new: {_in_short(new)}")
    obstacle = _obstacle(in_force, subject)
    return by_policy if obstacle is None else replace(by_policy, why=f"{by_policy.why}; {obstacle}")


def _in_short(parts: Sequence[Subject]) -> str:
    """List the first parts for display. Long parts are shortened, and further parts are only counted."""
    named: list[str] = []
    for part in parts[:MAX_NAMED]:
        text = part.part_text if len(part.part_text) <= MAX_NAME else part.part_text[:MAX_NAME] + "…"
        named.append(f"`{text}`" if part.kind == "execute" else text)
    return ", ".join(named) + (f" and {len(parts) - MAX_NAMED} more" if len(parts) > MAX_NAMED else "")


def _obstacle(in_force: Sequence[Rule], subject: Subject) -> str | None:
    """Return why an allow rule does not match although the command begins with the words of the rule.

    Only set variables and risky arguments count as reasons. Return None if there is no such rule.
    """
    for rule in in_force:
        if why := find_obstacle(rule, subject):
            return reveal_line(f'rule "{describe_rule(rule)}" does not apply: {why}')
    return None


def _by_rules(rules: Sequence[Rule]) -> Decision:
    """Return the decision that all these rules have in common."""
    names = [f'"{describe_rule(rule)}"' for rule in rules]
    last = names.pop()
    named = f"rules {', '.join(names)} and {last}" if names else f"rule {last}"
    return Decision(rules[0].decision, "rule", f"{_PARTICIPLES[rules[0].decision]} by {named}", tuple(rules))


def _by_policy(subject: Subject, policy: Policy) -> Decision:
    row = _row(subject)
    action = _TABLE[row][POLICIES.index(policy)]
    reason = _reason(subject)
    if action != "ask":
        because = f" because {reason}" if reason and action == "reject" else ""
        return Decision(action, "policy", f'{_PARTICIPLES[action]} by policy "{policy}"{because}')
    if reason:
        return Decision(action, "policy", f'Policy "{policy}": this needs your OK because {reason}')
    return Decision(action, "policy", f'Policy "{policy}": {_PLURALS[row]} need your OK')


_PARTICIPLES = {"allow": "allowed", "reject": "rejected"}
_PLURALS = {
    "served read": "reads",
    "reading": "reads and searches",
    "changing": "edits",
    "running": "commands",
    "anything": "requests of this kind",
}


def _row(subject: Subject) -> str:
    if subject.concerns:
        return "concerning"
    if subject.served and subject.kind == "read":
        return "served read"
    row = _ROWS.get(subject.kind, "anything")
    return "anything" if not subject.certain and row != "running" else row


def _reason(subject: Subject) -> str | None:
    """Return why this request needs more care than others of its kind, as a clause."""
    if subject.concerns:
        return reveal_line(", and ".join(subject.concerns))
    return None if subject.certain else f"it is unclear what it does: {subject.doubt}"
