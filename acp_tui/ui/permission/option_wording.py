"""The words for each permission option: what it does, and how far it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.controller.requests.user_questions import choose_option
from acp_tui.permissions.rules import describe_match

if TYPE_CHECKING:
    from acp_tui.controller.requests.user_questions import Question
    from acp_tui.session.state import PermissionOption

MAX_NAMED_PARTS = 2
"""The maximum number of parts of a command that an option names. For more parts, it gives their number."""
_VERBS = {"allow_always": "Always allow", "reject_always": "Always reject"}
_AGENT_ALONE = {
    "allow_always": "the agent itself may stop asking",
    "reject_always": "the agent itself may stop asking and always refuse",
}


def option_wording(option: PermissionOption, question: Question) -> tuple[str, str]:
    """Return the option's words and a note, which may be empty. Both may contain text from the agent.

    If acp-tui saves a rule, the agent receives its "once" option. The agent's words for "always" would be
    wrong then, so the rule is shown instead. Without a rule the agent's words are shown, with a note that the
    agent decides what they mean.
    """
    verb, rule = _VERBS.get(option.kind), _rules_in_words(question, option.kind)
    if verb is None:
        return option.name, ""
    if question.kind != "permission":
        return (
            (f"{verb} {rule}", "")
            if rule
            else (option.name, "cannot be remembered; applies to this request only")
        )
    alone = _AGENT_ALONE[option.kind]
    if not rule:
        return option.name, alone
    if choose_option(question.options, allow=option.kind == "allow_always") is None:
        return option.name, f"{alone}; acp-tui remembers: {rule}"
    if option in question.own_options:
        return f"{verb} {rule}", "added by acp-tui"
    return f"{verb} {rule}", f'instead of the agent\'s "{option.name}"'


def _rules_in_words(question: Question, kind: str) -> str:
    """Return a phrase that says what the proposed rules match; empty if no rules are proposed."""
    ladders = question.ladders(kind)
    named = " and ".join(describe_match(ladder[0]) for ladder in ladders)
    if len(ladders) > MAX_NAMED_PARTS:
        named = f"the {len(ladders)} new parts"
    elif ladders and question.parts and kind == "reject_always":
        named = "one of the new parts"  # any of them; the editor shows which
    return f"{named}, in this project …" if named else ""
