"""The words for each permission option: what it does, and how far it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_tui.permissions.rules import describe_match

if TYPE_CHECKING:
    from acp_tui.controller.requests.user_questions import Question
    from acp_tui.session.state import PermissionOption

MAX_NAMED_PARTS = 2
"""If a command has more parts than this, an option gives their number instead of naming them."""
_VERBS = {"allow_always": "Always allow", "reject_always": "Always reject"}
_AGENT_ALONE = {
    "allow_always": "the agent decides what this covers, and may stop asking",
    "reject_always": "the agent decides what this covers, and may always refuse",
}


def option_wording(option: PermissionOption, question: Question) -> tuple[str, str]:
    """Return the option's words, and a note or "". The words and the note can contain text from the agent.

    For "always", acp-tui usually saves a rule and answers the agent with "once". The agent's words for
    "always" would then be wrong, so the rule is shown instead. Otherwise the agent's words are shown, and the
    note of an "always" option says what the option does.
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
    if question.option_once(allow=option.kind == "allow_always") is None:
        return option.name, f"{alone}; acp-tui remembers: {rule}"
    if option in question.own_options:
        return f"{verb} {rule}", "added by acp-tui"
    return f"{verb} {rule}", f'(replaces the agent\'s option "{option.name}")'


def _rules_in_words(question: Question, kind: str) -> str:
    """Return a phrase that says what the proposed rules match; empty if no rules are proposed."""
    ladders = question.ladders(kind)
    named = " and ".join(describe_match(ladder[0]) for ladder in ladders)
    if len(ladders) > MAX_NAMED_PARTS:
        named = f"the {len(ladders)} new parts"
    elif ladders and question.parts and kind == "reject_always":
        named = "one of the new parts"  # the user chooses the part in the editor
    return f"{named}, in this project …" if named else ""
