"""Decides about a request: first by rules, then by the policy, which can leave the decision to the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from acp_tui.config.validators import POLICIES, Policy
from acp_tui.permissions.rule_matching import applies, find_obstacle, is_sum_of_parts, matches, strongest
from acp_tui.permissions.rules import AgentIdentity, Rule, describe_rule
from acp_tui.session.safe_text import escape_controls, escape_invisible_line

if TYPE_CHECKING:
    from acp_tui.permissions.subject import McpCallKey, Subject, Target
    from acp_tui.session.state import ToolCall


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
_PARTICIPLES = {"allow": "allowed", "reject": "rejected"}
_PLURALS = {
    "served read": "reads",
    "reading": "reads and searches",
    "changing": "edits",
    "running": "commands",
    "anything": "requests of this kind",
}


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
    return PartVerdict(part, "ask", escape_invisible_line(f"new: {reason}") if reason else "new")


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
            return escape_invisible_line(f'rule "{describe_rule(rule)}" does not apply: {why}')
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
        return escape_invisible_line(", and ".join(subject.concerns))
    return None if subject.certain else f"it is unclear what it does: {subject.doubt}"


def covers(allowed: Subject, asked: Subject) -> bool:
    """Return True if the request `asked` is for exactly the `allowed` action, or for some of its files.

    Return False if the action of a request is unclear.
    """
    # The user may have allowed an MCP call when the agent asked, before the call reached the bridge.
    if asked.mcp_call is not None:
        return asked.always_ask is None and _is_same_call(allowed.mcp_call, asked.mcp_call)
    if not (allowed.certain and asked.certain and asked.served):
        return False
    if asked.kind == "execute":
        return allowed.kind == "execute" and _same_command(allowed, asked)
    if asked.kind == "read":
        return allowed.kind == "read" and bool(asked.paths) and set(asked.paths) <= set(allowed.paths)
    return asked.kind == "edit" and allowed.kind in {"edit", "move"} and _same_contents(allowed, asked)


def _is_same_call(allowed: McpCallKey | None, asked: McpCallKey) -> bool:
    """Return True if the tool and the arguments are the same, and the server, if the agent named it."""
    return allowed is not None and allowed[1:] == asked[1:] and allowed.server in ("", asked.server)


def _same_command(allowed: Subject, asked: Subject) -> bool:
    same = (asked.command, asked.argv) == (allowed.command, allowed.argv) or (
        asked.command_words is not None and asked.command_words == allowed.command_words
    )
    return same and asked.variables == allowed.variables and _same_folder(allowed.cwd, asked.cwd)


def _same_folder(one: Target | None, other: Target | None) -> bool:
    return one is not None and other is not None and (one.real, one.identity) == (other.real, other.identity)


def _same_contents(allowed: Subject, asked: Subject) -> bool:
    known = dict(allowed.contents)
    return bool(asked.contents) and all(
        path in allowed.paths and path in known and _same_text(known[path], text)
        for path, text in asked.contents
    )


def _same_text(shown: str, written: str) -> bool:
    """Return True if the text to be written is the text the user saw.

    CRLF counts as LF, and a missing final newline is ignored because some agents omit it.
    """
    plain = written.replace("\r\n", "\n")
    if escape_controls(plain) != plain:  # it contains characters that are displayed differently
        return False
    return plain == shown or plain.removesuffix("\n") == shown.removesuffix("\n")


@dataclass(slots=True)
class Grants:
    """The unused permissions of the current turn."""

    _open: list[tuple[Subject, ToolCall | None]] = field(default_factory=list)

    def add(self, subject: Subject, call: ToolCall | None) -> None:
        """Add a grant for an action that the user, a rule or the policy allowed.

        The grant expires when `call` is done.
        """
        self._open.append((subject, call))

    def use(self, asked: Subject) -> bool:
        """Return True if a grant covers this request. A grant covers the same request only once."""
        for number, (allowed, call) in enumerate(self._open):
            if (call is None or not call.done) and covers(allowed, asked):
                self._open[number : number + 1] = _left(allowed, asked, call)
                return True
        return False

    def clear(self) -> None:
        self._open.clear()


def _left(allowed: Subject, asked: Subject, call: ToolCall | None) -> list[tuple[Subject, ToolCall | None]]:
    """Return a list of what is left of a grant after the request `asked` has used the grant.

    The list contains one grant for the files that no request has used yet, or is empty.
    """
    targets = tuple(target for target in allowed.targets if target.real not in asked.paths)
    if asked.mcp_call is not None or asked.kind == "execute" or not targets:
        return []
    return [(allowed.evolve(targets=targets), call)]
