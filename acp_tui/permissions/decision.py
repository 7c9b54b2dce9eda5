"""Decides about a request: rules come first, then the policy, and the user is asked about the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acp_tui.config.policies import POLICIES, Policy
from acp_tui.permissions.rule_matching import applies, find_obstacle, matches, strongest
from acp_tui.permissions.rules import describe_rule
from acp_tui.session.invisible import reveal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.permissions.agent_identity import AgentIdentity
    from acp_tui.permissions.rules import Rule
    from acp_tui.permissions.subject import Subject
    from acp_tui.session.state import PermissionOption

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


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer; `why` names the rule or policy it comes from."""

    answer: Action
    by: Literal["rule", "policy"]
    why: str
    rule: Rule | None = None


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

    Remembered `rules` may allow under the policies ask, accept-edits and yolo; they may reject under every
    policy. `run_rules` (`--allow`, `--reject`) apply under every policy. If not `interactive`, "ask" becomes
    "reject".
    """
    decision = _decide(subject, policy, [*run_rules], [*rules], agent, project)
    if decision.answer == "ask" and not interactive:
        return Decision("reject", decision.by, f"{decision.why}, but there is nobody to ask", decision.rule)
    return decision


def _decide(
    subject: Subject,
    policy: Policy,
    run_rules: Sequence[Rule],
    remembered: Sequence[Rule],
    agent: AgentIdentity | None,
    project: str | None,
) -> Decision:
    if policy not in _REMEMBERING:
        remembered = [rule for rule in remembered if rule.decision == "reject"]
    in_force = [rule for rule in (*run_rules, *remembered) if applies(rule, agent=agent, project=project)]
    found = {rule: matches(rule, subject, project=project) for rule in in_force}
    deciding = strongest(rule for rule, match in found.items() if match == "yes")
    if deciding is not None and deciding.decision == "reject":
        return _by_rule(deciding)
    by_policy = _by_policy(subject, policy)
    unclear = strongest(rule for rule, match in found.items() if match == "perhaps")
    if unclear is not None and by_policy.answer != "reject":
        why = f'rule "{describe_rule(unclear)}" may or may not apply'
        return Decision("ask", "rule", why, unclear)
    if deciding is not None and unclear is None:
        return _by_rule(deciding)
    return by_policy if by_policy.answer != "ask" else _with_obstacle(by_policy, in_force, subject)


def _with_obstacle(by_policy: Decision, in_force: Sequence[Rule], subject: Subject) -> Decision:
    """If a rule matches the words of the command, say why it does not apply."""
    for rule in in_force:
        if why := find_obstacle(rule, subject):
            sentence = f'{by_policy.why}; rule "{describe_rule(rule)}" does not apply: {why}'
            return Decision("ask", "policy", reveal_line(sentence))
    return by_policy


def _by_rule(rule: Rule) -> Decision:
    why = f'{_PARTICIPLES[rule.decision]} by rule "{describe_rule(rule)}"'
    return Decision(rule.decision, "rule", why, rule)


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


# --------------------------------------------------------------------------- the agent's options


def choose_option(options: Sequence[PermissionOption], allow: bool) -> PermissionOption | None:
    """Return the only `allow_once` or `reject_once` option; None if there is none or more than one.

    An agent's own "always" is never chosen: it would store a rule in the agent without the user's knowledge.
    """
    wanted = "allow_once" if allow else "reject_once"
    found = [option for option in options if option.kind == wanted]
    return found[0] if len(found) == 1 else None
