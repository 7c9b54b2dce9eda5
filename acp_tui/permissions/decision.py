"""Who answers a question, and what: the rules first, then the policy, else a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acp_tui.config.policies import POLICIES, Policy
from acp_tui.permissions.rules import applies, describe_rule, matches, obstacle, strongest
from acp_tui.session.invisible import reveal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_tui.permissions.identity import AgentIdentity
    from acp_tui.permissions.request import Subject
    from acp_tui.permissions.rules import Rule
    from acp_tui.session.state import PermissionOption

Action = Literal["allow", "reject", "ask"]

# What each policy does, in the order of POLICIES: yes, no, or ask.
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
    """The answer, and one sentence that says where it comes from."""

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
    """Answer a question, or say that a person must.

    `rules` are the remembered ones; they allow under ask, accept-edits and yolo, and reject under every
    policy. `run_rules` (`--allow`, `--reject`) count under any. Where nobody can be asked, ask is no.
    """
    decision = _decide(subject, policy, [*run_rules], [*rules], agent, project)
    if decision.answer == "ask" and not interactive:
        return Decision("reject", decision.by, f"{decision.why}; nobody can be asked here", decision.rule)
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
        why = f"the rule “{describe_rule(unclear)}” may speak of it, which cannot be known"
        return Decision("ask", "rule", why, unclear)
    if deciding is not None and unclear is None:
        return _by_rule(deciding)
    return by_policy if by_policy.answer != "ask" else _with_obstacle(by_policy, in_force, subject)


def _with_obstacle(by_policy: Decision, in_force: Sequence[Rule], subject: Subject) -> Decision:
    """Say which rule would have answered, and what keeps it from that."""
    for rule in in_force:
        if why := obstacle(rule, subject):
            sentence = f"{by_policy.why}; the rule “{describe_rule(rule)}” does not cover it: {why}"
            return Decision("ask", "policy", reveal_line(sentence))
    return by_policy


def _by_rule(rule: Rule) -> Decision:
    return Decision(
        rule.decision, "rule", f"{_SAID[rule.decision]} by the rule “{describe_rule(rule)}”", rule
    )


def _by_policy(subject: Subject, policy: Policy) -> Decision:
    row = _row(subject)
    answer = _TABLE[row][POLICIES.index(policy)]
    return Decision(answer, "policy", f"the policy {policy} {_SAYS[answer]} {_about(subject, row)}")


_SAID = {"allow": "allowed", "reject": "rejected"}
_SAYS = {"allow": "allows", "reject": "does not allow", "ask": "asks about"}


def _row(subject: Subject) -> str:
    if subject.concerns:
        return "concerning"
    if subject.served and subject.kind == "read":
        return "served read"
    row = _ROWS.get(subject.kind, "anything")
    return "anything" if not subject.certain and row != "running" else row


def _about(subject: Subject, row: str) -> str:
    if row == "concerning":
        return reveal_line(f"this: {', and '.join(subject.concerns)}")
    if not subject.certain:
        return f"what is not certain: {subject.doubt}"
    return {
        "served read": "reading in the workspace",
        "reading": "reading, searching and thinking",
        "changing": "changes in the workspace",
        "running": "running commands",
        "anything": "requests of this kind",
    }[row]


# --------------------------------------------------------------------------- the agent's options


def choose_option(options: Sequence[PermissionOption], allow: bool) -> PermissionOption | None:
    """The one option that says yes, or no, for this once; None when there is none, or several.

    Never an "always" of the agent: nothing is written into its own memory behind the user's back.
    """
    wanted = "allow_once" if allow else "reject_once"
    found = [option for option in options if option.kind == wanted]
    return found[0] if len(found) == 1 else None
