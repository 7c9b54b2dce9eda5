"""Adds "always" options to a question that lacks them, and the rules that "always" can save."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Literal

from acp_tui.controller.requests.user_questions import RuleOffer
from acp_tui.permissions.rule_proposals import rule_ladders
from acp_tui.session.state import PermissionOption

if TYPE_CHECKING:
    from acp_tui.controller.requests.user_questions import Question
    from acp_tui.permissions.agent_identity import AgentIdentity
    from acp_tui.permissions.decision import Decision
    from acp_tui.permissions.rules import Rule

ANSWERS: tuple[Literal["allow", "reject"], ...] = ("allow", "reject")


def offer_rules(
    question: Question, decision: Decision, agent: AgentIdentity, project: str, folder: str
) -> None:
    """Add to a question the parts of its command, the rules that "always" can save, and "always" options.

    If the user chooses an added "always" option, the agent gets its own "once" option as the answer. So
    "Always allow" is added only if it is clear which option allows once, and the agent offers no
    `allow_always` option. The same applies to "Always reject".

    The rules are for `project`. Its files are in `folder`, which differs from `project` only in a worktree.
    """
    ladders: dict[str, list[tuple[Rule, ...]]] = {}
    offered = {option.kind for option in question.options}
    question.parts = decision.parts
    for word in ANSWERS:
        kind = f"{word}_always"
        found = rule_ladders(
            question.subject, decision, answer=word, scope="project", agent=agent, project=folder
        )
        if not found:
            continue
        ladders[kind] = [tuple(rule.evolve(project=project) for rule in ladder.rules) for ladder in found]
        if word == "reject":  # rejecting one part rejects the whole command
            ladders[kind] = [_merge(ladders[kind])]
        if kind not in offered and question.option_once(allow=word == "allow"):
            question.own_options.append(PermissionOption("", f"Always {word}", kind))
    question.offer = RuleOffer(agent, project, ladders)


def _merge(ladders: list[tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """Return the rules of all ladders (see `RuleOffer`) as one ladder, without duplicates."""
    rungs = chain(*zip_longest(*ladders))
    return tuple(dict.fromkeys(rule for rule in rungs if rule is not None))
